package conformance_test

import (
	"slices"
	"testing"
)

// The tests of this file fail on what a change has forgotten, and name it.

// same compares two sets of names and tells those that only one of them has.
func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	for _, name := range distinct(want) {
		if !slices.Contains(got, name) {
			t.Errorf("%s: %s is missing", what, name)
		}
	}
	for _, name := range distinct(got) {
		if !slices.Contains(want, name) {
			t.Errorf("%s: %s is too many", what, name)
		}
	}
}

func distinct(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
