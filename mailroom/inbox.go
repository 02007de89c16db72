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

// Handle stores an event. If the application needs its own webhook handler, pass Handle
// to [webhook.NewHandler]. Otherwise use ServeHTTP, which deduplicates deliveries and
// then calls Handle. If the data of the event could not be parsed, it is an
// [events.Unknown] with an error. Handle returns this error, so the platform retries the
// delivery.
func (r *Room) Handle(ctx context.Context, e *events.Event) error {
	if unknown, _ := e.Data.(*events.Unknown); unknown != nil && unknown.Err != nil {
		return unknown.Err
	}
	return r.update(ctx, func(s *state) {
		n, partial := noticeOf(e)
		if partial && n.EmailID == "" { // nothing can be looked up
			n.complete(client.Email{})
			partial = false
		}
		unsettled := false
		if t := e.SendingType(); n.EmailID != "" && (t == "" || t == events.SendingTypeEmailAPI) {
			unsettled = len(s.byRef(kindMail, refOfAddress(n.Address))) > 0
		}
		n.Key = s.keyOf(n.EmailID) // last, because a response may arrive in between
		if partial || unsettled && n.Key == "" {
			s.lookUpLater(n, partial)
		} else if n.Reason != "" {
			s.accept(n)
		}
	})
}

// keyOf returns the key of the email with the id, or "".
func (s *state) keyOf(emailID string) (key string) {
	if emailID != "" {
		for _, it := range s.byRef(kindMail, refOfEmail(emailID)) {
			key = it.Key
		}
	}
	return key
}

// accept stores a complete notice about an event, and suppresses the address if necessary.
func (s *state) accept(n Notice) {
	if n.Reason.Outcome() && s.acceptOutcome(n) {
		return
	}
	s.suppressFor(n)
	// The store of handled events has already removed duplicates. The id alone is not enough, because events of some
	// platforms have none, or all have the same.
	id := fmt.Sprintf("%s %s %s %s %v %v", n.Event.ID, n.Reason, n.Address, n.EmailID, n.ListID, n.Time)
	s.notify("event:"+hash(id), n)
}

// acceptOutcome handles Email.Rejected and Email.Error events for an email of the outbox.
// If the response to the request already contained the outcome, or the Room sends the
// email again, acceptOutcome does nothing.
func (s *state) acceptOutcome(n Notice) (done bool) {
	if n.Key == "" {
		_, done = s.get(kindEvent, replacedKey(n.EmailID))
		return done
	}
	it, _ := s.get(kindMail, n.Key)
	if m := read[mail](s, it); m.State == Sent || m.State == Unknown {
		m.State, m.Detail, m.EmailID = n.Reason, n.Detail, n.EmailID
		if m.Submission == nil { // removed when the outcome became Sent
			m.Submission = &client.EmailSubmission{To: n.Address}
		}
		s.settle(n.Key, m)
	}
	return true
}

func (s *state) suppressFor(n Notice) {
	if n.Reason.suppresses() && n.Address != "" {
		s.suppress(n.Address, n.Reason)
	}
}

// outcomeKey returns the key of the notice about the outcome of an email.
func outcomeKey(key string) string { return "send:" + key }

func (s *state) notify(key string, n Notice) {
	s.put(Item{Kind: kindNotice, Key: key, Due: time.Now(), Value: encode(pending{Notice: n})})
}

// tell passes the notice with the key, or any notice if key is "", to OnNotice.
func (r *Room) tell(ctx context.Context, key string) (wait time.Duration, err error) {
	var it Item
	var p pending
	var start time.Time // of the call, if any
	wait, err = take(ctx, r, kindNotice, key, func(s *state, item Item, v pending) time.Duration {
		if it, p = item, v; s.waitForOutcome(it, p.Notice) {
			return 0
		}
		s.delete(kindNotice, it.Key) // first, because OnNotice can cause the next outcome
		if s.err == nil {
			start = time.Now()
			s.err = r.callback(s.ctx, p.Notice)
		}
		return 0
	})
	if start.IsZero() {
		return wait, err
	}
	if r.opts.Observe != nil {
		r.opts.Observe(ctx, Observation{p.Notice, time.Since(start), err})
	}
	if err == nil || ctx.Err() != nil { // a shutdown does not count as a failure
		return wait, err
	}
	p.Tries++
	later := it
	later.Value, later.Due = encode(p), time.Now().Add(doubled(2*time.Second, p.Tries, time.Hour))
	r.opts.Logger.ErrorContext(ctx, "mailroom: OnNotice failed", "notice", it.Key, "again", later.Due, "error", err)
	return 0, r.update(ctx, func(s *state) {
		// Perhaps a later outcome has replaced the notice, or another process has handled or postponed it.
		if now, found := s.get(kindNotice, it.Key); found && bytes.Equal(now.Value, it.Value) {
			s.put(later)
		}
	})
}

// waitForOutcome postpones a notice until OnNotice has handled the outcome of its key.
func (s *state) waitForOutcome(it Item, n Notice) (waits bool) {
	if n.Key == "" || it.Key == outcomeKey(n.Key) {
		return false
	}
	outcome, waits := s.get(kindNotice, outcomeKey(n.Key))
	if waits {
		if it.Due = time.Now().Add(time.Second); it.Due.Before(outcome.Due) {
			it.Due = outcome.Due.Add(time.Millisecond)
		}
		s.put(it)
	}
	return waits
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
