// Package suggest finds the name that was probably meant by one that nobody
// knows, and says so in a line.
package suggest

import (
	"slices"
	"strings"
)

// maxLength is how many bytes of a name are compared at the most.
const maxLength = 100

// Closest returns the known name that is most like another one, without case,
// or "" if none has half of it in common.
func Closest(name string, known []string) string {
	if len(name) > maxLength {
		return ""
	}
	best, least := "", 0
	for _, right := range known {
		distance := Distance(strings.ToLower(name), strings.ToLower(right))
		if 2*distance < max(len(name), len(right)) && (best == "" || distance < least) {
			best, least = right, distance
		}
	}
	return best
}

// Unknown says that there is no such what, which one was probably meant, and
// which there are.
func Unknown(what, name string, known []string) string {
	if len(known) == 0 {
		return "no such " + what + ": there is none here"
	}
	list := strings.Join(slices.Sorted(slices.Values(known)), ", ")
	if right := Closest(name, known); right != "" {
		return "no such " + what + ": did you mean " + right + "? There are " + list
	}
	return "no such " + what + ": there are " + list
}

// Distance counts the bytes to insert, remove, replace, or swap with the next one
// in a to have b.
func Distance(a, b string) int {
	var before []int // the row before the previous one
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

// Fill returns the pattern of a path with what another path has in the place of
// each of its names in braces.
func Fill(pattern, path string) string {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i := range want {
		if i < len(got) && strings.HasPrefix(want[i], "{") {
			want[i] = got[i]
		}
	}
	return strings.Join(want, "/")
}
