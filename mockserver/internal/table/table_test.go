package table

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

const size = 1000

func values(all []*int) (out []int) {
	for _, x := range all {
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
	if got := values(first); !slices.Equal(got, want) || len(first) != len(want) {
		t.Errorf("the first copy is %v", got)
	}
	want[5] = -1
	assert.Equal(t, want, values(second), "the second copy")
	want[5], want[3*size+6], want[0] = -2, -3, -4
	if got := values(slices.Collect(all.All())); !slices.Equal(got, append(want, -5)) || all.Len() != len(want)+1 {
		t.Errorf("the table is %v", got)
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

// Snapshots are read without a lock while the table changes. Each snapshot is consistent, so the sum of its
// records is always the same.
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
				for _, x := range now {
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
