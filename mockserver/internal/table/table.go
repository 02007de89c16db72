// Package table provides lists of records with copy on write. Copying a list is
// cheap, even for a long list, and the copy never changes.
//
// A list consists of blocks, which it shares with its copies. Before a record is
// changed, the record and its block are copied, unless no copy of the list has them.
// Therefore a copy can be read without a lock, and two copies differ only in the
// records and blocks that they do not share.
package table

import (
	"iter"
	"slices"
)

// size is the number of records in a full block.
const size = 1024

// Copy contains the records of a table at one moment. Slices and maps in a record are
// shared with its later versions, so they can be replaced there, but not changed.
type Copy[T any] struct {
	blocks []*block[T] // full, except the last one
	n      int
}

type block[T any] struct {
	records []*T
	edition int               // of the table when the block was made
	private [size / 64]uint64 // a bit for each record that no copy has
}

// Len returns the number of records.
func (c *Copy[T]) Len() int { return c.n }

// At returns a record by its index, from 0. The caller must not change it.
func (c *Copy[T]) At(i int) *T { return c.blocks[i/size].records[i%size] }

// All yields the records in order.
func (c *Copy[T]) All() iter.Seq[*T] { return c.Since(Copy[T]{}) }

// Since yields the records that were added or changed since an earlier copy of
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

// Table is a list of records that only grows. The zero value is empty. It is
// not safe for concurrent use, but its copies are independent of it.
type Table[T any] struct {
	Copy[T]

	edition int // how many copies there were
}

// Snapshot returns the records as they are now.
func (t *Table[T]) Snapshot() Copy[T] {
	t.edition++
	return Copy[T]{blocks: slices.Clone(t.blocks), n: t.n}
}

// Add adds a record, which can be changed until the next snapshot.
func (t *Table[T]) Add(x *T) {
	if t.n%size == 0 {
		t.blocks = append(t.blocks, &block[T]{edition: t.edition, records: make([]*T, 0, min(t.n, size))})
	}
	b := t.block(t.n / size)
	b.records = append(b.records, nil)
	t.n++
	t.Set(t.n-1, x)
}

// Set replaces a record. The new record can be changed until the next snapshot.
func (t *Table[T]) Set(i int, x *T) {
	b, j := t.block(i/size), i%size
	b.records[j] = x
	b.private[j/64] |= 1 << (j % 64)
}

// Edit returns the record at an index, which can be changed until the next snapshot.
// If a snapshot has that record, Edit replaces it by a copy first.
func (t *Table[T]) Edit(i int) *T {
	if b, j := t.block(i/size), i%size; b.private[j/64]&(1<<(j%64)) == 0 {
		t.Set(i, new(*b.records[j]))
	}
	return t.At(i)
}

// block returns a block that no snapshot shares.
func (t *Table[T]) block(k int) *block[T] {
	if b := t.blocks[k]; b.edition != t.edition {
		t.blocks[k] = &block[T]{edition: t.edition, records: append(make([]*T, 0, size), b.records...)}
	}
	return t.blocks[k]
}
