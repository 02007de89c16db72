package mailroom

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"example.com/emailplatform/client"
)

const (
	storeTimeout = 5 * time.Second  // for one transaction after a request
	leaseMargin  = 3 * storeTimeout // for the transactions before and after a request
)

// Send sends an email immediately, without a key, so the caller must handle
// [client.ErrOutcomeUnknown]. In four cases, Send returns an error without sending the
// email:
//
//   - [ErrNotConnected]: ctx ended before the Room connected. Send waits until the Room
//     has connected, which requires [Room.Start].
//   - [ErrSuppressed]: the suppression list contains the address.
//   - [ErrClosed]: Close was called.
//   - an error of the store: Send could not read the suppression list.
//
// Other errors come from [client.Emails.Send]. The request takes at most
// [Options].SendTimeout, and Close waits for Send.
func (r *Room) Send(ctx context.Context, email client.EmailSubmission) (sent client.SubmittedEmail, err error) {
	if err := r.beginCall(); err != nil {
		return sent, err
	}
	defer r.running.Done()
	if err := r.waitConnected(ctx); err != nil {
		return sent, err
	}
	if reason, err := r.Suppression(ctx, email.To); err != nil {
		return sent, err
	} else if reason != "" {
		return sent, fmt.Errorf("%w: %s", ErrSuppressed, reason)
	}
	return r.submit(ctx, r.opts.SendTimeout, email)
}

// send sends the email with the key, or any email if key is "".
func (r *Room) send(ctx context.Context, key string) (wait time.Duration, err error) {
	var m mailValue
	wait, err = withDueItem(ctx, r, kindSend, key, func(s *storeTx, it Item, v mailValue) time.Duration {
		key, m = it.Key, v
		m.State = stateQueued // only claim decides that this worker sends the email
		return s.claim(it, &m)
	})
	if err != nil || wait != 0 || m.State != stateSending {
		return wait, err
	}
	ctx = context.WithoutCancel(ctx) // a shutdown does not interrupt the request
	// The request ends within the lease, even if the commit of the claim was slow.
	limit := r.opts.SendTimeout + min(0, storeTimeout-time.Since(m.Started))
	email, sendErr := r.submit(ctx, limit, *m.Submission)
	return 0, r.storeResultWithRetries(ctx, key, m, email, sendErr)
}

// claim records that this process is about to send an email. Afterwards, the state of the
// email is sending, unless the address is suppressed or the worker must wait.
//
// claim locks the key before the pause, because a transaction of the application can hold the
// lock of the key for long. If claim already held the lock of the pause, other workers would
// wait for this transaction too.
func (s *storeTx) claim(it Item, m *mailValue) (wait time.Duration) {
	start, key := time.Now(), it.Key
	state, found := s.get(kindMail, key)
	current, err := decode[mailValue](state)
	if !found || m.Submission == nil {
		err = fmt.Errorf("mailroom: the stored item with the key %q lacks its state or its email", key)
	}
	switch {
	case s.err != nil:
		return 0
	case err != nil:
		s.postponeInvalid(it, err)
		return 0
	case current.State != stateQueued:
		s.delete(kindSend, key)
		return 0
	}
	if reason := s.suppression(m.Submission.To); reason != "" {
		m.State, m.Detail = stateRejected, "the address is suppressed: "+string(reason)
		s.putOutcome(key, *m)
	} else if wait = s.sendDelay(start); wait > 0 {
		return wait
	} else {
		m.State, m.Attempt, m.Started, m.FirstStarted = stateSending, rand.Text(), start, cmp.Or(m.FirstStarted, start)
		s.putMail(key, start.Add(s.room.lease()), *m)
	}
	s.delete(kindSend, key)
	return 0
}

// lease is the maximum time between the start of a request and the record of its outcome. After
// this time, another process records the outcome as unknown.
func (r *Room) lease() time.Duration { return r.opts.SendTimeout + leaseMargin }

// submit sends an email to the platform.
func (r *Room) submit(ctx context.Context, limit time.Duration, email client.EmailSubmission) (client.SubmittedEmail, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	email.ListID = cmp.Or(email.ListID, r.listID)
	return r.c.Emails.Send(ctx, email)
}
