package table

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func values(c Copy[int]) (out []int) {
	for x := range c.All() {
		out = append(out, *x)
	}
	return out
}

// Later changes of the table do not change a snapshot.
func TestSnapshotNeverChanges(t *testing.T) {
	var all Table[int]
	var want []int
	for i := range 3*size + 7 {
		all.Add(&i)
		want = append(want, i)
	}
	first := all.Snapshot()
	*all.Edit(5) = -1
	second := all.Snapshot()
	*all.Edit(5) = -2
	*all.Edit(3*size + 6) = -3
	all.Set(0, new(-4))
	all.Add(new(-5))
	if got := values(first); !slices.Equal(got, want) || first.Len() != len(want) {
		t.Errorf("the first copy is %v", got)
	}
	want[5] = -1
	assert.Equal(t, want, values(second), "the second copy")
	want[5], want[3*size+6], want[0] = -2, -3, -4
	if got := values(all.Copy); !slices.Equal(got, append(want, -5)) || all.Len() != len(want)+1 {
		t.Errorf("the table is %v", got)
	}
	var backward []int
	for x := range second.Backward() {
		backward = append(backward, *x)
	}
	if slices.Reverse(backward); !slices.Equal(backward, values(second)) {
		t.Errorf("backward: %v", backward)
	}
}

// Edit returns the same record until the next snapshot.
func TestEditTwice(t *testing.T) {
	var all Table[int]
	all.Add(new(1))
	all.Snapshot()
	if first := all.Edit(0); first != all.Edit(0) || first != all.At(0) {
		t.Error("each call returns another copy of the record")
	}
	added := new(2)
	if all.Add(added); all.Edit(1) != added {
		t.Error("a record that was just added is copied")
	}
}

// Since returns the records that changed after an earlier snapshot.
func TestSince(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all Table[int]
	last := all.Snapshot()
	for round := range 200 {
		changed := map[int]bool{}
		for range random.IntN(50) {
			changed[all.Len()] = true
			all.Add(new(all.Len()))
		}
		for range random.IntN(20) {
			if all.Len() > 0 {
				i := random.IntN(all.Len())
				changed[i] = true
				*all.Edit(i) = i
			}
		}
		next := all.Snapshot()
		want, got := []int{}, []int{}
		for i := range next.Len() {
			if changed[i] {
				want = append(want, i)
			}
		}
		for x := range next.Since(last) {
			got = append(got, *x)
		}
		require.Equal(t, want, got, "round %d", round)
		last = next
	}
	for range last.All() {
		break // a reader can stop early
	}
	for range last.Backward() {
		break
	}
}

// Snapshots are read without a lock while the table changes. The sum of the records is the same in each snapshot.
func TestReadersAndWriters(t *testing.T) {
	var mu sync.Mutex
	var all Table[int]
	for range 2 * size {
		all.Add(new(10))
	}
	var busy sync.WaitGroup
	for range 2 {
		busy.Go(func() {
			for range 100 {
				mu.Lock()
				now := all.Snapshot()
				mu.Unlock()
				sum := 0
				for x := range now.All() {
					sum += *x
				}
				assert.Equal(t, 20*size, sum, "the sum")
			}
		})
		busy.Go(func() {
			for i := range 10_000 {
				mu.Lock()
				*all.Edit(i % (2 * size))--
				*all.Edit((i*7 + 1) % (2 * size))++
				mu.Unlock()
			}
		})
	}
	busy.Wait()
}
