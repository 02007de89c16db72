package mailroom

import (
	"context"
	"slices"
	"time"
)

// Item is a record in a [Store].
type Item struct {
	Kind  string    // at most 16 lower-case letters
	Key   string    // unique for the kind; 1 to 255 bytes of UTF-8, compared byte by byte
	Ref   string    // a second key, not unique; at most 255 bytes of UTF-8, "" if none
	Due   time.Time // in milliseconds; zero if never
	Value []byte    // JSON in UTF-8 or empty; at most 2 MiB, unless an email or an event is larger
}

// The kinds of items.
const (
	kindMail       = "mail"       // the state of a key; its time is the end of its lease, or when to delete it
	kindSend       = "send"       // an email to send at its time
	kindUnknown    = "unknown"    // an email whose outcome is unknown; its time is the start of the request
	kindPause      = "pause"      // who can send, for all workers
	kindEvent      = "event"      // a handled event
	kindLookup     = "lookup"     // an email to look up
	kindNotice     = "notice"     // a notice for OnNotice
	kindSuppressed = "suppressed" // an address or a pattern
	kindHook       = "hook"       // a webhook, to archive unless a process uses it
)

// workKinds returns the kinds of items that wait for a worker.
func workKinds() []string { return []string{kindSend, kindLookup, kindNotice} }

// IsWork reports whether the item waits for [Room.Work]. A Store with a job queue adds a
// job for each such item, in the transaction that stores the item.
func (it Item) IsWork() bool { return !it.Due.IsZero() && slices.Contains(workKinds(), it.Kind) }

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
