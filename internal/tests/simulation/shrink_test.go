package simulation

import (
	"slices"
	"testing"
)

// Shrink leaves out one step after the other for as long as the same invariant does not hold, and returns the last run
// in which it does not.
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
