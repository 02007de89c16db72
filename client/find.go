package client

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
)

// maxPerPage is the maximum number of items on a page. (Specification: Not shown.)
const maxPerPage = 100

// ensure returns the item that find() returns. If find() returns ErrNotFound,
// ensure calls create(). Afterwards, ensure calls find() again, because another
// process may have created an item at the same time. With the second call of
// find(), all processes get the oldest item. The second result is the item that
// ensure created, if any.
func ensure[T any](find, create func() (T, error)) (first, own T, err error) {
	if first, err = find(); !errors.Is(err, ErrNotFound) {
		return first, own, err
	}
	if own, err = create(); err != nil {
		return own, own, err
	}
	if first, err = find(); err != nil {
		return own, own, err
	}
	return first, own, nil
}

// find returns the first item that is() accepts. The parameter r is the request
// that lists the items. The parameter what names the searched field in error
// messages, for example "email".
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
