package platform

import (
	"iter"
	"slices"
	"strconv"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// Pages are counted from 1 (specification, "Limits").
const (
	defaultPerPage = 50
	maxPerPage     = 100
)

// pageRequest is what a paged endpoint was asked for.
type pageRequest struct {
	page, perPage int64
	withCount     bool
}

// paging reads the parameters of a paged endpoint; zero is left out.
func paging(page, perPage int64, withCount bool) (pageRequest, error) {
	if page == 0 {
		page = 1
	}
	if perPage == 0 {
		perPage = defaultPerPage
	}
	if page < 1 {
		return pageRequest{}, problem.Invalid("pages are numbered from 1", "query", "page")
	}
	if perPage < 1 || perPage > maxPerPage {
		return pageRequest{}, problem.Invalid("want 1 to "+strconv.Itoa(maxPerPage), "query", "per_page")
	}
	return pageRequest{page, perPage, withCount}, nil
}

// bounds returns which of n items the page holds, as a slice expression takes
// them. A page past the end is empty.
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
		count := int64(n)
		out.Count = &count
	}
	return out
}

// pageOf returns one page of items as the API shows them.
func pageOf[T, W any](p pageRequest, items []T, wire func(T) W) ([]W, api.Pagination) {
	from, to := p.bounds(len(items))
	return pageFrom(p, len(items), slices.Values(items[from:to]), wire)
}

// pageOfOrder does the same for items that are kept in an order.
func pageOfOrder[T, W any](p pageRequest, items *order[T], wire func(T) W) ([]W, api.Pagination) {
	from, _ := p.bounds(items.Len())
	return pageFrom(p, items.Len(), items.From(from), wire)
}

// pageFrom returns the page of n items that begins with the first of these.
func pageFrom[T, W any](p pageRequest, n int, items iter.Seq[T], wire func(T) W) ([]W, api.Pagination) {
	from, to := p.bounds(n)
	data := make([]W, 0, to-from)
	for item := range items {
		if len(data) == to-from {
			break
		}
		data = append(data, wire(item))
	}
	return data, p.pagination(n)
}
