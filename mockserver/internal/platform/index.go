package platform

// This file contains sets and sort orders of slots. A slot is the position of a
// record in a slice. With a million records, finding a page takes microseconds.

import (
	"iter"
	"math/bits"
	"slices"
	"sort"
)

// insertSlot inserts a slot into a sorted slice, unless the slice already contains it.
func insertSlot(sorted []uint32, slot uint32) []uint32 {
	if n := len(sorted); n == 0 || sorted[n-1] < slot {
		return append(sorted, slot)
	}
	i, found := slices.BinarySearch(sorted, slot)
	if found {
		return sorted
	}
	return slices.Insert(sorted, i, slot)
}

// slotSet is a set of slots, with one bit per slot.
type slotSet []uint64

func (s *slotSet) Add(slot uint32) {
	word := int(slot / 64)
	for len(*s) <= word {
		*s = append(*s, 0)
	}
	(*s)[word] |= 1 << (slot % 64)
}

// Remove removes a slot, which must be in the set.
func (s slotSet) Remove(slot uint32) { s[slot/64] &^= 1 << (slot % 64) }

func (s slotSet) Has(slot uint32) bool {
	return int(slot/64) < len(s) && s[slot/64]&(1<<(slot%64)) != 0
}

// Count returns the number of slots in the set or, if within is not nil, in the
// intersection of both sets.
func (s slotSet) Count(within slotSet) int {
	n := 0
	for i := range s {
		n += bits.OnesCount64(s.word(i, within))
	}
	return n
}

// among returns the number of the given slots that are in the set.
func (s slotSet) among(slots []uint32) (n int) {
	for _, slot := range slots {
		if word := int(slot / 64); word < len(s) {
			n += int(s[word] >> (slot % 64) & 1)
		}
	}
	return n
}

// word returns a 64-bit word of the intersection of two sets. If the second set is
// nil, word returns a word of the first set.
func (s slotSet) word(i int, within slotSet) uint64 {
	switch {
	case within == nil:
		return s[i]
	case i < len(within):
		return s[i] & within[i]
	}
	return 0
}

// From yields the slots in ascending order, starting at the given rank. Ranks start at
// 0. If the second set is not nil, From yields the intersection of both sets. To reach
// the rank, From skips 64 bits at a time.
func (s slotSet) From(rank int, within slotSet) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := range s {
			word := s.word(i, within)
			if n := bits.OnesCount64(word); n <= rank {
				rank -= n
				continue
			}
			for ; word != 0; word &= word - 1 {
				if rank--; rank < 0 && !yield(uint32(i*64+bits.TrailingZeros64(word))) {
					return
				}
			}
			rank = 0
		}
	}
}

// Ordered yields the slots of the set in the given order, starting at the given rank.
// Ordered also reads all slots before the given rank. Reading half a million slots
// takes a millisecond.
func (s slotSet) Ordered(by *order[uint32], rank int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for _, block := range by.blocks {
			if n := s.among(block); n <= rank {
				rank -= n
				continue
			}
			for _, slot := range block {
				if !s.Has(slot) {
					continue
				}
				if rank--; rank < 0 && !yield(slot) {
					return
				}
			}
			rank = 0
		}
	}
}

// order contains sorted items in blocks. An insertion or a removal moves only items in
// one block. A search for a rank skips whole blocks.
type order[T any] struct {
	// Compare compares two items, and returns 0 only for identical items.
	Compare func(a, b T) int

	blocks [][]T // each block has at least one item and fewer than blockSize items
	n      int
}

const blockSize = 1024

func (o *order[T]) Len() int { return o.n }

func (o *order[T]) Insert(item T) {
	o.n++
	if len(o.blocks) == 0 {
		o.blocks = [][]T{{item}}
		return
	}
	b := o.block(item)
	block := o.blocks[b]
	i, _ := slices.BinarySearchFunc(block, item, o.Compare)
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
	b := sort.Search(len(o.blocks), func(i int) bool { return o.Compare(o.blocks[i][0], item) > 0 })
	return max(0, b-1)
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
