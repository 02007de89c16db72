package mailroom

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/emailplatform/client"
)

// The states of an email in the outbox, in addition to the outcomes.
const (
	queued  Reason = "queued"
	sending Reason = "sending" // a worker has sent the request, or is about to send it
)

// mail is the value of an item of the kind "send". Until the outcome is known, the Ref
// of the item identifies the recipient's address. After that, it identifies the email.
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

func putMail(ctx context.Context, tx Tx, key, ref string, due time.Time, m mail) error {
	return tx.Put(ctx, Item{Kind: kindSend, Key: key, Ref: ref, Due: due, Value: encode(m)})
}

// Enqueue adds an email to the outbox. If ctx carries a transaction of the store, the
// email is sent only if the transaction is committed. All text of the email must be UTF-8.
//
// The key identifies the email, for example "order-17". It must be 1 to 250 bytes of UTF-8
// without NUL. The Room sends the email of a key at most once, so if the key is already in
// the outbox, Enqueue does nothing. However, if the outcome of the key is [Rejected] or
// [Failed], Enqueue adds the email again.
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
	return r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		r.store.AfterCommit(ctx, r.sends.wake)
		it := Item{Kind: kindSend, Key: key, Due: at, Value: encode(mail{State: queued, Submission: &email})}
		old, err := getOrInsert(ctx, tx, it)
		if err != nil {
			return err
		}
		m, err := decode[mail](old)
		if err != nil || m.State != Rejected && m.State != Failed {
			return err
		}
		return errors.Join(replace(ctx, tx, m.EmailID), tx.Delete(ctx, kindTimer, key), tx.Put(ctx, it))
	})
}

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
func (r *Room) Send(ctx context.Context, email client.EmailSubmission) (client.SubmittedEmail, error) {
	if err := r.enter(); err != nil {
		return client.SubmittedEmail{}, err
	}
	defer r.running.Done()
	if err := r.await(ctx); err != nil {
		return client.SubmittedEmail{}, err
	}
	reason, err := r.Suppression(ctx, email.To)
	if err != nil {
		return client.SubmittedEmail{}, err
	}
	if reason != "" {
		return client.SubmittedEmail{}, fmt.Errorf("%w: %s", ErrSuppressed, reason)
	}
	ctx, cancel := context.WithTimeout(ctx, r.opts.SendTimeout)
	defer cancel()
	return r.c.Emails.Send(ctx, r.onList(email))
}

func (r *Room) onList(email client.EmailSubmission) client.EmailSubmission {
	if email.ListID == 0 {
		email.ListID = r.listID.Load()
	}
	return email
}

// send sends the email with the key, or any email if key is "".
func (r *Room) send(ctx context.Context, key string) (wait time.Duration, err error) {
	var claimed bool
	var m mail
	err = r.store.Update(ctx, func(ctx context.Context, tx Tx) (err error) {
		key, m, claimed, wait, err = r.claim(ctx, tx, key)
		return err
	})
	if err != nil || !claimed {
		return wait, err
	}
	ctx = context.WithoutCancel(ctx) // a shutdown does not interrupt the request
	// The request ends within the lease, even if the commit of the claim was slow.
	sendCtx, cancel := context.WithTimeout(ctx, r.opts.SendTimeout+min(0, dbTimeout-time.Since(m.Started)))
	defer cancel()
	email, sent := r.c.Emails.Send(sendCtx, r.onList(*m.Submission))
	return 0, r.record(ctx, key, m, email, sent)
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
		case <-r.closing:
			if n >= 3 {
				return err
			}
			time.Sleep(time.Second)
		case <-time.After(doubled(time.Second, n, time.Minute)):
		}
	}
}

// claim records that this process is about to send an email. If claimed is false, the
// email must not be sent now.
func (r *Room) claim(ctx context.Context, tx Tx, which string) (key string, m mail, claimed bool, wait time.Duration, err error) {
	it, wait, err := take(ctx, tx, kindSend, which)
	if err != nil || wait != 0 {
		return "", m, false, wait, err
	}
	key = it.Key
	if m, err = decode[mail](it); err != nil {
		return "", m, false, 0, r.setAside(ctx, tx, it, err)
	}
	if reason, err := suppression(ctx, tx, m.Submission.To); err != nil || reason != "" {
		m.State, m.Detail = Rejected, "the address is suppressed: "+string(reason)
		return "", m, false, 0, errors.Join(err, r.settle(ctx, tx, key, m))
	}
	now := time.Now()
	if wait, err = r.mustWait(ctx, tx, now); err != nil || wait > 0 {
		return "", m, false, wait, err
	}
	m.State, m.Attempt, m.Started = sending, rand.Text(), now
	if m.First.IsZero() {
		m.First = now
	}
	return key, m, true, 0, errors.Join(
		tx.Put(ctx, Item{Kind: kindTimer, Key: key, Due: now.Add(r.lease())}),
		putMail(ctx, tx, key, refOfAddress(m.Submission.To), time.Time{}, m))
}

