// Package suggest finds the known name that is most similar to an unknown name.
package suggest

import (
	"slices"
	"strings"
)

// maxLength is the maximum length of a compared name, in bytes.
const maxLength = 100

// Closest returns the known name that is most similar to name, ignoring case. If at
// least half of the characters differ from every known name, it returns "".
func Closest(name string, known []string) string {
	if len(name) > maxLength {
		return ""
	}
	best, least := "", 0
	for _, right := range known {
		if d, similar := similarity(name, right); similar && (best == "" || d < least) {
			best, least = right, d
		}
	}
	return best
}

// ClosestPath returns the index of the pattern that is most similar to the path, or -1. It
// compares only the segments that are not parameters, because a parameter fits any segment.
func ClosestPath(path string, patterns []string) int {
	if len(path) > maxLength {
		return -1
	}
	best, least := -1, 0
	for i, pattern := range patterns {
		d, similar := similarity(literals(path, pattern), literals(pattern, pattern))
		if similar && (best < 0 || d < least) {
			best, least = i, d
		}
	}
	return best
}

// literals returns the path without the segments that are parameters in the pattern.
func literals(path, pattern string) string {
	parts := strings.Split(pattern, "/")
	var kept []string
	for i, segment := range strings.Split(path, "/") {
		if segment == "" || i >= len(parts) || !strings.HasPrefix(parts[i], "{") {
			kept = append(kept, segment)
		}
	}
	return strings.Join(kept, "/")
}

// similarity returns the distance of two names, ignoring case, and whether more than half of the characters agree.
func similarity(name, known string) (d int, similar bool) {
	d = distance(strings.ToLower(name), strings.ToLower(known))
	return d, 2*d < max(len(name), len(known))
}

// Unknown returns an error message for an unknown name, with its kind and all valid
// names. If a valid name is similar, the message suggests it.
func Unknown(kind, name string, known []string) string {
	if len(known) == 0 {
		return "unknown " + kind + ": none is allowed here"
	}
	list := strings.Join(slices.Sorted(slices.Values(known)), ", ")
	if right := Closest(name, known); right != "" {
		return "unknown " + kind + ": did you mean " + right + "? Must be one of " + list
	}
	return "unknown " + kind + ": must be one of " + list
}

// distance returns the minimum number of edits that turn one name into the other. An
// edit inserts, removes or replaces a byte, or swaps two adjacent bytes.
func distance(a, b string) int {
	var before []int // the row before the previous row
	previous := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
		current := make([]int, len(b)+1)
		current[0] = i + 1
		for j := range len(b) {
			replace := previous[j]
			if a[i] != b[j] {
				replace++
			}
			current[j+1] = min(replace, previous[j+1]+1, current[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				current[j+1] = min(current[j+1], before[j-1]+1)
			}
		}
		before, previous = previous, current
	}
	return previous[len(b)]
}

// Fill replaces the names in braces in a pattern with the segments of a path.
func Fill(pattern, path string) string {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i := range want {
		if i < len(got) && strings.HasPrefix(want[i], "{") {
			want[i] = got[i]
		}
	}
	return strings.Join(want, "/")
}
