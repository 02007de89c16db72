// Package table has lists of records that can be copied at any moment: a copy costs
// next to nothing, however long the list is, and never changes.
//
// A list is divided into blocks, which its copies share. Who changes a record gets
// a new one to change, in a new block, unless there has been no copy since the last
// time: so a copy can be read without a lock, and two copies tell what has changed
// between them (copy on write).
package table

import (
	"iter"
	"slices"
)

// size is how many records a full block has.
const size = 1024

// Copy is the records of a table at one moment. What a record refers to is shared
// with later ones: it may be replaced in them, but not changed.
type Copy[T any] struct {
	blocks []*block[T] // all but the last are full
	n      int
}

type block[T any] struct {
	records []*T
	edition int               // of the table when the block was made
	private [size / 64]uint64 // a bit for each record: whether no copy has it
}

// Len returns the number of records.
func (c *Copy[T]) Len() int { return c.n }

// At returns a record by its place, from 0. It must not be changed.
func (c *Copy[T]) At(i int) *T { return c.blocks[i/size].records[i%size] }

// All iterates over the records in their order.
func (c *Copy[T]) All() iter.Seq[*T] { return c.Since(Copy[T]{}) }

// Since iterates over the records that were added or changed since an earlier copy
// of the same table, in their order.
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

// Backward iterates over the records from the last to the first.
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

// Table is a list of records that only grows. The zero value is an empty one. It is
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

// Add adds a record. It may be changed until the next snapshot.
func (t *Table[T]) Add(x *T) {
	if t.n%size == 0 {
		t.blocks = append(t.blocks, &block[T]{edition: t.edition})
	}
	b := t.block(t.n / size)
	b.records = append(b.records, nil)
	t.n++
	t.Set(t.n-1, x)
}

// Set puts a record in the place of another one. It may be changed until the next
// snapshot.
func (t *Table[T]) Set(i int, x *T) {
	b, j := t.block(i/size), i%size
	b.records[j] = x
	b.private[j/64] |= 1 << (j % 64)
}

// Edit returns the record at a place, to be changed until the next snapshot. It may
// be another one than before: a snapshot keeps that.
func (t *Table[T]) Edit(i int) *T {
	if b, j := t.block(i/size), i%size; b.private[j/64]&(1<<(j%64)) == 0 {
		t.Set(i, new(*b.records[j]))
	}
	return t.At(i)
}

// block returns a block that no snapshot has.
func (t *Table[T]) block(k int) *block[T] {
	if b := t.blocks[k]; b.edition != t.edition {
		t.blocks[k] = &block[T]{edition: t.edition, records: append(make([]*T, 0, size), b.records...)}
	}
	return t.blocks[k]
}
