package mailroom

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/emailplatform/client"
)

// The states of a key in the outbox, in addition to the outcomes.
const (
	queued  Reason = "queued"  // the email is in an item of the kind "send"
	sending Reason = "sending" // a worker has sent the request, or is about to send it
)

// mail is the value of an item of the kind "mail" or "send".
type mail struct {
	State      Reason                  `json:"state"`
	Submission *client.EmailSubmission `json:"submission,omitempty"` // until the outcome is known
	Attempt    string                  `json:"attempt,omitempty"`    // identifies the request
	Started    time.Time               `json:"started,omitzero"`     // start of the request
	First      time.Time               `json:"first,omitzero"`       // start of the first request
	Later      int                     `json:"later,omitempty"`      // how often the email was postponed
	EmailID    string                  `json:"email_id,omitempty"`
	Detail     string                  `json:"detail,omitempty"`
}

const (
	maxKey    = 250
	dbTimeout = 5 * time.Second
	margin    = 3 * dbTimeout // time for the writes before and after a request
)

// lease is the time after which a request that no process has concluded is unknown.
func (r *Room) lease() time.Duration { return r.opts.SendTimeout + margin }

// storable returns a text that a [Store] can keep as a key or a Ref.
func storable(text string) string {
	if len(text) > maxKey || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "sha256:" + hash(text)
	}
	return text
}

func refOfAddress(address string) string { return "to:" + storable(normal(address)) }

func refOfEmail(id string) string { return "id:" + storable(id) }

// putMail stores the state of a key. Until the outcome is known, the Ref identifies the
// recipient's address. After that, it identifies the email.
func (s *state) putMail(key string, due time.Time, m mail) {
	it := Item{Kind: kindMail, Key: key, Due: due, Value: encode(m)}
	if m.Submission != nil {
		it.Ref = refOfAddress(m.Submission.To)
	} else if m.EmailID != "" {
		it.Ref = refOfEmail(m.EmailID)
	}
	s.put(it)
}

// Enqueue adds an email to the outbox. If ctx carries a transaction of the store, the
// email is sent only if the transaction is committed. All text of the email must be UTF-8.
//
// The key identifies the email, for example "order-17". It must be 1 to 250 bytes of UTF-8
// without NUL. If the key is already in the outbox, Enqueue does nothing. However, if the
// outcome of the key is [Rejected] or [Failed], Enqueue adds the email again.
//
// Make the key a part of the subject. The Room resolves an unknown outcome by comparing
// the address and the subject with events and lookups. Without the key, it could not
// distinguish several emails to one address.
func (r *Room) Enqueue(ctx context.Context, key string, email client.EmailSubmission) error {
	return r.EnqueueAt(ctx, time.Now(), key, email)
}

// EnqueueAt is like [Room.Enqueue], and the Room sends the email at the given time. The
// zero time means immediately.
func (r *Room) EnqueueAt(ctx context.Context, at time.Time, key string, email client.EmailSubmission) error {
	if key == "" || storable(key) != key {
		return fmt.Errorf("mailroom: key must be 1 to %d bytes of UTF-8 without NUL, got %.300q", maxKey, key)
	}
	if !utf8.ValidString(fmt.Sprint(email)) { // package encoding/json would replace its bytes
		return fmt.Errorf("mailroom: all text of the email with the key %q must be UTF-8", key)
	}
	if at.IsZero() { // such an item has no time
		at = time.Now()
	}
	return r.update(ctx, func(s *state) {
		it, inserted := s.getOrInsert(Item{Kind: kindMail, Key: key, Value: encode(mail{State: queued})})
		old := read[mail](s, it)
		if inserted {
			s.putEmail(key, at, mail{Submission: &email})
		} else if old.State == Rejected || old.State == Failed {
			s.enqueueAgain(key, at, old.EmailID, mail{Submission: &email})
		}
	})
}

