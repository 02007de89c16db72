package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
	"time"
)

// contest compares what several contenders need for the same work.
type contest struct {
	name  string
	items int    // that one operation handles
	unit  string // what the items are

	// local tells that all the work happens on one goroutine, so that the
	// allocations are the contender's own.
	local bool

	// setup returns the contenders, ours first.
	setup func(*arena) ([]contender, error)
}

// contender does the work once.
type contender struct {
	name string
	op   func() error

	// want is the target: at least so many times our time; 0 is none.
	want float64
}

// arena is what the contenders of one contest run in.
type arena struct {
	ctx     context.Context
	cleanup []func()
}

func (a *arena) close() {
	for _, f := range a.cleanup {
		f()
	}
}

// entered is a contest that is under way.
type entered struct {
	contest
	arena
	runners []*runner
}

type runner struct {
	contender
	perSlice      int // operations
	best          time.Duration
	allocs, bytes uint64 // of one operation
}

const (
	sliceTime = 4 * time.Millisecond
	turnTime  = 60 * time.Millisecond
)

// enter sets the contest up and finds how many operations make a slice.
func enter(ctx context.Context, c contest) (*entered, error) {
	e := &entered{contest: c, arena: arena{ctx: ctx}}
	contenders, err := c.setup(&e.arena)
	if err != nil {
		e.close()
		return nil, err
	}
	for _, c := range contenders {
		r := &runner{contender: c, perSlice: 1, best: time.Hour}
		e.runners = append(e.runners, r)
		for {
			took, err := r.slice()
			if err != nil {
				e.close()
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			r.best = min(r.best, took/time.Duration(r.perSlice))
			if took >= sliceTime/2 || r.perSlice >= 1<<20 {
				break
			}
			r.perSlice *= 2
		}
	}
	return e, nil
}

// slice returns what the operations of one slice took.
func (r *runner) slice() (time.Duration, error) {
	start := time.Now()
	for range r.perSlice {
		if err := r.op(); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// round gives each contender a turn, another one first in each round.
func (e *entered) round(n int) error {
	for i := range e.runners {
		r := e.runners[(i+n)%len(e.runners)]
		if err := e.Err(); err != nil {
			return err
		}
		if err := r.turn(); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (a *arena) Err() error { return a.ctx.Err() }

// turn keeps the fastest slice. It starts with a clean heap, so that nobody
// pays for the garbage of the one before.
func (r *runner) turn() error {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ops := uint64(0)
	for start := time.Now(); ops == 0 || time.Since(start) < turnTime; {
		took, err := r.slice()
		if err != nil {
			return err
		}
		r.best = min(r.best, took/time.Duration(r.perSlice))
		ops += uint64(r.perSlice)
	}
	runtime.ReadMemStats(&after)
	r.allocs = (after.Mallocs - before.Mallocs) / ops
	r.bytes = (after.TotalAlloc - before.TotalAlloc) / ops
	return nil
}

func (e *entered) print(w io.Writer) {
	fmt.Fprintf(w, "%s (%d %s)\n", e.name, e.items, e.unit)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	header := "\ttime\t" + e.unit + "/s\ttimes ours\ttarget\t"
	if e.local {
		header += "bytes\tallocations\t"
	}
	fmt.Fprintln(t, header)
	ours := e.runners[0].best
	for i, r := range e.runners {
		rate := float64(e.items) / r.best.Seconds()
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t%s\t", r.name, short(r.best), thousands(rate), ratio(r.best, ours), r.verdict(i, ours))
		if e.local {
			fmt.Fprintf(t, "%d\t%d\t", r.bytes, r.allocs)
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // to standard output
	fmt.Fprintln(w)
}

func ratio(other, ours time.Duration) float64 { return float64(other) / float64(ours) }

// verdict says whether the target is met.
func (r *runner) verdict(i int, ours time.Duration) string {
	switch {
	case i == 0 || r.want == 0:
		return ""
	case ratio(r.best, ours) >= r.want:
		return fmt.Sprintf("≥ %.2f met", r.want)
	default:
		return fmt.Sprintf("≥ %.2f MISSED", r.want)
	}
}

// short rounds to three or four digits.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return d.String()
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fµs", float64(d)/float64(time.Microsecond))
	default:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	}
}

func thousands(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.2fM", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.0fk", n/1e3)
	default:
		return fmt.Sprintf("%.0f", n)
	}
}