// expire handles an email whose timer has run out. Either a process ended while it sent
// the email, or the outcome has been known for KeepSent. A timer is an item of its own:
// as a time of the email's item, it would wait until all emails that were queued
// earlier have been sent.
func (r *Room) expire(ctx context.Context, _ string) (wait time.Duration, err error) {
	var due Item
	err = r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		due, wait, err = take(ctx, tx, kindTimer, "")
		return err
	})
	if err != nil || wait != 0 {
		return wait, err
	}
	return 0, r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		it, _, err := tx.Get(ctx, kindSend, due.Key) // before the timer, as all transactions lock them
		if err != nil {
			return err
		}
		timer, _, err := tx.Get(ctx, kindTimer, due.Key)
		if err != nil || !timer.Due.Equal(due.Due) { // concluded in the meantime
			return err
		}
		m, err := decode[mail](it)
		if err != nil {
			return r.setAside(ctx, tx, timer, err)
		}
		if m.State == sending {
			m.State, m.Detail = Unknown, "the process ended while it sent the email"
			return r.settle(ctx, tx, due.Key, m)
		}
		return errors.Join(tx.Delete(ctx, kindTimer, due.Key), tx.Delete(ctx, kindSend, due.Key))
	})
}

// conclude records the outcome of a request.
func (r *Room) conclude(ctx context.Context, key string, m mail, email client.SubmittedEmail, sent error) error {
	ctx, cancel := context.WithTimeout(ctx, dbTimeout)
	defer cancel()
	return r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		it, found, err := tx.Get(ctx, kindSend, key)
		if err != nil || !found {
			return err
		}
		now, err := decode[mail](it)
		if err != nil || now.Attempt != m.Attempt || now.State != sending && now.State != Unknown {
			return err // resolved in the meantime
		}
		if err := r.countResult(ctx, tx, m.Started, sent); err != nil {
			return err
		}
		m.EmailID = email.ID
		if sent != nil {
			m.Detail = sent.Error()
		}
		m.State = stateAfter(sent)
		if m.State == Unknown && now.State == Unknown {
			return nil // the lease ended first
		}
		if m.State == queued && time.Since(m.First) < r.opts.RetryFor {
			return r.queueAgain(ctx, tx, key, m)
		}
		if m.State == queued {
			m.State = Failed
		}
		return r.settle(ctx, tx, key, m)
	})
}

// queueAgain postpones an email. The failed request may have created an email with the
// status "error" on the platform. queueAgain marks this email as replaced, so an event
// about it does not count as an outcome.
func (r *Room) queueAgain(ctx context.Context, tx Tx, key string, m mail) error {
	replaced := replace(ctx, tx, m.EmailID)
	m.Attempt, m.EmailID, m.Later = "", "", m.Later+1
	due := time.Now().Add(doubled(r.opts.Pause, m.Later, r.opts.MaxPause))
	return errors.Join(replaced, tx.Delete(ctx, kindTimer, key), putMail(ctx, tx, key, "", due, m))
}

// replace marks an email, if any, as replaced by another request with its key.
func replace(ctx context.Context, tx Tx, emailID string) error {
	if emailID == "" {
		return nil
	}
	return tx.Put(ctx, Item{Kind: kindEvent, Key: replacedKey(emailID), Due: time.Now().Add(keepEvents)})
}

// replacedKey returns the key of the item that marks an email as replaced.
func replacedKey(emailID string) string { return hash("replaced " + emailID) }

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
func (r *Room) settle(ctx context.Context, tx Tx, key string, m mail) error {
	n := Notice{
		Reason: m.State, Address: normal(m.Submission.To), Key: key, EmailID: m.EmailID, Detail: m.Detail, Time: time.Now(),
	}
	if m.State == Unknown {
		r.opts.Logger.WarnContext(ctx, "mailroom: email outcome unknown", "key", key, "error", m.Detail)
		return errors.Join(
			tx.Put(ctx, Item{Kind: kindTimer, Key: key, Ref: unknownRef, Value: encode(Unresolved{key, m.Submission.To, m.Started, m.Detail})}),
			putMail(ctx, tx, key, refOfAddress(n.Address), time.Time{}, m),
			r.notify(ctx, tx, outcomeKey(key), n))
	}
	m.Submission = nil
	ref := ""
	if m.EmailID != "" {
		ref = refOfEmail(m.EmailID)
	}
	timer := tx.Delete(ctx, kindTimer, key)
	if r.opts.KeepSent > 0 {
		timer = tx.Put(ctx, Item{Kind: kindTimer, Key: key, Due: time.Now().Add(r.opts.KeepSent)})
	}
	return errors.Join(timer, putMail(ctx, tx, key, ref, time.Time{}, m), r.notify(ctx, tx, outcomeKey(key), n))
}
