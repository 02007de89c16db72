package simulation

import (
	"flag"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	seeds = flag.Int("seeds", 60, "how many seeds to run")
	from  = flag.Uint64("from", 1, "the first seed")
	whole = flag.Bool("whole", false, "print the whole plan of a failure instead of the shortest")
)

// TestSeeds runs the plan of each seed until an invariant is violated.
func TestSeeds(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // a run leaves little garbage
	for n := 0; n < *seeds && !t.Failed(); n++ {
		Explore(t, Generate(*from+uint64(n)))
	}
}

func TestSameSeedSameTrace(t *testing.T) {
	build, _ := debug.ReadBuildInfo()
	if slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector has goroutines run in a random order")
	}
	for seed := *from; seed < *from+uint64(*seeds)/10; seed++ {
		want := Simulate(t, Generate(seed)).Trace
		for range 2 {
			if got := Simulate(t, Generate(seed)).Trace; got != want {
				t.Fatalf("seed %d:\n%s\nand then:\n%s", seed, want, got)
			}
		}
	}
}

// TestShrink: a failing plan is reduced to the steps that make it fail. The store of this plan loses keys.
func TestShrink(t *testing.T) {
	plan := Plan{Seed: 3, Replicas: 1, Store: forgetful, Clients: []Client{{MaxAttempts: 1, Timeout: 15 * time.Second}}, Steps: []Step{
		{time.Second, Lookup{}},
		{time.Minute, Send{}},
		{2 * time.Minute, Cut{On: "replica1"}}, // the response is lost, and the event is delivered again
		{3 * time.Minute, React{Bounces}},
		{4 * time.Minute, Lookup{}},
	}}
	run := Simulate(t, plan)
	if len(run.Violations) == 0 {
		t.Fatalf("the simulation does not detect the store that loses keys:\n%s", run.Trace)
	}
	short := Shrink(t, run)
	if n := len(short.Plan.Steps); n != 3 || short.Violations[0].Invariant != run.Violations[0].Invariant {
		t.Errorf("%d steps remain, want 3: %s\n%#v", n, short.violated(), short.Plan)
	}
}

// Explore runs a plan. If an invariant is violated, the test fails with the shortest failing plan as Go code, and with
// its trace.
func Explore(t *testing.T, plan Plan) {
	t.Helper()
	run := Simulate(t, plan)
	if len(run.Violations) > 0 {
		short := run
		if !*whole {
			short = Shrink(t, run)
		}
		t.Errorf("seed %d: %s\n%#v\n%s", plan.Seed, short.violated(), short.Plan, short.Trace)
	}
}

// violated returns a line for each violation.
func (r Run) violated() string {
	var lines []string
	for _, v := range r.Violations {
		lines = append(lines, fmt.Sprintf("%s: %s", v.Invariant, v.What))
	}
	return strings.Join(lines, "\n")
}

// Shrink removes steps while the same invariant is violated, and returns the last failing run.
func Shrink(t *testing.T, run Run) Run {
	t.Helper()
	for shorter := true; shorter; {
		shorter = false
		for i := range slices.Backward(run.Plan.Steps) {
			plan := run.Plan
			plan.Steps = slices.Delete(slices.Clone(plan.Steps), i, i+1)
			next := Simulate(t, plan)
			if slices.ContainsFunc(next.Violations, func(v Violation) bool { return v.Invariant == run.Violations[0].Invariant }) {
				run, shorter = next, true
			}
		}
	}
	return run
}
