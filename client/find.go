package client

import (
	"context"
	"errors"
	"fmt"

	"example.com/emailplatform/internal/json/jsonscan"
)

// maxPerPage is the maximum number of items on a page. (Specification: Not shown.)
const maxPerPage = 100

// If find() returns ErrNotFound, ensure calls create(). Afterwards, ensure
// calls find() again to get the oldest item, because another process may have
// created an item at the same time. The second result is the item that ensure
// created, if any.
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

// The parameter what is the name of the searched field, for example "email".
func find[P pager[T], T any](
	ctx context.Context, x exchange, read func(*jsonscan.Cursor) P, list request, what, name string, is func(T) bool,
) (found T, err error) {
	if name == "" {
		return found, newBadRequest(list, fmt.Errorf("%s must not be empty", what))
	}
	for item, err := range paginate(ctx, x, read, list, nil) {
		if err != nil {
			return found, err
		}
		if is(item) {
			return item, nil
		}
	}
	return found, newConclusion(list, fmt.Errorf("the %s %.200q: %w", what, name, ErrNotFound))
}
