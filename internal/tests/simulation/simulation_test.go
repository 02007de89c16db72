package simulation

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestInvariants runs random plans. If an invariant is violated, the test prints the shortest failing plan as Go code,
// and its trace.
func TestInvariants(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // a run leaves little garbage
	rapid.Check(t, func(r *rapid.T) {
		if run := Simulate(t, plans().Draw(r, "plan")); len(run.Violations) > 0 {
			r.Log(run.Trace)
			r.Fatal(run.violated())
		}
	})
}

func TestSamePlanSameTrace(t *testing.T) {
	build, _ := debug.ReadBuildInfo()
	if slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector has goroutines run in a random order")
	}
	for seed := range 6 {
		plan := plans().Example(seed)
		want := Simulate(t, plan).Trace
		for range 2 {
			if got := Simulate(t, plan).Trace; got != want {
				t.Fatalf("seed %d:\n%s\nand then:\n%s", seed, want, got)
			}
		}
	}
}

// TestFindsLostKeys: the store of this plan loses keys, so a repeated delivery has two effects.
func TestFindsLostKeys(t *testing.T) {
	run := Simulate(t, Plan{Seed: 3, Replicas: 1, Store: withoutKeys, Clients: []Client{{MaxAttempts: 1, Timeout: 15 * time.Second}}, Steps: []Step{
		{time.Minute, Send{}},
		{2 * time.Minute, Cut{On: "replica1"}}, // the response is lost, and the event is delivered again
		{3 * time.Minute, React{Bounces}},
	}})
	if len(run.Violations) == 0 || run.Violations[0].Invariant != exactlyOnce {
		t.Fatalf("violations: %q\n%s", run.violated(), run.Trace)
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
