// Package table provides copy-on-write lists of records. Copying a list is
// cheap, and the copy never changes.
//
// A list and its copies share blocks of records. Before the table changes a shared
// record, it copies the record and its block. Therefore a copy can be read without a
// lock. Two copies can differ only in records and blocks that they do not share.
package table

import (
	"iter"
	"slices"
)

// size is the number of records in a full block.
const size = 1024

// Copy contains the records of a table at a point in time. Versions of a record share
// their slices and maps, so replace a slice or map instead of changing it.
type Copy[T any] struct {
	blocks []*block[T] // all blocks except the last are full
	n      int
}

type block[T any] struct {
	records   []*T
	snapshots int               // number of snapshots of the table when the block was created
	private   [size / 64]uint64 // a bit for each record that no copy shares
}

// Len returns the number of records.
func (c *Copy[T]) Len() int { return c.n }

// At returns the record at the given index. The caller must not change the record.
func (c *Copy[T]) At(i int) *T { return c.blocks[i/size].records[i%size] }

// All yields the records in order.
func (c *Copy[T]) All() iter.Seq[*T] { return c.Since(Copy[T]{}) }

// Since yields the records that were added or changed after an earlier copy of
// the same table, in order.
func (c *Copy[T]) Since(earlier Copy[T]) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for k, b := range c.blocks {
			var before []*T
			if k < len(earlier.blocks) {
				if b == earlier.blocks[k] {
					continue
				}
				before = earlier.blocks[k].records
			}
			for j, x := range b.records {
				if (j >= len(before) || before[j] != x) && !yield(x) {
					return
				}
			}
		}
	}
}

// Backward yields the records in reverse order.
func (c *Copy[T]) Backward() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, b := range slices.Backward(c.blocks) {
			for _, x := range slices.Backward(b.records) {
				if !yield(x) {
					return
				}
			}
		}
	}
}

// Table is a list of records. Records cannot be removed. The zero value is an
// empty table. A Table is not safe for concurrent use, but its copies are
// independent of it.
type Table[T any] struct {
	Copy[T]

	snapshots int // number of snapshots
}

// Snapshot returns a copy with the current records.
func (t *Table[T]) Snapshot() Copy[T] {
	t.snapshots++
	return Copy[T]{blocks: slices.Clone(t.blocks), n: t.n}
}

// Add adds a record. The caller can change the record until the next snapshot.
func (t *Table[T]) Add(x *T) {
	if t.n%size == 0 {
		t.blocks = append(t.blocks, &block[T]{snapshots: t.snapshots, records: make([]*T, 0, min(t.n, size))})
	}
	b := t.block(t.n / size)
	b.records = append(b.records, nil)
	t.n++
	t.Set(t.n-1, x)
}

// Set replaces a record. The caller can change the new record until the next
// snapshot.
func (t *Table[T]) Set(i int, x *T) {
	b, j := t.block(i/size), i%size
	b.records[j] = x
	b.private[j/64] |= 1 << (j % 64)
}

// Edit returns the record at an index. The caller can change the record until the
// next snapshot. If a snapshot shares the record, Edit first replaces it with a
// copy.
func (t *Table[T]) Edit(i int) *T {
	if b, j := t.block(i/size), i%size; b.private[j/64]&(1<<(j%64)) == 0 {
		t.Set(i, new(*b.records[j]))
	}
	return t.At(i)
}

// block returns a block that no snapshot shares.
func (t *Table[T]) block(k int) *block[T] {
	if b := t.blocks[k]; b.snapshots != t.snapshots {
		t.blocks[k] = &block[T]{snapshots: t.snapshots, records: append(make([]*T, 0, size), b.records...)}
	}
	return t.blocks[k]
}
