package platform

import (
	"context"
	"time"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/delivery"
)

// tx is a transaction on one account. During a transaction the platform's mutex
// is locked. The events of a transaction are published after the mutex is
// unlocked.
type tx struct {
	p       *Platform
	account *account
	user    *Caller // user of the request; nil for a recipient action
	fixed   Fixed   // values from a seed
	seeds   bool    // from a seed, so no events are fired
	now     time.Time

	messageID string           // id of the message that the events refer to
	changed   []*message       // messages to publish after the transaction
	events    []delivery.Event // fired after unlocking
	after     []func()         // called after the events are published
}

// do runs an API operation for a method in operations.gen.go. It acquires the lock,
// calls operate(), releases the lock, and publishes the events. The function operate()
// changes records, and must return a copy of the result.
func do[In, Out any](ctx context.Context, p *Platform, in In, operate func(*tx, In) (Out, error)) (out Out, err error) {
	caller := ctx.Value(callerKey{}).(*Caller)
	err = p.transact(caller.AccountID, caller, func(t *tx) error {
		err := t.fix(ctx)
		if err == nil {
			out, err = operate(t, in)
		}
		return err
	})
	return out, err
}

// transact runs a function in a transaction, and then publishes the events.
func (p *Platform) transact(accountID int64, user *Caller, act func(t *tx) error) error {
	p.whole.RLock()
	defer p.whole.RUnlock()
	t := &tx{p: p, user: user, now: p.Clock.Now()}
	err := func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.acts++
		t.account = p.accountLocked(accountID)
		defer t.publishChanges()
		return act(t)
	}()
	p.Deliveries.Publish(t.events)
	for _, f := range t.after {
		f()
	}
	return err
}

// publishChanges publishes the changed messages in the outbox to the change stream.
func (t *tx) publishChanges() {
	if len(t.changed) > activity.MaxLag/2 {
		t.p.Changes.Publish(activity.State, nil)
		return
	}
	for _, m := range t.changed {
		if m.sent() {
			t.p.Changes.Publish(activity.Message, func() any { return m.summary() })
		}
	}
}

func (t *tx) nextID() int64 {
	t.p.lastID++
	return t.p.lastID
}

func (t *tx) unix() int64 { return t.now.Unix() }

// second returns the time of the transaction, in whole seconds.
func (t *tx) second() time.Time { return t.now.Truncate(time.Second) }
