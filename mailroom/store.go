package mailroom

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	kindMail       = "mail"       // the state of a key; its time is the end of its lease, or when to delete it
	kindSend       = "send"       // an email to send at its time
	kindUnknown    = "unknown"    // an email whose outcome is unknown; its time is the start of the request
	kindPause      = "pause"      // who can send, for all workers
	kindEvent      = "event"      // a handled event
	kindLookup     = "lookup"     // an email to look up
	kindNotice     = "notice"     // a notice for OnNotice
	kindSuppressed = "suppressed" // an address or a pattern
	kindHook       = "hook"       // a webhook, to archive unless a process uses it
	kindTimer      = "timer"      // written only by builds before the first release
)

// errOldForm reports an email in the form of these builds, which kept the state of a key in
// the item of the kind "send". The Room cannot continue with such an email.
var errOldForm = errors.New("mailroom: the store contains emails of a build before the first release: " +
	"send them with this build, and then delete all items")

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

// state is the state of a Room in a transaction. It keeps the first error. After an error,
// it reads and changes nothing, and the transaction is rolled back.
type state struct {
	*Room
	ctx context.Context
	tx  Tx
	err error
}

// update calls f in a transaction, and returns the error of the state.
func (r *Room) update(ctx context.Context, f func(s *state)) error {
	return r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		s := &state{Room: r, ctx: ctx, tx: tx}
		f(s)
		return s.err
	})
}

func (s *state) get(kind, key string) (it Item, found bool) {
	if s.err == nil {
		it, found, s.err = s.tx.Get(s.ctx, kind, key)
	}
	return it, found
}

func (s *state) due(kind string, now time.Time, limit int) (items []Item) {
	if s.err == nil {
		items, s.err = s.tx.Due(s.ctx, kind, now, limit)
	}
	return items
}

func (s *state) byRef(kind, ref string) (items []Item) {
	if s.err == nil {
		items, s.err = s.tx.ByRef(s.ctx, kind, ref)
	}
	return items
}

func (s *state) delete(kind, key string) {
	if s.err == nil {
		s.err = s.tx.Delete(s.ctx, kind, key)
	}
}

// put stores an item. If the item's time has come, put wakes a worker after the commit.
func (s *state) put(it Item) {
	if s.err != nil {
		return
	}
	s.err = s.tx.Put(s.ctx, it)
	s.wake(it)
}

func (s *state) wake(it Item) {
	if q := s.queues[it.Kind]; q != nil && !it.Due.After(time.Now()) {
		s.store.AfterCommit(s.ctx, q.wake)
	}
}

// getOrInsert returns an item, and locks it until the transaction ends. If the item does
// not exist, getOrInsert inserts it. Otherwise there would be nothing to lock, and another
// transaction could insert the item in the meantime. Like put, it wakes a worker.
func (s *state) getOrInsert(it Item) (_ Item, inserted bool) {
	for s.err == nil {
		if inserted, s.err = s.tx.Insert(s.ctx, it); inserted {
			break
		}
		if old, found := s.get(it.Kind, it.Key); found {
			return old, false
		} // another transaction has deleted the item in between
	}
	s.wake(it)
	return it, inserted
}

// nothing is the wait of a worker that found nothing to do.
const nothing = time.Duration(-1)

// take calls f in a transaction with the item with the key, or with the earliest item of
// the kind if key is "". It returns the wait that f returns. If the time of the item comes
// soon, take returns this wait and does not call f. Otherwise, if there is nothing to do,
// the wait is the constant nothing.
func take[T any](ctx context.Context, r *Room, kind, key string, f func(s *state, it Item, v T) time.Duration) (wait time.Duration, err error) {
	err = r.update(ctx, func(s *state) {
		now := time.Now()
		var it Item
		if key != "" {
			it, _ = s.get(kind, key)
		} else if due := s.due(kind, now, 1); len(due) > 0 {
			it = due[0]
		}
		v, err := decode[T](it)
		wait = it.Due.Sub(now)
		switch {
		case it.Due.IsZero(), wait > overdue: // later, another job does the work
			wait = nothing
		case wait > 0: // can be a difference between clocks
		case err != nil:
			wait = nothing
			s.setAside(it, err)
		default:
			wait = f(s, it, v)
		}
	})
	return wait, err
}

// setAside delays an item that cannot be decoded, so it does not block others.
func (s *state) setAside(it Item, err error) {
	it.Due = time.Now().Add(time.Hour)
	s.opts.Logger.ErrorContext(s.ctx, "mailroom: item not decoded", "again", it.Due, "error", err)
	s.put(it)
}

// read decodes an item, and keeps the error.
func read[T any](s *state, it Item) T {
	v, err := decode[T](it)
	if s.err == nil {
		s.err = err
	}
	return v
}

// decode reads the value of an item. If the item does not exist, it returns the zero value.
func decode[T any](it Item) (v T, err error) {
	if len(it.Value) > 0 {
		if err = json.Unmarshal(it.Value, &v); err != nil {
			err = fmt.Errorf("mailroom: item %s %q: %w", it.Kind, it.Key, err)
		}
	}
	return v, err
}

// encode encodes a value of this package, which cannot fail. It replaces invalid UTF-8,
// because a store accepts only UTF-8 as the value of an item. The body of an event may
// contain invalid UTF-8, for example if it quotes a mail server.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("mailroom: %v", err))
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD"))
}