// putEmail adds an email. A key that is not queued has no email, except in the old form.
func (s *state) putEmail(key string, at time.Time, m mail) {
	_, inserted := s.getOrInsert(Item{Kind: kindSend, Key: key, Due: at, Value: encode(m)})
	if s.err == nil && !inserted {
		s.err = fmt.Errorf("%w: key %q", errOldForm, key)
	}
}

// enqueueAgain adds an email whose request failed. The request may have created an email
// with the id replaced and the status "error" on the platform. An event about this email
// must not count as an outcome.
func (s *state) enqueueAgain(key string, at time.Time, replaced string, m mail) {
	if replaced != "" {
		s.put(Item{Kind: kindEvent, Key: replacedKey(replaced), Due: time.Now().Add(keepEvents)})
	}
	s.delete(kindUnknown, key)
	s.putMail(key, time.Time{}, mail{State: queued})
	s.putEmail(key, at, m)
}

// replacedKey returns the key of the item that marks an email as replaced.
func replacedKey(emailID string) string { return hash("replaced " + emailID) }

// Send sends an email immediately, without a key, so the caller must handle
// [client.ErrOutcomeUnknown]. Send sends nothing and returns one of these errors:
//
//   - [ErrNotConnected], if the Room was not started, or does not connect before ctx
//     ends. Send waits until the Room has connected.
//   - [ErrSuppressed], if the suppression list contains the address.
//   - [ErrClosed] after Close.
//
// Other errors come from [client.Emails.Send]. Send takes at most [Options].SendTimeout,
// and Close waits for it.
func (r *Room) Send(ctx context.Context, email client.EmailSubmission) (sent client.SubmittedEmail, err error) {
	if err := r.enter(); err != nil {
		return sent, err
	}
	defer r.running.Done()
	if err := r.await(ctx); err != nil {
		return sent, err
	}
	if reason, err := r.Suppression(ctx, email.To); err != nil {
		return sent, err
	} else if reason != "" {
		return sent, fmt.Errorf("%w: %s", ErrSuppressed, reason)
	}
	return r.request(ctx, r.opts.SendTimeout, email)
}

// request sends an email to the platform.
func (r *Room) request(ctx context.Context, limit time.Duration, email client.EmailSubmission) (client.SubmittedEmail, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	email.ListID = cmp.Or(email.ListID, r.listID)
	return r.c.Emails.Send(ctx, email)
}

// send sends the email with the key, or any email if key is "".
func (r *Room) send(ctx context.Context, key string) (wait time.Duration, err error) {
	var m mail
	wait, err = take(ctx, r, kindSend, key, func(s *state, it Item, v mail) time.Duration {
		key, m = it.Key, v
		return s.claim(it, &m)
	})
	if err != nil || wait != 0 || m.State != sending {
		return wait, err
	}
	ctx = context.WithoutCancel(ctx) // a shutdown does not interrupt the request
	// The request ends within the lease, even if the commit of the claim was slow.
	limit := r.opts.SendTimeout + min(0, dbTimeout-time.Since(m.Started))
	email, sent := r.request(ctx, limit, *m.Submission)
	return 0, r.record(ctx, key, m, email, sent)
}

// claim records that this process is about to send an email. Afterwards, the state of the
// email is sending, unless the address is suppressed or the worker must wait. It locks the
// key before the pause, because a transaction of the application can lock the key for long.
func (s *state) claim(it Item, m *mail) (wait time.Duration) {
	start, key := time.Now(), it.Key
	state, found := s.get(kindMail, key)
	now, err := decode[mail](state)
	if !found {
		err = fmt.Errorf("%w: key %q", errOldForm, key)
	}
	switch {
	case s.err != nil:
		return 0
	case err != nil:
		s.setAside(it, err)
		return 0
	case now.State != queued:
		s.delete(kindSend, key)
		return 0
	}
	if reason := s.suppression(m.Submission.To); reason != "" {
		m.State, m.Detail = Rejected, "the address is suppressed: "+string(reason)
		s.settle(key, *m)
	} else if wait = s.mustWait(start); wait > 0 {
		return wait
	} else {
		m.State, m.Attempt, m.Started, m.First = sending, rand.Text(), start, cmp.Or(m.First, start)
		s.putMail(key, start.Add(s.lease()), *m)
	}
	s.delete(kindSend, key)
	return 0
}

