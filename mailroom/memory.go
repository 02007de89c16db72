package mailroom

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
)

const maxRefs = 100 // items that ByRef returns

// MemoryStore is an in-memory [Store] for tests, so its state is lost when the process
// ends. It runs one transaction at a time. If a function in a transaction calls the
// store without the context of the transaction, it waits forever.
type MemoryStore struct {
	mu    sync.Mutex
	items map[itemKey]Item
}

type itemKey struct{ kind, key string }

// NewMemoryStore returns an empty MemoryStore.
func NewMemoryStore() *MemoryStore { return &MemoryStore{items: map[itemKey]Item{}} }

type memoryTx struct {
	s     *MemoryStore
	undo  map[itemKey]Item // the items before the transaction; those without a key did not exist
	after []func()
}

type memoryTxKey struct{ s *MemoryStore }

func (s *MemoryStore) outer(ctx context.Context) *memoryTx {
	tx, _ := ctx.Value(memoryTxKey{s}).(*memoryTx)
	return tx
}

// Update implements [Store].
func (s *MemoryStore) Update(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	if tx := s.outer(ctx); tx != nil {
		return fn(ctx, tx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	tx := &memoryTx{s: s, undo: map[itemKey]Item{}}
	if err := tx.run(ctx, fn); err != nil {
		return err
	}
	for _, f := range tx.after {
		f()
	}
	return nil
}

func (tx *memoryTx) run(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	tx.s.mu.Lock()
	defer tx.s.mu.Unlock()
	committed := false
	defer func() {
		if !committed { // even after a panic
			tx.rollback()
		}
	}()
	err := fn(context.WithValue(ctx, memoryTxKey{tx.s}, tx), tx)
	if err == nil {
		err = ctx.Err()
	}
	committed = err == nil
	return err
}

func (tx *memoryTx) rollback() {
	for k, old := range tx.undo {
		if tx.s.items[k] = old; old.Key == "" {
			delete(tx.s.items, k)
		}
	}
}

// AfterCommit implements [Store].
func (s *MemoryStore) AfterCommit(ctx context.Context, f func()) {
	if tx := s.outer(ctx); tx != nil {
		tx.after = append(tx.after, f)
	}
}

// remember keeps the state of an item before the transaction.
func (tx *memoryTx) remember(k itemKey) {
	if _, ok := tx.undo[k]; !ok {
		tx.undo[k] = tx.s.items[k]
	}
}

// find returns the matching items of a kind, earliest first, at most limit.
func (tx *memoryTx) find(kind string, limit int, match func(Item) bool) (found []Item) {
	for _, it := range tx.s.items {
		if it.Kind == kind && match(it) {
			found = append(found, it)
		}
	}
	slices.SortFunc(found, func(a, b Item) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Key, b.Key)) })
	return found[:min(len(found), limit)]
}

// Get implements [Tx].
func (tx *memoryTx) Get(_ context.Context, kind, key string) (Item, bool, error) {
	it, ok := tx.s.items[itemKey{kind, key}]
	return it, ok, nil
}

// Due implements [Tx].
func (tx *memoryTx) Due(_ context.Context, kind string, now time.Time, limit int) ([]Item, error) {
	return tx.find(kind, limit, func(it Item) bool { return !it.Due.IsZero() && !it.Due.After(now) }), nil
}

// CountDue implements [Tx].
func (tx *memoryTx) CountDue(ctx context.Context, kind string, now time.Time) (int, time.Time, error) {
	due, _ := tx.Due(ctx, kind, now, len(tx.s.items))
	if len(due) == 0 {
		return 0, time.Time{}, nil
	}
	return len(due), due[0].Due, nil
}

// ByRef implements [Tx].
func (tx *memoryTx) ByRef(_ context.Context, kind, ref string) ([]Item, error) {
	return tx.find(kind, maxRefs, func(it Item) bool { return it.Ref == ref && ref != "" }), nil
}

// Insert implements [Tx].
func (tx *memoryTx) Insert(ctx context.Context, it Item) (bool, error) {
	if _, ok := tx.s.items[itemKey{it.Kind, it.Key}]; ok {
		return false, nil
	}
	return true, tx.Put(ctx, it)
}

// Put implements [Tx].
func (tx *memoryTx) Put(_ context.Context, it Item) error {
	if !utf8.Valid(it.Value) { // a database fails, too
		return fmt.Errorf("mailroom: value of item %s %q must be UTF-8", it.Kind, it.Key)
	}
	k := itemKey{it.Kind, it.Key}
	tx.remember(k)
	if !it.Due.IsZero() {
		it.Due = time.UnixMilli(it.Due.UnixMilli()) // as a database stores it
	}
	it.Value = slices.Clone(it.Value)
	tx.s.items[k] = it
	return nil
}

// Delete implements [Tx].
func (tx *memoryTx) Delete(_ context.Context, kind, key string) error {
	k := itemKey{kind, key}
	tx.remember(k)
	delete(tx.s.items, k)
	return nil
}
