package platform

// Sets and orders of slots, the places of records in a slice that only grows. They
// find any page of a million records in some microseconds.

import (
	"iter"
	"math/bits"
	"slices"
	"sort"
)

// insertSlot puts a slot into its place among sorted ones, unless it is there.
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

// slotSet is a set of slots, a bit for each.
type slotSet []uint64

// slotSetOf returns the set of sorted slots.
func slotSetOf(sorted []uint32) slotSet {
	if len(sorted) == 0 {
		return slotSet{}
	}
	s := make(slotSet, sorted[len(sorted)-1]/64+1)
	for _, slot := range sorted {
		s[slot/64] |= 1 << (slot % 64)
	}
	return s
}

// Add puts a slot into the set.
func (s *slotSet) Add(slot uint32) {
	if word := int(slot / 64); word >= len(*s) {
		*s = append(*s, make([]uint64, word+1-len(*s))...)
	}
	(*s)[slot/64] |= 1 << (slot % 64)
}

// Remove takes a slot out that is in.
func (s slotSet) Remove(slot uint32) { s[slot/64] &^= 1 << (slot % 64) }

// Has reports whether a slot is in the set.
func (s slotSet) Has(slot uint32) bool {
	return int(slot/64) < len(s) && s[slot/64]&(1<<(slot%64)) != 0
}

// Count returns how many slots are in the set, and in the other one unless that is
// nil.
func (s slotSet) Count(within slotSet) int {
	n := 0
	for i := range s {
		n += bits.OnesCount64(s.word(i, within))
	}
	return n
}

// among returns how many of some slots are in the set.
func (s slotSet) among(slots []uint32) (n int) {
	for _, slot := range slots {
		if word := int(slot / 64); word < len(s) {
			n += int(s[word] >> (slot % 64) & 1)
		}
	}
	return n
}

// word returns 64 slots of those that are in both sets; a nil set holds all.
func (s slotSet) word(i int, within slotSet) uint64 {
	switch {
	case within == nil:
		return s[i]
	case i < len(within):
		return s[i] & within[i]
	}
	return 0
}

// All iterates over the set, from the least slot on.
func (s slotSet) All(yield func(uint32) bool) { s.From(0, nil)(yield) }

// From iterates over the set from a rank on, which is 0 for the least slot. If
// within is not nil, only what is in both sets counts. What comes before is passed
// over 64 slots at a time.
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

// Ordered iterates over the set as an order has its slots, from a rank on. What comes
// before is only counted, but it is looked at: half a million take a millisecond.
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

// order keeps items sorted in blocks: an insertion or a removal moves half a block
// at most, and what is far from the start is found by passing over whole blocks.
type order[T any] struct {
	// Compare says which of two items comes first. No two may be equal.
	Compare func(a, b T) int

	blocks [][]T // none is empty, nor has blockSize items
	n      int
}

const blockSize = 1024

// Len returns how many items there are.
func (o *order[T]) Len() int { return o.n }

// Insert puts an item into its place.
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

// Remove takes an item out that is in; what it is sorted by must not have changed
// yet.
func (o *order[T]) Remove(item T) {
	o.n--
	b := o.block(item)
	i, _ := slices.BinarySearchFunc(o.blocks[b], item, o.Compare)
	o.blocks[b] = slices.Delete(o.blocks[b], i, i+1)
	if len(o.blocks[b]) == 0 {
		o.blocks = slices.Delete(o.blocks, b, b+1)
	}
}

// block returns the block that an item belongs into: the last one that does not
// begin after it, or the first.
func (o *order[T]) block(item T) int {
	b := sort.Search(len(o.blocks), func(i int) bool { return o.Compare(o.blocks[i][0], item) > 0 })
	return max(0, b-1)
}

// All iterates over the items in their order.
func (o *order[T]) All(yield func(T) bool) { o.From(0)(yield) }

// From iterates over the items from a rank on, which is 0 for the first.
func (o *order[T]) From(rank int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, block := range o.blocks {
			if len(block) <= rank {
				rank -= len(block)
				continue
			}
			for _, item := range block[rank:] {
				if !yield(item) {
					return
				}
			}
			rank = 0
		}
	}
}