// record calls conclude until it succeeds. After Close, record gives up after three
// attempts. The outcome then becomes unknown when the lease of the request ends.
func (r *Room) record(ctx context.Context, key string, m mail, email client.SubmittedEmail, sent error) error {
	for n := 1; ; n++ {
		err := r.conclude(ctx, key, m, email, sent)
		if err == nil {
			return nil
		}
		r.opts.Logger.ErrorContext(ctx, "mailroom: email outcome not recorded",
			"key", key, "email_id", email.ID, "outcome", client.ResultOfSend(sent), "error", err)
		select {
		case <-r.closing.Done():
			if n >= 3 {
				return err
			}
			time.Sleep(time.Second)
		case <-time.After(doubled(time.Second, n, time.Minute)):
		}
	}
}

// conclude records the outcome of a request.
func (r *Room) conclude(ctx context.Context, key string, m mail, email client.SubmittedEmail, sent error) error {
	ctx, cancel := context.WithTimeout(ctx, dbTimeout)
	defer cancel()
	return r.update(ctx, func(s *state) {
		it, _ := s.get(kindMail, key)
		now := read[mail](s, it)
		if now.Attempt != m.Attempt || now.State != sending && now.State != Unknown {
			return // resolved in the meantime
		}
		s.countResult(m.Started, sent)
		m.State, m.EmailID = stateAfter(sent), email.ID
		if sent != nil {
			m.Detail = sent.Error()
		}
		switch {
		case m.State == Unknown && now.State == Unknown: // the lease ended first
		case m.State == queued && time.Since(m.First) < r.opts.RetryFor:
			later := mail{Submission: m.Submission, First: m.First, Later: m.Later + 1}
			s.enqueueAgain(key, time.Now().Add(r.backoff(later.Later)), m.EmailID, later)
		case m.State == queued:
			m.State = Failed
			fallthrough
		default:
			s.settle(key, m)
		}
	})
}

// stateAfter returns the state of an email after a request.
func stateAfter(sent error) Reason {
	switch client.ResultOfSend(sent) {
	case client.SendAccepted:
		return Sent
	case client.SendUnknown:
		return Unknown
	case client.SendRejected:
		if errors.Is(sent, client.ErrRejected) {
			return Rejected
		}
		return Failed
	case client.SendLater:
	}
	return queued
}

// settle records an outcome, and the notice about it. If OnNotice has not handled the
// notice of an earlier outcome yet, the new notice replaces it.
func (s *state) settle(key string, m mail) {
	var due time.Time
	n := Notice{
		Reason: m.State, Address: normal(m.Submission.To), Key: key, EmailID: m.EmailID, Detail: m.Detail, Time: time.Now(),
	}
	if m.State == Unknown {
		s.opts.Logger.WarnContext(s.ctx, "mailroom: email outcome unknown", "key", key, "error", m.Detail)
		u := Unresolved{key, m.Submission.To, m.Started, m.Detail}
		s.put(Item{Kind: kindUnknown, Key: key, Ref: unknownRef, Due: m.Started, Value: encode(u)})
	} else {
		s.delete(kindUnknown, key)
		m.Submission = nil
		if s.opts.KeepSent > 0 {
			due = time.Now().Add(s.opts.KeepSent)
		}
	}
	s.putMail(key, due, m)
	s.notify(outcomeKey(key), n)
}

// expire handles a key whose time has come: a process ended while it sent the email, or
// the outcome has been known for KeepSent.
func (r *Room) expire(ctx context.Context, _ string) (wait time.Duration, err error) {
	return take(ctx, r, kindMail, "", func(s *state, it Item, m mail) time.Duration {
		if m.State == sending {
			m.State, m.Detail = Unknown, "the process ended while it sent the email"
			s.settle(it.Key, m)
		} else {
			s.delete(kindMail, it.Key)
		}
		return 0
	})
}
