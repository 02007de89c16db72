package simulation

import (
	"strings"
	"testing"
)

// Replay carries a plan out, and fails if an invariant does not hold, with the
// trace.
func Replay(t *testing.T, plan Plan) {
	t.Helper()
	run := Simulate(t, plan)
	for _, v := range run.Violations {
		t.Errorf("%s: %s\n\t%s promises: %q", v.Invariant.Name, v.What, v.Invariant.Source, v.Invariant.Sentence)
	}
	if t.Failed() {
		t.Logf("the run:\n%s", run.Trace)
	}
}

// Explore carries a plan out. If an invariant does not hold, the test fails with the
// shortest plan that shows it, as a test that can be pasted.
func Explore(t *testing.T, plan Plan) Stats {
	t.Helper()
	run := Simulate(t, plan)
	if len(run.Violations) == 0 {
		return run.Stats
	}
	short := Shrink(t, run)
	t.Errorf("seed %d: %s\n%s", plan.Seed, told(short.Violations), short.Plan.Test())
	t.Logf("the run:\n%s", short.Trace)
	return run.Stats
}

func told(violations []Violation) string {
	var lines []string
	for _, v := range violations {
		lines = append(lines, v.Invariant.Name+": "+v.What)
	}
	return strings.Join(lines, "\n")
}
