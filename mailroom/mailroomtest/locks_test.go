package mailroomtest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/mailroom"
)

// TestBrokenStores: TestStore's rules about locks detect two kinds of broken stores. In one kind, a transaction does not lock
// items, or releases its locks before it ends. In the other kind, a transaction that waited for a lock does not read the
// changes that were committed while it waited.
func TestBrokenStores(t *testing.T) {
	const locked, reads = "items are locked until the commit", "commits are read after a lock"
	for _, tt := range []struct {
		name  string
		store *fakeStore
		found []string
	}{
		{name: "no error", store: &fakeStore{}},
		{name: "no lock", store: &fakeStore{neverLocks: true}, found: []string{locked, reads}},
		{name: "unlocked before the commit", store: &fakeStore{unlocksEarly: true}, found: []string{locked}},
		{name: "old view after the lock", store: &fakeStore{readsStale: true}, found: []string{locked, reads}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.store.items = map[itemKey]mailroom.Item{}
			var found []string
			for _, r := range rules {
				if err := r.check(t.Context(), tt.store, newKind(), func() mailroom.Store { return tt.store }); err != nil {
					found = append(found, r.name)
					t.Logf("%s: %.300v", r.name, err)
				}
			}
			assert.Subset(t, found, tt.found)
			if tt.found == nil {
				assert.Empty(t, found)
			}
		})
	}
}

type itemKey struct{ kind, key string }

// fakeStore runs one transaction at a time, unless it has an error. A transaction changes a copy of the items.
type fakeStore struct {
	neverLocks   bool // transactions do not wait
	unlocksEarly bool // another transaction can begin before the commit
	readsStale   bool // the copy is from before the wait

	writer sync.Mutex // locked by a transaction
	mu     sync.Mutex // protects items
	items  map[itemKey]mailroom.Item
}

type fakeTx struct {
	items       map[itemKey]mailroom.Item
	changed     map[itemKey]bool
	afterCommit []func()
}

type txKey struct{ *fakeStore }

func (s *fakeStore) Update(ctx context.Context, fn func(ctx context.Context, tx mailroom.Tx) error) error {
	if tx, ok := ctx.Value(txKey{s}).(*fakeTx); ok {
		return fn(ctx, tx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	tx := &fakeTx{items: s.copyItems(), changed: map[itemKey]bool{}}
	end := func() {}
	if !s.neverLocks {
		s.writer.Lock()
		end = sync.OnceFunc(s.writer.Unlock)
		defer end()
	}
	if !s.readsStale {
		tx.items = s.copyItems()
	}
	err := fn(context.WithValue(ctx, txKey{s}, tx), tx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if s.unlocksEarly {
		end()
		time.Sleep(transactionDelay)
	}
	s.commit(tx)
	end()
	for _, f := range tx.afterCommit {
		f()
	}
	return nil
}

func (s *fakeStore) copyItems() map[itemKey]mailroom.Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.items)
}

func (s *fakeStore) commit(tx *fakeTx) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range tx.changed {
		if it, ok := tx.items[k]; ok {
			s.items[k] = it
		} else {
			delete(s.items, k)
		}
	}
}

func (s *fakeStore) AfterCommit(ctx context.Context, f func()) {
	tx := ctx.Value(txKey{s}).(*fakeTx)
	tx.afterCommit = append(tx.afterCommit, f)
}

func (tx *fakeTx) Get(_ context.Context, kind, key string) (mailroom.Item, bool, error) {
	it, found := tx.items[itemKey{kind, key}]
	return it, found, nil
}

func (tx *fakeTx) find(kind string, limit int, match func(mailroom.Item) bool) (found []mailroom.Item) {
	for _, it := range tx.items {
		if it.Kind == kind && match(it) {
			found = append(found, it)
		}
	}
	slices.SortFunc(found, func(a, b mailroom.Item) int { return a.Due.Compare(b.Due) })
	return found[:min(limit, len(found))]
}

func (tx *fakeTx) Due(_ context.Context, kind string, now time.Time, limit int) ([]mailroom.Item, error) {
	return tx.find(kind, limit, func(it mailroom.Item) bool { return !it.Due.IsZero() && !it.Due.After(now) }), nil
}

func (tx *fakeTx) CountDue(ctx context.Context, kind string, now time.Time) (n int, earliest time.Time, err error) {
	due, err := tx.Due(ctx, kind, now, len(tx.items))
	if len(due) > 0 {
		earliest = due[0].Due
	}
	return len(due), earliest, err
}

func (tx *fakeTx) ByRef(_ context.Context, kind, ref string) ([]mailroom.Item, error) {
	return tx.find(kind, 100, func(it mailroom.Item) bool { return it.Ref == ref && ref != "" }), nil
}

func (tx *fakeTx) Insert(ctx context.Context, it mailroom.Item) (bool, error) {
	if _, found := tx.items[itemKey{it.Kind, it.Key}]; found {
		return false, nil
	}
	return true, tx.Put(ctx, it)
}

func (tx *fakeTx) Put(_ context.Context, it mailroom.Item) error {
	k := itemKey{it.Kind, it.Key}
	tx.items[k], tx.changed[k] = it, true
	return nil
}

func (tx *fakeTx) Delete(_ context.Context, kind, key string) error {
	k := itemKey{kind, key}
	delete(tx.items, k)
	tx.changed[k] = true
	return nil
}
