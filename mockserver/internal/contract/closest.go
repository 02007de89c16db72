package contract

import (
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/suggest"
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
		distance := 2 * suggest.Distance(suggest.Fill(o.Path, path), path)
		if o.Method != method {
			distance++
		}
		if distance < least {
			best, least = &o, distance
		}
	}
	return best
}
