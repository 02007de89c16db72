package client

import "context"

// Lists manages lists of contacts. (Specification: Lists and contacts.)
type Lists struct{ handler handler }

// Ensure returns the oldest list with the name list.Name. If no list has the name,
// Ensure creates a list. If several processes call Ensure at the same time, several of
// them may create a list, but all calls return the same list. The other lists stay
// empty, and you cannot remove them, because the API cannot delete lists. Call
// [Lists.AcceptPolicy] before you send to the list.
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
