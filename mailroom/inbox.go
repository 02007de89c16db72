package mailroom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

// pending is the value of an item of the kind "notice".
type pending struct {
	Notice Notice `json:"notice"`
	Tries  int    `json:"tries,omitempty"`
}

// errIncomplete means that a bounce has neither a category nor an id for a lookup.
var errIncomplete = errors.New("mailroom: bounce without a category and an email id")

// Handle stores an event. If the application needs its own webhook handler, pass Handle
// to [webhook.NewHandler]. Otherwise use ServeHTTP, which deduplicates deliveries and
// then calls Handle. If the data of the event could not be parsed, it is an
// [events.Unknown] with an error. Handle returns this error, so the platform retries the
// delivery.
func (r *Room) Handle(ctx context.Context, e *events.Event) error {
	if unknown, _ := e.Data.(*events.Unknown); unknown != nil && unknown.Err != nil {
		return unknown.Err
	}
	return r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		n, partial := read(e)
		if partial && n.EmailID == "" {
			if partial = false; n.Reason == "" {
				return errIncomplete
			}
		}
		open := false
		var err error
		if t := e.SendingType(); n.EmailID != "" && (t == "" || t == events.SendingTypeEmailAPI) {
			if open, err = openTo(ctx, tx, n.Address); err != nil {
				return err
			}
		}
		n.Key, err = keyOf(ctx, tx, n.EmailID) // last, because a response may arrive in between
		switch {
		case err != nil:
			return err
		case partial || open && n.Key == "":
			return r.lookUpLater(ctx, tx, n, partial)
		case n.Reason == "":
			return nil
		}
		return r.accept(ctx, tx, n)
	})
}

// openTo reports whether the outcome of an email to the address is not known.
func openTo(ctx context.Context, tx Tx, address string) (open bool, err error) {
	items, err := tx.ByRef(ctx, kindSend, refOfAddress(address))
	return len(items) > 0, err
}

// keyOf returns the key of the email with the id, or "".
func keyOf(ctx context.Context, tx Tx, emailID string) (string, error) {
	if emailID == "" {
		return "", nil
	}
	items, err := tx.ByRef(ctx, kindSend, refOfEmail(emailID))
	if err != nil || len(items) == 0 {
		return "", err
	}
	return items[0].Key, nil
}

// accept stores a complete notice about an event, and suppresses the address if necessary.
func (r *Room) accept(ctx context.Context, tx Tx, n Notice) error {
	if n.Reason.Outcome() {
		if done, err := r.acceptOutcome(ctx, tx, n); err != nil || done {
			return err
		}
	}
	if err := suppressFor(ctx, tx, n); err != nil {
		return err
	}
	// The store of handled events has already removed duplicates. The id alone is not enough, because events of some
	// platforms have none, or all have the same.
	id := fmt.Sprintf("%s %s %s %s %v %v", n.Event.ID, n.Reason, n.Address, n.EmailID, n.ListID, n.Time)
	return r.notify(ctx, tx, "event:"+hash(id), n)
}

// acceptOutcome handles Email.Rejected and Email.Error events for an email of the outbox.
// If the response to the request already contained the outcome, or the Room sends the
// email again, acceptOutcome does nothing.
func (r *Room) acceptOutcome(ctx context.Context, tx Tx, n Notice) (done bool, err error) {
	if n.Key == "" {
		_, done, err = tx.Get(ctx, kindEvent, replacedKey(n.EmailID))
		return done, err
	}
	it, _, err := tx.Get(ctx, kindSend, n.Key)
	if err != nil {
		return false, err
	}
	m, err := decode[mail](it)
	if err != nil || m.State != Sent && m.State != Unknown {
		return true, err
	}
	m.State, m.Detail, m.EmailID = n.Reason, n.Detail, n.EmailID
	if m.Submission == nil { // removed when the outcome became Sent
		m.Submission = &client.EmailSubmission{To: n.Address}
	}
	return true, r.settle(ctx, tx, n.Key, m)
}

