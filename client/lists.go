package client

import (
	"context"
	"iter"
)

// Lists manages lists of contacts. (Specification: Lists and contacts.)
type Lists struct{ x exchange }

// Create creates an empty list. Call [Lists.AcceptPolicy] before you send to the
// list.
func (s *Lists) Create(ctx context.Context, list ListCreate) (List, error) {
	return do(ctx, s.x, createListRequest(list), readList)
}

// Get returns a list.
func (s *Lists) Get(ctx context.Context, listID int64) (List, error) {
	return do(ctx, s.x, getListRequest(listID), readList)
}

// AcceptPolicy accepts the anti-spam policy of a list. Until the policy is
// accepted, sending to the list returns [ErrPolicyNotAccepted]. AcceptPolicy
// is idempotent.
func (s *Lists) AcceptPolicy(ctx context.Context, listID int64) error {
	return perform(ctx, s.x, acceptListPolicyRequest(listID), nil)
}

// Find returns the oldest list with the given name. It requests all lists, 100
// per request, because the platform cannot filter them by name. If no list has
// the name, the error is [ErrNotFound]. If the name is empty, the error is
// [ErrValidation].
func (s *Lists) Find(ctx context.Context, name string) (List, error) {
	is := func(l List) bool { return l.Name == name }
	return find(ctx, s.x, readListPage, listListsRequest(ListListsParams{}), "name", name, is)
}

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

// List returns one page of lists, oldest first.
func (s *Lists) List(ctx context.Context, params ListListsParams) (ListPage, error) {
	return do(ctx, s.x, listListsRequest(params), readListPage)
}

// All iterates over all items, starting at params.Page. See Pagination in the
// package documentation.
func (s *Lists) All(ctx context.Context, params ListListsParams, opts ...IterOption) iter.Seq2[List, error] {
	return paginate(ctx, s.x, readListPage, listListsRequest(params), opts)
}

func (p ListPage) items() ([]List, Pagination) { return p.Data, p.Pagination }
