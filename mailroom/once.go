package mailroom

import (
	"context"
	"sync"
	"time"

	"example.com/emailplatform/webhook"
)

// NewOnce returns a [webhook.Once], which deduplicates events. It is for programs without
// a [Room], because a Room has its own Once. The Once keeps the keys of handled events in
// the store for the given time. When it stores the key of a new event, it also deletes up
// to two expired keys. NewOnce panics if the store is nil.
//
// The function that handles an event runs in the transaction that stores the event's key,
// so its writes in this transaction happen exactly once. If the store permits only one
// writer at a time, calls with other keys wait until the function returns.
func NewOnce(store Store, keep time.Duration) webhook.Once {
	if isNil(store) {
		panic("mailroom: NewOnce needs a store")
	}
	return &once{store: store, keep: keep, deletes: true}
}

type once struct {
	store   Store
	keep    time.Duration
	deletes bool     // no Room deletes the expired keys
	running sync.Map // the keys that this process handles now
}

// Do implements [webhook.Once].
func (o *once) Do(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	key = sha256Hex(key)
	if _, running := o.running.LoadOrStore(key, nil); running {
		return false, webhook.ErrInFlight
	}
	defer o.running.Delete(key)
	err = o.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		isNew, err := tx.Insert(ctx, Item{Kind: kindEvent, Key: key, Due: time.Now().Add(o.keep)})
		if err == nil && isNew && o.deletes {
			err = deleteExpiredKeys(ctx, tx)
		}
		if err != nil || !isNew {
			return err
		}
		ran = true
		return fn(ctx)
	})
	return ran, err
}

// deleteExpiredKeys deletes more keys than an event adds, so the number of keys is limited.
func deleteExpiredKeys(ctx context.Context, tx Tx) error {
	expired, err := tx.Due(ctx, kindEvent, time.Now(), 2)
	for _, it := range expired {
		if err == nil {
			err = tx.Delete(ctx, kindEvent, it.Key)
		}
	}
	return err
}
