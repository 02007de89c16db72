package client

import "errors"

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
