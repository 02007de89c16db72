package mailroom

import (
	"cmp"
	"context"
	"errors"
	"time"

	"example.com/emailplatform/client"
)

// storeResultWithRetries calls storeResult until it succeeds. After Close, it gives up after three
// attempts. The outcome then becomes unknown when the lease of the request ends.
func (r *Room) storeResultWithRetries(ctx context.Context, key string, m mailValue, email client.SubmittedEmail, sendErr error) error {
	for n := 1; ; n++ {
		err := r.storeResult(ctx, key, m, email, sendErr)
		if err == nil {
			return nil
		}
		r.opts.Logger.ErrorContext(ctx, "mailroom: email outcome not recorded",
			"key", key, "email_id", email.ID, "outcome", client.ResultOfSend(sendErr), "error", err)
		select {
		case <-r.closing.Done():
			if n >= 3 {
				return err
			}
			time.Sleep(time.Second)
		case <-time.After(exponential(time.Second, n, time.Minute)):
		}
	}
}

// storeResult stores the result of a request, unless the outcome is already known.
func (r *Room) storeResult(ctx context.Context, key string, m mailValue, email client.SubmittedEmail, sendErr error) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return r.update(ctx, func(s *storeTx) {
		it, _ := s.get(kindMail, key)
		current := valueOf[mailValue](s, it)
		if current.Attempt != m.Attempt || current.State != stateSending && current.State != stateUnknown {
			return // resolved in the meantime
		}
		s.updatePause(m.Started, sendErr)
		m.State, m.EmailID = stateFromResult(sendErr), email.ID
		if sendErr != nil {
			m.Detail = sendErr.Error()
		}
		switch {
		case m.State == stateUnknown && current.State == stateUnknown: // the lease ended first
		case m.State == stateQueued && time.Since(m.FirstStarted) < r.opts.RetryFor:
			postponed := mailValue{Submission: m.Submission, FirstStarted: m.FirstStarted, Postponed: m.Postponed + 1}
			s.requeue(key, time.Now().Add(r.backoff(postponed.Postponed)), m.EmailID, postponed)
		case m.State == stateQueued:
			m.State = stateFailed
			fallthrough
		default:
			s.putOutcome(key, m)
		}
	})
}

// stateFromResult returns the state of an email after a request.
func stateFromResult(sendErr error) keyState {
	switch client.ResultOfSend(sendErr) {
	case client.SendAccepted:
		return stateSent
	case client.SendUnknown:
		return stateUnknown
	case client.SendRejected:
		if errors.Is(sendErr, client.ErrRejected) {
			return stateRejected
		}
		return stateFailed
	case client.SendLater:
	}
	return stateQueued
}

// putOutcome stores an outcome, and the notice about it. If OnNotice has not handled the
// notice of an earlier outcome yet, the new notice replaces it.
func (s *storeTx) putOutcome(key string, m mailValue) {
	var due time.Time
	m.Submission = cmp.Or(m.Submission, &client.EmailSubmission{}) // an item of another release can lack it
	n := Notice{
		Reason: Reason(m.State), Address: normalizeAddress(m.Submission.To), Key: key, EmailID: m.EmailID, Detail: m.Detail, Time: time.Now(),
	}
	if m.State == stateUnknown {
		s.room.opts.Logger.WarnContext(s.ctx, "mailroom: email outcome unknown", "key", key, "error", m.Detail)
		u := Unresolved{key, m.Submission.To, m.Started, m.Detail}
		s.put(Item{Kind: kindUnknown, Key: key, Ref: unknownRef, Due: m.Started, Value: encode(u)})
	} else {
		s.delete(kindUnknown, key)
		m.Submission = nil
		if s.room.opts.KeepSent > 0 {
			due = time.Now().Add(s.room.opts.KeepSent)
		}
	}
	s.putMail(key, due, m)
	s.putNotice(outcomeKey(key), n)
}

// expire handles a key whose time has come: a process ended while it sent the email, or
// the outcome has been known for KeepSent.
func (r *Room) expire(ctx context.Context, _ string) (wait time.Duration, err error) {
	return withDueItem(ctx, r, kindMail, "", func(s *storeTx, it Item, m mailValue) time.Duration {
		if m.State == stateSending {
			m.State, m.Detail = stateUnknown, "the process ended while it sent the email"
			s.putOutcome(it.Key, m)
		} else {
			s.delete(kindMail, it.Key)
		}
		return 0
	})
}
