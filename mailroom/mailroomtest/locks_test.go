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

// TestBrokenStores: the rules about locks find two kinds of broken stores. In one kind, a transaction does not lock items
// until it ends. In the other kind, a transaction that waited for a lock does not read the changes that were committed in the
// meantime.
func TestBrokenStores(t *testing.T) {
	const locked, reads = "items are locked until the commit", "commits are read after a lock"
	for _, tt := range []struct {
		name  string
		store *store
		found []string
	}{
		{name: "no error", store: &store{}},
		{name: "no lock", store: &store{unlocked: true}, found: []string{locked, reads}},
		{name: "unlocked before the commit", store: &store{early: true}, found: []string{locked}},
		{name: "old view after the lock", store: &store{stale: true}, found: []string{locked, reads}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.store.items = map[id]mailroom.Item{}
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

type id struct{ kind, key string }

// store runs one transaction at a time, unless it has an error. A transaction changes a copy of the items.
type store struct {
	unlocked bool // transactions do not wait
	early    bool // another transaction can begin before the commit
	stale    bool // the copy is from before the wait

	writer sync.Mutex // locked by a transaction
	mu     sync.Mutex // protects items
	items  map[id]mailroom.Item
}

type storeTx struct {
	items   map[id]mailroom.Item
	changed map[id]bool
	after   []func()
}

type txKey struct{ *store }

func (s *store) Update(ctx context.Context, fn func(ctx context.Context, tx mailroom.Tx) error) error {
	if tx, ok := ctx.Value(txKey{s}).(*storeTx); ok {
		return fn(ctx, tx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	tx := &storeTx{items: s.copied(), changed: map[id]bool{}}
	end := func() {}
	if !s.unlocked {
		s.writer.Lock()
		end = sync.OnceFunc(s.writer.Unlock)
		defer end()
	}
	if !s.stale {
		tx.items = s.copied()
	}
	err := fn(context.WithValue(ctx, txKey{s}, tx), tx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if s.early {
		end()
		time.Sleep(hesitation)
	}
	s.commit(tx)
	end()
	for _, f := range tx.after {
		f()
	}
	return nil
}

func (s *store) copied() map[id]mailroom.Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.items)
}

func (s *store) commit(tx *storeTx) {
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

func (s *store) AfterCommit(ctx context.Context, f func()) {
	tx := ctx.Value(txKey{s}).(*storeTx)
	tx.after = append(tx.after, f)
}

func (tx *storeTx) Get(_ context.Context, kind, key string) (mailroom.Item, bool, error) {
	it, found := tx.items[id{kind, key}]
	return it, found, nil
}

func (tx *storeTx) find(kind string, limit int, match func(mailroom.Item) bool) (found []mailroom.Item) {
	for _, it := range tx.items {
		if it.Kind == kind && match(it) {
			found = append(found, it)
		}
	}
	slices.SortFunc(found, func(a, b mailroom.Item) int { return a.Due.Compare(b.Due) })
	return found[:min(limit, len(found))]
}

func (tx *storeTx) Due(_ context.Context, kind string, now time.Time, limit int) ([]mailroom.Item, error) {
	return tx.find(kind, limit, func(it mailroom.Item) bool { return !it.Due.IsZero() && !it.Due.After(now) }), nil
}

func (tx *storeTx) CountDue(ctx context.Context, kind string, now time.Time) (n int, earliest time.Time, err error) {
	due, err := tx.Due(ctx, kind, now, len(tx.items))
	if len(due) > 0 {
		earliest = due[0].Due
	}
	return len(due), earliest, err
}

func (tx *storeTx) ByRef(_ context.Context, kind, ref string) ([]mailroom.Item, error) {
	return tx.find(kind, 100, func(it mailroom.Item) bool { return it.Ref == ref && ref != "" }), nil
}

func (tx *storeTx) Insert(ctx context.Context, it mailroom.Item) (bool, error) {
	if _, found := tx.items[id{it.Kind, it.Key}]; found {
		return false, nil
	}
	return true, tx.Put(ctx, it)
}

func (tx *storeTx) Put(_ context.Context, it mailroom.Item) error {
	k := id{it.Kind, it.Key}
	tx.items[k], tx.changed[k] = it, true
	return nil
}

func (tx *storeTx) Delete(_ context.Context, kind, key string) error {
	k := id{kind, key}
	delete(tx.items, k)
	tx.changed[k] = true
	return nil
}
