// Package cut keeps records as they were at one moment while they go on
// changing, so that all of them can be written down without anybody waiting.
//
// Records stand in a slice that only grows, and are changed in place behind a
// mutex of their owner. A cut remembers the slice, which costs nothing however
// long it is; whoever changes a record says so before, and the cut keeps a copy
// of it. Who reads the cut takes the mutex for a few records at a time.
package cut

import (
	"iter"
	"slices"
	"sync"
)

// Source knows the cuts of one slice of records. Its owner's mutex guards it.
// The zero value is ready.
type Source[T any] struct {
	cuts []*Cut[T]
}

// Changing must be called before a record is changed in place.
func (s *Source[T]) Changing(x *T) {
	for _, c := range s.cuts {
		if _, known := c.was[x]; !known {
			c.was[x] = *x
		}
	}
}

// Left returns a source for records that are taken out of the slice: cuts that
// there are learn of their changes, later ones do not.
func (s *Source[T]) Left() *Source[T] { return &Source[T]{cuts: slices.Clone(s.cuts)} }

// Take returns the records as they are now, until Release. Of the slice, what
// there is now must stay as it is. What is in the records behind a pointer, in a
// slice or in a map is shared: it may be replaced, but not changed.
func (s *Source[T]) Take(all []*T) *Cut[T] {
	c := &Cut[T]{source: s, all: slices.Clip(all), was: map[*T]T{}}
	s.cuts = append(s.cuts, c)
	return c
}

// Cut is what records were at one moment.
type Cut[T any] struct {
	source *Source[T]
	all    []*T
	was    map[*T]T // those that have changed since, as they were
}

// Release ends a cut: it can be read no more, but a later one can still tell what
// has changed since. The owner's mutex must be held.
func (c *Cut[T]) Release() {
	c.source.cuts = slices.DeleteFunc(c.source.cuts, func(other *Cut[T]) bool { return other == c })
}

// Len is how many records there were.
func (c *Cut[T]) Len() int { return len(c.all) }

// All iterates over copies of the records in their order. A copy is good until
// the next one. mu is the owner's mutex, which is free while the loop's body runs.
func (c *Cut[T]) All(mu sync.Locker) iter.Seq[*T] {
	return c.copies(slices.Values(c.all), len(c.all), mu)
}

// Since iterates over copies of the records that were changed after an earlier
// cut of the same source, which was released when this one was taken, of those that are named
// besides, and then of those that were added, in their order.
func (c *Cut[T]) Since(earlier *Cut[T], mu sync.Locker, besides ...*T) iter.Seq[*T] {
	changed, added := map[*T]bool{}, c.all[len(earlier.all):]
	for x := range earlier.was {
		changed[x] = true
	}
	for _, x := range besides {
		changed[x] = true
	}
	for _, x := range added {
		delete(changed, x) // what was made and changed since
	}
	return c.copies(func(yield func(*T) bool) {
		for x := range changed {
			if !yield(x) {
				return
			}
		}
		slices.Values(added)(yield)
	}, len(changed)+len(added), mu)
}

// chunk is how many records are copied before others get their turn.
const chunk = 256

// copies iterates over copies of n records.
func (c *Cut[T]) copies(records iter.Seq[*T], n int, mu sync.Locker) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		n = min(n, chunk)
		pointers, copies := make([]*T, 0, n), make([]T, n)
		flush := func() bool {
			c.copyInto(copies, pointers, mu)
			for i := range pointers {
				if !yield(&copies[i]) {
					return false
				}
			}
			pointers = pointers[:0]
			return true
		}
		for x := range records {
			if pointers = append(pointers, x); len(pointers) == n && !flush() {
				return
			}
		}
		if len(pointers) > 0 {
			flush()
		}
	}
}

func (c *Cut[T]) copyInto(copies []T, pointers []*T, mu sync.Locker) {
	mu.Lock()
	defer mu.Unlock()
	for i, x := range pointers {
		if was, changed := c.was[x]; changed {
			copies[i] = was
		} else {
			copies[i] = *x
		}
	}
}
