package mailroom

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// storeTx is a transaction of the Room's store. It keeps the first error. After an error, its
// methods do nothing, and the transaction is rolled back.
type storeTx struct {
	room *Room
	ctx  context.Context
	tx   Tx
	err  error
}

// update calls f in a transaction, and returns the error that storeTx keeps.
func (r *Room) update(ctx context.Context, f func(s *storeTx)) error {
	return r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		s := &storeTx{room: r, ctx: ctx, tx: tx}
		f(s)
		return s.err
	})
}

// noWork is the wait of a worker that found no item to handle.
const noWork = time.Duration(-1)

// withDueItem passes an item of the kind to f, in a transaction. It takes the item with the key
// or, if key is "", the item with the earliest time. The wait depends on the item:
//
//   - If the item is due, withDueItem calls f and returns the wait from f.
//   - If the item will be due within overdueAfter, withDueItem does not call f, and returns the
//     time until then.
//   - If there is no item, or it will be due later, withDueItem returns noWork.
func withDueItem[T any](ctx context.Context, r *Room, kind, key string, f func(s *storeTx, it Item, v T) time.Duration) (wait time.Duration, err error) {
	err = r.update(ctx, func(s *storeTx) {
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
		case it.Due.IsZero(), wait > overdueAfter: // later, another job does the work
			wait = noWork
		case wait > 0: // can be a difference between clocks
		case err != nil:
			wait = noWork
			s.postponeInvalid(it, err)
		default:
			wait = f(s, it, v)
		}
	})
	return wait, err
}

// postponeInvalid delays an item that cannot be decoded, so it does not block others.
func (s *storeTx) postponeInvalid(it Item, err error) {
	it.Due = time.Now().Add(time.Hour)
	s.room.opts.Logger.ErrorContext(s.ctx, "mailroom: item not decoded", "again", it.Due, "error", err)
	s.put(it)
}

func (s *storeTx) get(kind, key string) (it Item, found bool) {
	if s.err == nil {
		it, found, s.err = s.tx.Get(s.ctx, kind, key)
	}
	return it, found
}

func (s *storeTx) due(kind string, now time.Time, limit int) (items []Item) {
	if s.err == nil {
		items, s.err = s.tx.Due(s.ctx, kind, now, limit)
	}
	return items
}

func (s *storeTx) byRef(kind, ref string) (items []Item) {
	if s.err == nil {
		items, s.err = s.tx.ByRef(s.ctx, kind, ref)
	}
	return items
}

func (s *storeTx) delete(kind, key string) {
	if s.err == nil {
		s.err = s.tx.Delete(s.ctx, kind, key)
	}
}

// put stores an item. If the item's time has come, put wakes a worker after the commit.
func (s *storeTx) put(it Item) {
	if s.err != nil {
		return
	}
	s.err = s.tx.Put(s.ctx, it)
	s.wake(it)
}

// getOrInsert returns an item, and locks it until the transaction ends. If the item does
// not exist, getOrInsert inserts it, because a missing item cannot be locked, and another
// transaction could insert it. Like put, getOrInsert wakes a worker.
func (s *storeTx) getOrInsert(it Item) (_ Item, inserted bool) {
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

func (s *storeTx) wake(it Item) {
	if w := s.room.wakeups[it.Kind]; w != nil && !it.Due.After(time.Now()) {
		s.room.store.AfterCommit(s.ctx, w.wake)
	}
}

// valueOf decodes the value of an item. If this fails, the transaction keeps the error.
func valueOf[T any](s *storeTx, it Item) T {
	v, err := decode[T](it)
	if s.err == nil {
		s.err = err
	}
	return v
}

// decode decodes the value of an item. If the item does not exist, it returns the zero value.
func decode[T any](it Item) (v T, err error) {
	if len(it.Value) > 0 {
		if err = json.Unmarshal(it.Value, &v); err != nil {
			err = fmt.Errorf("mailroom: item %s %q: %w", it.Kind, it.Key, err)
		}
	}
	return v, err
}

// encode encodes a value of this package, and cannot fail. It replaces invalid UTF-8,
// because a store accepts only UTF-8 as the value of an item. The body of an event may
// contain invalid UTF-8, for example if it quotes a mail server.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // an escape takes 6 bytes, so HTML could exceed the limit of Item.Value
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("mailroom: %v", err))
	}
	return bytes.ToValidUTF8(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte("\uFFFD"))
}
