package client

import (
	"context"
	"errors"
)

// Lists manages lists of contacts. (Specification: Lists and contacts.)
type Lists struct{ handler handler }

// Ensure returns the oldest list with the name list.Name. If no list has the name,
// Ensure creates a list. If several processes call Ensure at the same time, all get
// the same list. Empty duplicate lists can remain, because the API cannot delete
// lists. Call [Lists.AcceptPolicy] before you send to the list.
//
// If a request fails, even with [ErrOutcomeUnknown], call Ensure again. If the name is
// empty, the error is [ErrValidation].
func (s *Lists) Ensure(ctx context.Context, list ListCreate) (List, error) {
	first, _, err := ensure(
		func() (List, error) { return s.Find(ctx, list.Name) },
		func() (List, error) { return s.Create(ctx, list) },
	)
	return first, err
}

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
