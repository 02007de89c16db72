package client

import (
	"fmt"
	"iter"
	"net/http"
)

// maxPerPage is the maximum number of items of a page. (Specification: Not shown.)
const maxPerPage = 100

// find returns the first item that matches. what and name describe the item in
// errors. r is the request that lists all items.
func find[T any](all iter.Seq2[T, error], r request, what, name string, is func(T) bool) (found T, err error) {
	if name == "" {
		e := newError(r, fmt.Errorf("%s must not be empty", what))
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
