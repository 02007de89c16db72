package contract

import (
	"slices"
	"strings"
)

// Known names an operation of the API's document.
type Known struct {
	Operation string `json:"operation"`
	Method    string `json:"method"`
	Path      string `json:"path"`
}

// List returns all operations, sorted by path and method.
func (c *Contract) List() []Known {
	out := make([]Known, 0, len(c.Operations))
	for _, o := range c.Operations {
		out = append(out, Known{o.ID, o.Method, o.Path})
	}
	slices.SortFunc(out, func(a, b Known) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	return out
}

// Closest returns the operation that a request which no operation takes most
// probably meant, or nil if there is none like it.
func (c *Contract) Closest(method, path string) *Known {
	var best *Known
	if len(path) > 1000 {
		return nil
	}
	least := len(path) // half of the path is different: no resemblance
	for _, o := range c.List() {
		distance := 2 * editDistance(likePath(o.Path, path), path)
		if o.Method != method {
			distance++
		}
		if distance < least {
			best, least = &o, distance
		}
	}
	return best
}

// likePath fills the names in braces with what the path has in their place.
func likePath(pattern, path string) string {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i := range want {
		if i < len(got) && strings.HasPrefix(want[i], "{") {
			want[i] = got[i]
		}
	}
	return strings.Join(want, "/")
}

// editDistance counts the bytes to insert, remove or replace.
func editDistance(a, b string) int {
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
		}
		previous = current
	}
	return previous[len(b)]
}
