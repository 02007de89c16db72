package cut

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// shelf is an owner of records: numbers that only it changes.
type shelf struct {
	mu     sync.Mutex
	source Source[int]
	all    []*int
}

func (s *shelf) add(n int) { s.all = append(s.all, &n) }

func (s *shelf) set(i, n int) {
	s.source.Changing(s.all[i])
	*s.all[i] = n
}

func (s *shelf) take() *Cut[int] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Take(s.all)
}

func (s *shelf) release(c *Cut[int]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Release()
}

func values(seq func(func(*int) bool)) (out []int) {
	for n := range seq {
		out = append(out, *n)
	}
	return out
}

// A cut is what there was, whatever happens while it is read; other cuts have
// what there was at their time.
func TestCutStandsStill(t *testing.T) {
	var s shelf
	var want []int
	for i := range 3*chunk + 7 {
		s.add(i)
		want = append(want, i)
	}
	first := s.take()
	s.set(5, -1)
	second := s.take()
	var got []int
	for n := range first.All(&s.mu) {
		got = append(got, *n)
		s.mu.Lock() // which is free
		s.set(len(s.all)-1, -2)
		s.set(len(got)-1, -3)
		s.add(-4)
		s.mu.Unlock()
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	want[5] = -1
	if got := values(second.All(&s.mu)); !slices.Equal(got, want) {
		t.Errorf("the second: got %v", got)
	}
	for range first.All(&s.mu) {
		break // leaves the mutex free
	}
	if !s.mu.TryLock() {
		t.Fatal("the mutex is held")
	}
	first.Release()
	second.Release()
	if len(s.source.cuts) != 0 {
		t.Errorf("%d cuts are left", len(s.source.cuts))
	}
}

// What has changed between two cuts, put over the first, is the second.
func TestSince(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s shelf
	is := map[*int]int{}
	last := s.take()
	for round := range 200 {
		for range random.IntN(20) {
			s.add(random.Int())
		}
		for range random.IntN(20) {
			if len(s.all) > 0 {
				s.set(random.IntN(len(s.all)), random.Int())
			}
		}
		next := s.take()
		s.release(last)
		want := values(next.All(&s.mu))
		if len(s.all) > 0 {
			s.set(0, random.Int()) // after the cut
		}
		n := 0
		changed := map[int]bool{}
		for x := range next.Since(last, &s.mu) {
			changed[*x] = true
			n++
		}
		if n != len(changed) {
			t.Fatalf("round %d: %d records, %d of them different", round, n, len(changed))
		}
		for i, x := range next.all {
			if before, known := is[x]; known && before != want[i] || !known {
				if !changed[want[i]] {
					t.Fatalf("round %d: record %d is not among those that changed", round, i)
				}
			}
			is[x] = want[i]
		}
		last = next
	}
}

// Readers and writers at once, for the race detector: the sum of the records
// stays what it is in every cut.
func TestCutAmidChanges(t *testing.T) {
	var s shelf
	for range 1000 {
		s.add(10)
	}
	done := make(chan struct{})
	var busy sync.WaitGroup
	busy.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			s.mu.Lock()
			from, to := i%1000, (i*7+1)%1000
			s.set(from, *s.all[from]-1)
			s.set(to, *s.all[to]+1)
			s.mu.Unlock()
		}
	})
	for range 3 {
		busy.Go(func() {
			for range 100 {
				c, sum := s.take(), 0
				for n := range c.All(&s.mu) {
					sum += *n
				}
				if sum != 10_000 {
					t.Errorf("the sum is %d", sum)
				}
				s.release(c)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			select {
			case <-done:
			default:
				close(done)
			}
		})
	}
	busy.Wait()
}
