package platform

import (
	"cmp"
	"strconv"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
)

// Pages are numbered from 1 (specification, "Limits").
type pageRequest struct {
	page, perPage int64
	withCount     bool
}

// paging checks the parameters of a paged request. The value 0 means that the request
// omits a parameter.
func paging(page, perPage int64, withCount bool) (pageRequest, error) {
	p := pageRequest{cmp.Or(page, 1), cmp.Or(perPage, api.DefaultPerPage), withCount}
	if p.page < 1 {
		return pageRequest{}, apierror.Invalid("must be 1 or more", "query", "page")
	}
	if p.perPage < 1 || p.perPage > api.MaxPerPage {
		return pageRequest{}, apierror.Invalid("must be between 1 and "+strconv.Itoa(api.MaxPerPage), "query", "per_page")
	}
	return p, nil
}

// bounds returns the start and end indexes of the page in n items. If the page is past
// the end, it is empty.
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

// pageOf returns one page of items for an API response. The parameters page and perPage
// are 0 if the request omits them.
func pageOf[T, W any](items []T, page, perPage int64, withCount bool, toAPI func(T) W) ([]W, api.Pagination, error) {
	p, err := paging(page, perPage, withCount)
	if err != nil {
		return nil, api.Pagination{}, err
	}
	from, to := p.bounds(len(items))
	data := make([]W, 0, to-from)
	for _, item := range items[from:to] {
		data = append(data, toAPI(item))
	}
	return data, p.pagination(len(items)), nil
}
