package client

import (
	"fmt"
	"iter"
	"net/http"
)

// maxPerPage is the most items that a page holds. (Specification: Not shown.)
const maxPerPage = 100

// find returns the first item that is what is looked for by what, an address or a
// name. That there is none is an error of r, the request for all of them.
func find[T any](all iter.Seq2[T, error], r request, what, name string, is func(T) bool) (found T, err error) {
	if name == "" {
		e := newError(r, fmt.Errorf("%s: want one, not an empty text", what))
		e.badRequest = true
		return found, e
	}
	for item, err := range all {
		if err != nil {
			return found, err
		}
		if is(item) {
			return item, nil
		}
	}
	e := newError(r, fmt.Errorf("the %s %.200q: %w", what, name, ErrNotFound))
	e.StatusCode = http.StatusOK
	return found, e
}
