// Package slots keeps sets and orders of slots: the places of items in a slice
// that only grows. An index made of them finds any page of a million items in
// a few milliseconds.
package slots

import (
	"math/bits"
	"slices"
	"sort"
)

// Insert puts a slot into its place among sorted ones, unless it is there.
func Insert(sorted []uint32, slot uint32) []uint32 {
	if n := len(sorted); n == 0 || sorted[n-1] < slot {
		return append(sorted, slot)
	}
	i, found := slices.BinarySearch(sorted, slot)
	if found {
		return sorted
	}
	return slices.Insert(sorted, i, slot)
}

// Set is a set of slots, a bit for each.
type Set []uint64

// Add puts a slot into the set.
func (s *Set) Add(slot uint32) {
	if word := int(slot / 64); word >= len(*s) {
		*s = append(*s, make([]uint64, word+1-len(*s))...)
	}
	(*s)[slot/64] |= 1 << (slot % 64)
}

// Remove takes a slot out that is in.
func (s Set) Remove(slot uint32) { s[slot/64] &^= 1 << (slot % 64) }

// Has reports whether a slot is in the set.
func (s Set) Has(slot uint32) bool {
	return int(slot/64) < len(s) && s[slot/64]&(1<<(slot%64)) != 0
}

// Count returns how many slots are in the set.
func (s Set) Count() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// All iterates over the set, from the least slot on.
func (s Set) All(yield func(uint32) bool) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(uint32(i*64 + bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}

// Order keeps slots sorted in blocks: an insertion moves half a block at most.
type Order struct {
	// Compare says which of two slots comes first. No two may be equal.
	Compare func(a, b uint32) int

	blocks [][]uint32 // none is empty
}

const blockSize = 1024

// Insert puts a slot into its place.
func (o *Order) Insert(slot uint32) {
	b := o.block(slot)
	if b == len(o.blocks) {
		o.blocks = append(o.blocks, append(make([]uint32, 0, blockSize), slot))
		return
	}
	block := o.blocks[b]
	i, _ := slices.BinarySearchFunc(block, slot, o.Compare)
	block = slices.Insert(block, i, slot)
	o.blocks[b] = block
	if len(block) == blockSize {
		half := append(make([]uint32, 0, blockSize), block[blockSize/2:]...)
		o.blocks[b] = block[:blockSize/2]
		o.blocks = slices.Insert(o.blocks, b+1, half)
	}
}

// Remove takes a slot out that is in; what it is sorted by must not have
// changed yet.
func (o *Order) Remove(slot uint32) {
	b := o.block(slot)
	i, _ := slices.BinarySearchFunc(o.blocks[b], slot, o.Compare)
	o.blocks[b] = slices.Delete(o.blocks[b], i, i+1)
	if len(o.blocks[b]) == 0 {
		o.blocks = slices.Delete(o.blocks, b, b+1)
	}
}

// block returns the block that slot belongs into: the last one that does not
// begin after it, or the first.
func (o *Order) block(slot uint32) int {
	b := sort.Search(len(o.blocks), func(i int) bool { return o.Compare(o.blocks[i][0], slot) > 0 })
	return max(0, b-1)
}

// All iterates over the slots in their order.
func (o *Order) All(yield func(uint32) bool) {
	for _, block := range o.blocks {
		for _, slot := range block {
			if !yield(slot) {
				return
			}
		}
	}
}