func suppressFor(ctx context.Context, tx Tx, n Notice) error {
	if !n.Reason.suppresses() || n.Address == "" {
		return nil
	}
	return suppress(ctx, tx, n.Address, n.Reason)
}

// outcomeKey returns the key of the notice about the outcome of an email.
func outcomeKey(key string) string { return "send:" + key }

func (r *Room) notify(ctx context.Context, tx Tx, key string, n Notice) error {
	r.store.AfterCommit(ctx, r.notices.wake)
	return tx.Put(ctx, Item{Kind: kindNotice, Key: key, Due: time.Now(), Value: encode(pending{Notice: n})})
}

// tell passes the notice with the key, or any notice if key is "", to OnNotice.
func (r *Room) tell(ctx context.Context, key string) (wait time.Duration, err error) {
	var claimed Item
	var p pending
	var start time.Time // of the call, if any
	err = r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		var it Item
		if it, wait, err = take(ctx, tx, kindNotice, key); err != nil || wait != 0 {
			return err
		}
		if p, err = decode[pending](it); err != nil {
			return r.setAside(ctx, tx, it, err)
		}
		claimed = it // first, because the commit can fail, too
		if waits, err := waitForOutcome(ctx, tx, it, p.Notice); err != nil || waits {
			return err
		}
		if err := tx.Delete(ctx, kindNotice, it.Key); err != nil { // first, because OnNotice can cause the next outcome
			return err
		}
		start = time.Now()
		return r.callback(ctx, p.Notice)
	})
	if !start.IsZero() {
		r.opts.Observe(ctx, Observation{p.Notice, time.Since(start), err})
	}
	if err == nil || claimed.Key == "" || ctx.Err() != nil { // a shutdown does not count as a failure
		return wait, err
	}
	p.Tries++
	later := claimed
	later.Value, later.Due = encode(p), time.Now().Add(doubled(2*time.Second, p.Tries, time.Hour))
	r.opts.Logger.ErrorContext(ctx, "mailroom: OnNotice failed", "notice", later.Key, "again", later.Due, "error", err)
	return 0, r.postpone(ctx, claimed, later)
}

// setAside delays an item that cannot be decoded, so it does not block the others.
func (r *Room) setAside(ctx context.Context, tx Tx, it Item, err error) error {
	it.Due = time.Now().Add(time.Hour)
	r.opts.Logger.ErrorContext(ctx, "mailroom: item not decoded", "again", it.Due, "error", err)
	return tx.Put(ctx, it)
}

// waitForOutcome postpones a notice until OnNotice has handled the outcome of its key.
func waitForOutcome(ctx context.Context, tx Tx, it Item, n Notice) (waits bool, err error) {
	if n.Key == "" || it.Key == outcomeKey(n.Key) {
		return false, nil
	}
	outcome, found, err := tx.Get(ctx, kindNotice, outcomeKey(n.Key))
	if err != nil || !found {
		return false, err
	}
	if it.Due = time.Now().Add(time.Second); it.Due.Before(outcome.Due) {
		it.Due = outcome.Due.Add(time.Millisecond)
	}
	return true, tx.Put(ctx, it)
}

// postpone stores a failed notice, unless a later outcome has replaced it, or another
// process has handled or postponed it.
func (r *Room) postpone(ctx context.Context, claimed, later Item) error {
	return r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		it, found, err := tx.Get(ctx, kindNotice, claimed.Key)
		if err != nil || !found || !it.Due.Equal(claimed.Due) || !bytes.Equal(it.Value, claimed.Value) {
			return err
		}
		return tx.Put(ctx, later)
	})
}

// callback calls OnNotice, and returns a panic as an error.
func (r *Room) callback(ctx context.Context, n Notice) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.Join(err, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	return r.opts.OnNotice(ctx, n)
}
