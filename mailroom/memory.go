package mailroom

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
)

// MemoryStore is an in-memory [Store] for tests, so its state is lost when the process
// ends. It runs one transaction at a time. Therefore, a function in a transaction
// waits forever if it calls the store without the context of the transaction.
type MemoryStore struct {
	mu    sync.Mutex
	items map[itemKey]Item
}

type itemKey struct{ kind, key string }

// NewMemoryStore returns an empty MemoryStore.
func NewMemoryStore() *MemoryStore { return &MemoryStore{items: map[itemKey]Item{}} }

// memoryTx is a transaction. Its first write copies the items.
type memoryTx struct {
	items       map[itemKey]Item
	copied      bool
	afterCommit []func()
}

type memoryTxKey struct{ s *MemoryStore }

// Update implements [Store].
func (s *MemoryStore) Update(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	if tx, ok := ctx.Value(memoryTxKey{s}).(*memoryTx); ok {
		return fn(ctx, tx)
	}
	tx := &memoryTx{}
	if err := s.commit(context.WithValue(ctx, memoryTxKey{s}, tx), tx, fn); err != nil {
		return err
	}
	for _, f := range tx.afterCommit {
		f()
	}
	return nil
}

func (s *MemoryStore) commit(ctx context.Context, tx *memoryTx, fn func(ctx context.Context, tx Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	tx.items = s.items
	err := fn(ctx, tx)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		s.items = tx.items
	}
	return err
}

// AfterCommit implements [Store].
func (s *MemoryStore) AfterCommit(ctx context.Context, f func()) {
	if tx, ok := ctx.Value(memoryTxKey{s}).(*memoryTx); ok {
		tx.afterCommit = append(tx.afterCommit, f)
	}
}

func (tx *memoryTx) writable() map[itemKey]Item {
	if !tx.copied {
		tx.items, tx.copied = maps.Clone(tx.items), true
	}
	return tx.items
}

// find returns the matching items of a kind, earliest first, at most limit.
func (tx *memoryTx) find(kind string, limit int, match func(Item) bool) (found []Item, err error) {
	for _, it := range tx.items {
		if it.Kind == kind && match(it) {
			found = append(found, it)
		}
	}
	slices.SortFunc(found, func(a, b Item) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Key, b.Key)) })
	return found[:min(len(found), limit)], nil
}

// Get implements [Tx].
func (tx *memoryTx) Get(_ context.Context, kind, key string) (Item, bool, error) {
	it, ok := tx.items[itemKey{kind, key}]
	return it, ok, nil
}

// Due implements [Tx].
func (tx *memoryTx) Due(_ context.Context, kind string, now time.Time, limit int) ([]Item, error) {
	return tx.find(kind, limit, func(it Item) bool { return !it.Due.IsZero() && !it.Due.After(now) })
}

// CountDue implements [Tx].
func (tx *memoryTx) CountDue(ctx context.Context, kind string, now time.Time) (n int, earliest time.Time, err error) {
	due, err := tx.Due(ctx, kind, now, len(tx.items))
	if len(due) > 0 {
		earliest = due[0].Due
	}
	return len(due), earliest, err
}

// ByRef implements [Tx].
func (tx *memoryTx) ByRef(_ context.Context, kind, ref string) ([]Item, error) {
	return tx.find(kind, 100, func(it Item) bool { return it.Ref == ref && ref != "" })
}

// Insert implements [Tx].
func (tx *memoryTx) Insert(ctx context.Context, it Item) (bool, error) {
	if _, ok := tx.items[itemKey{it.Kind, it.Key}]; ok {
		return false, nil
	}
	return true, tx.Put(ctx, it)
}

// Put implements [Tx].
func (tx *memoryTx) Put(_ context.Context, it Item) error {
	if !utf8.Valid(it.Value) { // a database fails, too
		return fmt.Errorf("mailroom: value of item %s %q must be UTF-8", it.Kind, it.Key)
	}
	if !it.Due.IsZero() {
		it.Due = time.UnixMilli(it.Due.UnixMilli()) // as a database stores it
	}
	it.Value = slices.Clone(it.Value)
	tx.writable()[itemKey{it.Kind, it.Key}] = it
	return nil
}

// Delete implements [Tx].
func (tx *memoryTx) Delete(_ context.Context, kind, key string) error {
	delete(tx.writable(), itemKey{kind, key})
	return nil
}
