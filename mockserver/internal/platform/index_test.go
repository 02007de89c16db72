package platform

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrder compares an order with a slice that is sorted anew, over random
// changes that split its blocks and empty them again.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	keys := make([]int, 5*blockSize)
	for i := range keys {
		keys[i] = random.IntN(100)
	}
	o := order[uint32]{Compare: func(a, b uint32) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) }}
	var want []uint32
	check := func() {
		t.Helper()
		slices.SortFunc(want, o.Compare)
		if got := slices.Collect(o.All); !slices.Equal(got, want) {
			t.Fatalf("%d slots, want %d in another order", len(got), len(want))
		}
	}
	check()
	for slot := range keys {
		o.Insert(uint32(slot))
		want = append(want, uint32(slot))
	}
	check()
	for n := range keys {
		i := random.IntN(len(want))
		o.Remove(want[i])
		want = slices.Delete(want, i, i+1)
		if n%500 == 0 {
			check()
		}
	}
	if len(o.blocks) != 0 {
		t.Errorf("%d blocks are left", len(o.blocks))
	}
}

func TestSet(t *testing.T) {
	var s slotSet
	for _, slot := range []uint32{200, 3, 64, 63, 3} {
		s.Add(slot)
	}
	s.Remove(64)
	if got, want := slices.Collect(s.All), []uint32{3, 63, 200}; !slices.Equal(got, want) || s.Count(nil) != 3 {
		t.Errorf("got %v, %d of them; want %v", got, s.Count(nil), want)
	}
	for _, sorted := range [][]uint32{{}, {0}, {3, 63, 200}} {
		if got := slices.Collect(slotSetOf(sorted).All); !slices.Equal(got, sorted) || slotSetOf(sorted) == nil {
			t.Errorf("the set of %v holds %v", sorted, got)
		}
	}
	for slot, want := range map[uint32]bool{3: true, 64: false, 200: true, 10_000: false} {
		if s.Has(slot) != want {
			t.Errorf("Has(%d) is %v", slot, !want)
		}
	}
}

func TestInsertSlot(t *testing.T) {
	var got []uint32
	for _, slot := range []uint32{5, 1, 9, 5, 3, 9} {
		got = insertSlot(got, slot)
	}
	if want := []uint32{1, 3, 5, 9}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestFrom compares ranks with places in the slice of what is iterated over.
func TestFrom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 63, 64, 200, 5 * blockSize} {
		o := order[uint32]{Compare: cmp.Compare[uint32]}
		var s, within slotSet
		for slot := range uint32(n) {
			o.Insert(slot)
			if random.IntN(3) > 0 {
				s.Add(slot)
			}
			if random.IntN(2) > 0 && slot < uint32(n)/2 {
				within.Add(slot)
			}
		}
		within = append(slotSet{}, within...) // not nil, which is everything
		var both []uint32
		for slot := range s.All {
			if within.Has(slot) {
				both = append(both, slot)
			}
		}
		if got := s.Count(within); got != len(both) || o.Len() != n {
			t.Errorf("%d in both, want %d; %d of %d", got, len(both), o.Len(), n)
		}
		for name, row := range map[string]struct {
			from func(rank int) iter.Seq[uint32]
			want []uint32
		}{
			"a set":            {func(rank int) iter.Seq[uint32] { return s.From(rank, nil) }, slices.Collect(s.All)},
			"both sets":        {func(rank int) iter.Seq[uint32] { return s.From(rank, within) }, both},
			"the other way":    {func(rank int) iter.Seq[uint32] { return within.From(rank, s) }, both},
			"an order":         {func(rank int) iter.Seq[uint32] { return o.From(rank) }, slices.Collect(o.All)},
			"some of an order": {func(rank int) iter.Seq[uint32] { return s.Ordered(&o, rank) }, slices.Collect(s.All)},
		} {
			for _, rank := range []int{0, 1, len(row.want) / 2, len(row.want) - 1, len(row.want), len(row.want) + 1} {
				if rank < 0 {
					continue
				}
				if got, want := slices.Collect(row.from(rank)), row.want[min(rank, len(row.want)):]; !slices.Equal(got, want) {
					t.Errorf("%s of %d from %d: %d slots, want %d, or others", name, n, rank, len(got), len(want))
				}
				for range row.from(rank) { // who has enough leaves
					break
				}
			}
		}
	}
}
