package client

import "errors"

// ensure returns the oldest item, as find() reports it. If find() returns ErrNotFound,
// ensure calls create(). It then calls find() again, because another process may have
// created an older item in the meantime. The second result is the item that ensure
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
