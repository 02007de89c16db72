package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
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

	// decodes tells that encoding/json decides, so that each release of Go has
	// figures of its own.
	decodes bool

	// slice is what a slice takes at the least; 0 is localTime or sliceTime.
	slice time.Duration

	// setup returns the contenders, ours first.
	setup func(*arena) ([]contender, error)
}

// contender does the work once.
type contender struct {
	name string
	op   func() error

	// want is the target: at least so many times our time; 0 is none.
	want float64

	// most is a target of ours alone: at most so much time; 0 is none.
	most time.Duration

	// spent returns what is measured, as a sum since any moment; nil is the time.
	spent func() (time.Duration, error)

	// begin begins a turn, with a new process; nil is none. Then each turn is one
	// slice of one operation, and their mean counts.
	begin func() error
}

// arena is what the contenders of one contest run in.
type arena struct {
	ctx     context.Context
	client  *http.Client // keeps a connection for each of those that call at once
	cleanup []func()
}

func newArena(ctx context.Context) *arena {
	return &arena{ctx: ctx, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}}
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
	least         time.Duration
	turns         []time.Duration // the fastest slice of each, for one operation
	starts        []int           // how many turns there had been when each run began
	allocs, bytes uint64          // of one operation
}

// of is the fastest of some turns, or the mean of those of new processes, of which
// one may be luckier than another.
func (r *runner) of(turns []time.Duration) time.Duration {
	if r.begin == nil {
		return slices.Min(turns)
	}
	sum := time.Duration(0)
	for _, t := range turns {
		sum += t
	}
	return sum / time.Duration(len(turns))
}

func (r *runner) result() time.Duration { return r.of(r.turns) }

// results are those of the runs.
func (r *runner) results() (all []time.Duration) {
	for i, start := range r.starts {
		end := len(r.turns)
		if i+1 < len(r.starts) {
			end = r.starts[i+1]
		}
		all = append(all, r.of(r.turns[start:end]))
	}
	return all
}

const (
	localTime = 500 * time.Microsecond // on one goroutine: less than the system gives a thread at once
	sliceTime = 4 * time.Millisecond
	turnTime  = 60 * time.Millisecond
)

// A target is met that most of the runs meet: the fastest slice of all would tell
// of the best moment of a machine, and a single run of one bad moment.
const (
	runs = 5
	most = 4
)

// sliceTime returns what a slice takes at the least.
func (c contest) sliceTime() time.Duration {
	switch {
	case c.slice > 0:
		return c.slice
	case c.local:
		return localTime
	}
	return sliceTime
}

// enter sets the contest up and finds how many operations make a slice.
func enter(ctx context.Context, c contest) (*entered, error) {
	e := &entered{contest: c, arena: *newArena(ctx)}
	contenders, err := c.setup(&e.arena)
	if err != nil {
		e.close()
		return nil, err
	}
	least := c.sliceTime()
	for _, c := range contenders {
		r := &runner{contender: c, perSlice: 1, least: least}
		e.runners = append(e.runners, r)
		if err := r.size(); err != nil {
			e.close()
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return e, nil
}

// size finds how many operations make a slice: one, if it has a new process, so that
// all do as much there.
func (r *runner) size() error {
	if r.begin != nil {
		return r.turn()
	}
	for {
		took, err := r.slice()
		if err != nil {
			return err
		}
		r.turns = append(r.turns, took/time.Duration(r.perSlice))
		if took >= r.least/2 || r.perSlice >= 1<<20 {
			return nil
		}
		r.perSlice *= 2
	}
}

// slice returns what the operations of one slice took.
func (r *runner) slice() (time.Duration, error) {
	begin := time.Now()
	spent := r.spent
	if spent == nil {
		spent = func() (time.Duration, error) { return time.Since(begin), nil }
	}
	before, err := spent()
	if err != nil {
		return 0, err
	}
	for range r.perSlice {
		if err := r.op(); err != nil {
			return 0, err
		}
	}
	after, err := spent()
	return after - before, err
}

// startRun begins a run.
func (e *entered) startRun() {
	for _, r := range e.runners {
		r.starts = append(r.starts, len(r.turns))
	}
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
	length := max(turnTime, r.least)
	if r.begin != nil {
		length = 0
		if err := r.begin(); err != nil {
			return err
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ops, best := uint64(0), time.Hour
	for start := time.Now(); ops == 0 || time.Since(start) < length; {
		took, err := r.slice()
		if err != nil {
			return err
		}
		best = min(best, took/time.Duration(r.perSlice))
		ops += uint64(r.perSlice)
	}
	r.turns = append(r.turns, best)
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
	ours := e.runners[0]
	for i, r := range e.runners {
		result := r.result()
		rate := float64(e.items) / result.Seconds()
		times := ratio(result, ours.result())
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t%s\t", r.name, short(result), thousands(rate), times, r.verdict(i, ours))
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
func (r *runner) verdict(i int, ours *runner) string {
	t, ok := r.target(i, ours)
	if !ok {
		return ""
	}
	return t.verdict()
}

// target returns what the contender in place i has to reach, if anything.
func (r *runner) target(i int, ours *runner) (t target, ok bool) {
	switch {
	case i == 0 && r.most > 0:
		t = target{Got: short(r.result()), Want: "≤ " + short(r.most)}
		for _, result := range r.results() {
			t.count(result <= r.most)
		}
	case i > 0 && r.want > 0:
		t = target{Got: fmt.Sprintf("%.2f", ratio(r.result(), ours.result())), Want: fmt.Sprintf("≥ %.2f", r.want)}
		beside := ours.results()
		for run, result := range r.results() {
			t.count(ratio(result, beside[run]) >= r.want)
		}
	default:
		return target{}, false
	}
	return t, true
}

// targets returns those of all contenders.
func (e *entered) targets() (all []target) {
	for i, r := range e.runners {
		if t, ok := r.target(i, e.runners[0]); ok {
			t.What = e.name + ": " + r.name
			all = append(all, t)
		}
	}
	return all
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
