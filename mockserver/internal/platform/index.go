package platform

// This file contains sort orders. With a million items, finding a page takes
// microseconds.

import (
	"iter"
	"slices"
	"sort"
)

// order contains sorted items in blocks. An insertion or a removal moves only items in
// one block. A search for a rank skips whole blocks.
type order[T any] struct {
	// Compare compares two items, and returns 0 only for identical items.
	Compare func(a, b T) int

	blocks [][]T // each block has at least one item and fewer than blockSize items
	n      int
}

const blockSize = 1024

// Len returns the number of items, and 0 if the order is nil.
func (o *order[T]) Len() int {
	if o == nil {
		return 0
	}
	return o.n
}

// Insert inserts an item, unless the order already contains it.
func (o *order[T]) Insert(item T) {
	if len(o.blocks) == 0 {
		o.blocks = [][]T{nil}
	}
	b := o.block(item)
	block := o.blocks[b]
	i := len(block)
	if i > 0 && o.Compare(block[i-1], item) >= 0 { // a new record usually belongs at the end
		var found bool
		if i, found = slices.BinarySearchFunc(block, item, o.Compare); found {
			return
		}
	}
	o.n++
	block = slices.Insert(block, i, item)
	o.blocks[b] = block
	if len(block) == blockSize {
		half := append(make([]T, 0, blockSize), block[blockSize/2:]...)
		clear(block[blockSize/2:])
		o.blocks[b] = block[:blockSize/2]
		o.blocks = slices.Insert(o.blocks, b+1, half)
	}
}

// Remove removes an item whose sort key has not changed since its insertion.
func (o *order[T]) Remove(item T) {
	o.n--
	b := o.block(item)
	i, _ := slices.BinarySearchFunc(o.blocks[b], item, o.Compare)
	o.blocks[b] = slices.Delete(o.blocks[b], i, i+1)
	if len(o.blocks[b]) == 0 {
		o.blocks = slices.Delete(o.blocks, b, b+1)
	}
}

// block returns the index of the last block whose first item does not follow the given
// item, or 0 if there is none.
func (o *order[T]) block(item T) int {
	last := len(o.blocks) - 1
	if last > 0 && o.Compare(o.blocks[last][0], item) <= 0 {
		return last
	}
	return sort.Search(last, func(i int) bool { return o.Compare(o.blocks[i+1][0], item) > 0 })
}

// rank returns the number of items that do not follow the given item.
func (o *order[T]) rank(item T) (n int) {
	if len(o.blocks) == 0 {
		return 0
	}
	b := o.block(item)
	for _, block := range o.blocks[:b] {
		n += len(block)
	}
	return n + sort.Search(len(o.blocks[b]), func(i int) bool { return o.Compare(o.blocks[b][i], item) > 0 })
}

// From yields the items in sorted order, starting at the given rank. Ranks start at 0.
func (o *order[T]) From(rank int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, block := range o.blocks {
			skipped := min(rank, len(block))
			for _, item := range block[skipped:] {
				if !yield(item) {
					return
				}
			}
			rank -= skipped
		}
	}
}

// among yields the slots of an order that are also in a set, starting at the given rank.
// The set contains 1 for each slot in it, and 0 for the other slots. Reading half a
// million slots before the rank takes a millisecond.
func among(all *order[uint32], set []uint8, rank int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for _, block := range all.blocks {
			n := 0
			for _, slot := range block {
				n += int(set[slot])
			}
			if n <= rank {
				rank -= n
				continue
			}
			for _, slot := range block {
				if set[slot] == 0 {
					continue
				}
				if rank--; rank < 0 && !yield(slot) {
					return
				}
			}
		}
	}
}
