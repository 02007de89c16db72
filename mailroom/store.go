package mailroom

import (
	"context"
	"time"
)

// Item is a record in a [Store].
type Item struct {
	Kind  string    // at most 16 lower-case letters
	Key   string    // unique for the kind; 1 to 255 bytes of UTF-8, compared byte by byte
	Ref   string    // a second key, not unique; at most 255 bytes of UTF-8, "" if none
	Due   time.Time // in milliseconds; zero if never
	Value []byte    // JSON in UTF-8 or empty, at most 2 MiB
}

// The kinds of items.
const (
	kindSend       = "send"       // an email in the outbox; its time is when to send it
	kindTimer      = "timer"      // the lease or the expiry of an email's key, or an unknown outcome
	kindPause      = "pause"      // who can send, for all workers
	kindEvent      = "event"      // a handled event
	kindLookup     = "lookup"     // an email to look up
	kindNotice     = "notice"     // a notice for OnNotice
	kindSuppressed = "suppressed" // an address or a pattern
	kindHook       = "hook"       // a webhook, to archive unless a process uses it
)

// IsWork reports whether the item waits for [Room.Work]. A Store with a job queue adds a
// job for each such item, in the transaction that stores the item.
func (it Item) IsWork() bool {
	return !it.Due.IsZero() && (it.Kind == kindSend || it.Kind == kindLookup || it.Kind == kindNotice)
}

// getOrInsert returns an item, and locks it until the transaction ends. If the item does
// not exist, getOrInsert inserts it. Otherwise there would be nothing to lock, and another
// transaction could insert the item in the meantime.
func getOrInsert(ctx context.Context, tx Tx, it Item) (Item, error) {
	for {
		if inserted, err := tx.Insert(ctx, it); err != nil || inserted {
			return it, err
		}
		if old, found, err := tx.Get(ctx, it.Kind, it.Key); err != nil || found {
			return old, err
		} // another transaction has deleted the item in between
	}
}

// nothing is the wait of a worker that found nothing to do.
const nothing = time.Duration(-1)

// take returns the item with the key, or the earliest item of the kind if key is "". If the
// time of the item comes soon, wait is positive. If the item does not exist or its time
// comes later, wait is the constant nothing.
func take(ctx context.Context, tx Tx, kind, key string) (it Item, wait time.Duration, err error) {
	now := time.Now()
	if key == "" {
		due, err := tx.Due(ctx, kind, now, 1)
		if err != nil || len(due) == 0 {
			return it, nothing, err
		}
		return due[0], 0, nil
	}
	it, _, err = tx.Get(ctx, kind, key)
	if err != nil || it.Due.IsZero() {
		return it, nothing, err
	}
	if wait = max(it.Due.Sub(now), 0); wait > overdue {
		wait = nothing // the job of the later time does the work; less can be a difference between clocks
	}
	return it, wait, nil
}

// Tx is a transaction of a [Store].
type Tx interface {
	// Get returns an item, and locks it until the transaction ends. It does not lock an
	// item that does not exist.
	Get(ctx context.Context, kind, key string) (item Item, found bool, err error)
	// Due returns up to limit items whose time has come, earliest first, and locks them.
	// It skips items that another transaction has locked.
	Due(ctx context.Context, kind string, now time.Time, limit int) ([]Item, error)
	// CountDue returns the number of items whose time has come, and the earliest time. It
	// locks no item and counts items that are locked.
	CountDue(ctx context.Context, kind string, now time.Time) (n int, earliest time.Time, err error)
	// ByRef returns up to 100 items with the given Ref, which must not be empty.
	ByRef(ctx context.Context, kind, ref string) ([]Item, error)
	// Insert adds an item, unless an item with its kind and key exists. It waits for
	// another transaction that inserts the same item.
	Insert(ctx context.Context, item Item) (inserted bool, err error)
	// Put adds or replaces an item.
	Put(ctx context.Context, item Item) error
	// Delete deletes an item, if it exists.
	Delete(ctx context.Context, kind, key string) error
}

// Store keeps the state of a [Room]. Several processes can share a Store, and it must be
// safe for concurrent use. To test an implementation, use package mailroomtest.
type Store interface {
	// Update calls fn in a transaction. The context that fn receives carries the transaction.
	// Update commits if fn returns nil, and rolls back if fn returns an error or panics, or if
	// ctx is canceled. If ctx already carries a transaction of the store, Update uses this
	// transaction and does not end it. Update calls fn only once, even after a rollback.
	Update(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// AfterCommit calls f after the transaction in ctx has been committed. After a rollback,
	// or if the store cannot observe the commit, it does not call f.
	AfterCommit(ctx context.Context, f func())
}
