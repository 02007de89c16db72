package simulation

import (
	"fmt"
	"strings"
	"testing"
)

// Explore carries a plan out. If an invariant does not hold, the test fails with the shortest plan that shows it, as Go
// code for Explore, and with the trace of its run.
func Explore(t *testing.T, plan Plan) Stats {
	t.Helper()
	run := Simulate(t, plan)
	if len(run.Violations) > 0 {
		short := run
		if !*whole {
			short = Shrink(t, run)
		}
		t.Errorf("seed %d: %s\n%#v\n%s", plan.Seed, short.violated(), short.Plan, short.Trace)
	}
	return run.Stats
}

// violated returns a line for each violation.
func (r Run) violated() string {
	var lines []string
	for _, v := range r.Violations {
		lines = append(lines, fmt.Sprintf("%s: %s", v.Invariant, v.What))
	}
	return strings.Join(lines, "\n")
}
