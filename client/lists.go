package client

import (
	"context"
	"iter"
)

// Lists hold contacts. (Specification: Lists and contacts.)
type Lists struct{ x exchange }

// Create creates an empty list. It can be sent to after [Lists.AcceptPolicy].
func (s *Lists) Create(ctx context.Context, list ListCreate) (List, error) {
	return do(ctx, s.x, createListRequest(list), readList)
}

// Get returns a list.
func (s *Lists) Get(ctx context.Context, listID int64) (List, error) {
	return do(ctx, s.x, getListRequest(listID), readList)
}

// AcceptPolicy accepts the anti-spam policy of a list, without which sending to
// it is [ErrPolicyNotAccepted]. Accepting again changes nothing and succeeds.
func (s *Lists) AcceptPolicy(ctx context.Context, listID int64) error {
	return perform(ctx, s.x, acceptListPolicyRequest(listID), nil)
}

// Find returns the list with exactly this name: the oldest, if several have it.
// The platform has no filter for that, so Find looks through the pages of List, of
// 100 each, until it is found. If there is none, the error is [ErrNotFound]; no
// name is [ErrValidation].
func (s *Lists) Find(ctx context.Context, name string) (List, error) {
	params := ListListsParams{PerPage: maxPerPage}
	return find(s.All(ctx, params), listListsRequest(params), "name", name, func(l List) bool { return l.Name == name })
}

// List returns one page of lists, the oldest first.
func (s *Lists) List(ctx context.Context, params ListListsParams) (ListPage, error) {
	return do(ctx, s.x, listListsRequest(params), readListPage)
}

// All iterates over the items of List, from params.Page on. See Pagination in
// the package documentation.
func (s *Lists) All(ctx context.Context, params ListListsParams, opts ...IterOption) iter.Seq2[List, error] {
	return paginate(ctx, s.x, readListPage, params.Page, opts, func(page int64) request {
		params := params
		params.Page = page
		return listListsRequest(params)
	})
}

func (p ListPage) items() ([]List, Pagination) { return p.Data, p.Pagination }
