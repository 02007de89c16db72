package client

import (
	"context"
	"iter"
)

// Tags lists the tags of the account's contacts. (Specification: Contact.)
type Tags struct{ x exchange }

// List returns one page of the account's tags.
func (s *Tags) List(ctx context.Context, params ListTagsParams) (TagPage, error) {
	return do(ctx, s.x, listTagsRequest(params), readTagPage)
}

// All iterates over all items, starting at params.Page. See Pagination in the
// package documentation.
func (s *Tags) All(ctx context.Context, params ListTagsParams, opts ...IterOption) iter.Seq2[Tag, error] {
	return paginate(ctx, s.x, readTagPage, listTagsRequest(params), opts)
}

func (p TagPage) items() ([]Tag, Pagination) { return p.Data, p.Pagination }
