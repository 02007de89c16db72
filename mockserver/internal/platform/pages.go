package platform

import (
	"cmp"
	"iter"
	"slices"
	"strconv"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// Pages are numbered from 1 (specification, "Limits").
const (
	defaultPerPage = 50
	maxPerPage     = 100
)

// pageRequest contains the parameters of a paged request.
type pageRequest struct {
	page, perPage int64
	withCount     bool
}

// paging checks the parameters of a paged request. 0 means that a parameter is
// omitted.
func paging(page, perPage int64, withCount bool) (pageRequest, error) {
	p := pageRequest{cmp.Or(page, 1), cmp.Or(perPage, defaultPerPage), withCount}
	if p.page < 1 {
		return pageRequest{}, problem.Invalid("pages are numbered from 1", "query", "page")
	}
	if p.perPage < 1 || p.perPage > maxPerPage {
		return pageRequest{}, problem.Invalid("must be from 1 to "+strconv.Itoa(maxPerPage), "query", "per_page")
	}
	return p, nil
}

// bounds returns the start and end indexes of the page in n items. A page past the end
// is empty.
func (p pageRequest) bounds(n int) (from, to int) {
	if p.page-1 > int64(n)/p.perPage {
		return n, n
	}
	from = int((p.page - 1) * p.perPage)
	return from, min(n, from+int(p.perPage))
}

func (p pageRequest) pagination(n int) api.Pagination {
	out := api.Pagination{Page: p.page, PerPage: p.perPage}
	if p.withCount {
		out.Count = new(int64(n))
	}
	return out
}

// pageOf returns one page of n items for an API response. The function from() yields the
// items, starting at the given rank. The parameters page and perPage are 0 if the
// request omits them.
func pageOf[T, W any](
	n int, from func(rank int) iter.Seq[T], page, perPage int64, withCount bool, wire func(T) W,
) ([]W, api.Pagination, error) {
	p, err := paging(page, perPage, withCount)
	if err != nil {
		return nil, api.Pagination{}, err
	}
	first, end := p.bounds(n)
	data := make([]W, 0, end-first)
	for item := range from(first) {
		if len(data) == end-first {
			break
		}
		data = append(data, wire(item))
	}
	return data, p.pagination(n), nil
}

// ranked returns a function for pageOf that iterates over a slice.
func ranked[T any](items []T) func(rank int) iter.Seq[T] {
	return func(rank int) iter.Seq[T] { return slices.Values(items[rank:]) }
}
