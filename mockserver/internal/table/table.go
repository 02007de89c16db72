// Package table provides lists of records. A snapshot of a list never changes, so it can
// be read without a lock.
package table

import (
	"iter"
	"slices"
)

// Table is a list of records. Records cannot be removed. The zero value is an empty
// table. A Table is not safe for concurrent use, but its snapshots are independent of it.
// Copies of a record share its slices and maps, so replace a slice or map instead of
// changing it.
type Table[T any] struct {
	records   []*T
	owned     []uint32 // for each record, the number of snapshots when it was added or copied
	snapshots uint32
}

// Len returns the number of records.
func (t *Table[T]) Len() int { return len(t.records) }

// At returns the record at an index. The caller must not change the record.
func (t *Table[T]) At(i int) *T { return t.records[i] }

// All yields the records in order.
func (t *Table[T]) All() iter.Seq[*T] { return slices.Values(t.records) }

// Snapshot returns the current records.
func (t *Table[T]) Snapshot() []*T {
	t.snapshots++
	return slices.Clone(t.records)
}

// Add adds a record. The caller can change the record until the next snapshot.
func (t *Table[T]) Add(x *T) {
	t.records, t.owned = append(t.records, x), append(t.owned, t.snapshots)
}

// Set replaces a record. The caller can change the new record until the next snapshot.
func (t *Table[T]) Set(i int, x *T) { t.records[i], t.owned[i] = x, t.snapshots }

// Edit returns the record at an index. If a snapshot contains the record, Edit first
// replaces it with a copy, so the caller can change the returned record until the next
// snapshot.
func (t *Table[T]) Edit(i int) *T {
	if t.owned[i] != t.snapshots {
		t.Set(i, new(*t.records[i]))
	}
	return t.records[i]
}
