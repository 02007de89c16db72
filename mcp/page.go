package mcp

import (
	"cmp"
	"fmt"

	"example.com/emailplatform/client"
)

// The default and the maximum number of items per page. The platform may return fewer
// items than requested.
const (
	defaultPerPage = 50
	maxPerPage     = 100 // the platform's maximum
)

type pageInput struct {
	Page    int64 `json:"page"`
	PerPage int64 `json:"per_page"`
}

func (in pageInput) withDefaults() pageInput {
	return pageInput{Page: cmp.Or(in.Page, 1), PerPage: cmp.Or(in.PerPage, defaultPerPage)}
}

type pageOutput struct {
	Page     int64  `json:"page"`
	PerPage  int64  `json:"per_page"`
	Count    *int64 `json:"count,omitzero"`     // nil if the platform does not return a count
	NextPage int64  `json:"next_page,omitzero"` // 0 on the last page
	Omitted  int    `json:"omitted,omitzero"`
}

func pageProperties() []property {
	return []property{
		{"page", integer("The number of this page, from 1.", 1)},
		{"per_page", integer("The maximum number of items on a page.", 1)},
		{"count", integer("The total number of items. Absent if the platform does not return it.", 0)},
		{"next_page", integer("The number of the next page. Absent on the last page.", 2)},
		{"omitted", integer("The number of items omitted because the page contains more than 100 items.", 1)},
	}
}

// bound truncates the items of a page to the maximum for a result, and describes the page.
// If the response and the request contain different page values, the description uses the
// values of the response.
func bound[T any](in pageInput, items []T, p client.Pagination) ([]T, pageOutput) {
	out := pageOutput{Page: cmp.Or(max(p.Page, 0), in.Page), PerPage: cmp.Or(max(p.PerPage, 0), in.PerPage)}
	more := int64(len(items)) >= out.PerPage
	if p.Count > 0 || len(items) == 0 && out.Page == 1 {
		out.Count = &p.Count
		more = (p.Count-1)/out.PerPage >= out.Page
	}
	if more {
		out.NextPage = out.Page + 1
	}
	out.Omitted = max(0, len(items)-maxPerPage)
	return items[:len(items)-out.Omitted], out
}

// summary returns text such as "Page 3: 23 of 123; this is the last
// page".
func (p pageOutput) summary(shown int) string {
	if p.Count != nil && *p.Count > 0 {
		if last := (*p.Count-1)/p.PerPage + 1; p.Page > last {
			return fmt.Sprintf("Page %d is after the last page; the total is %d, and the last page is page %d", p.Page, *p.Count, last)
		}
	}
	s := fmt.Sprintf("Page %d: %d", p.Page, shown)
	if p.Count != nil {
		s += fmt.Sprintf(" of %d", *p.Count)
	}
	if p.Omitted > 0 {
		s += fmt.Sprintf("; %d more on this page were omitted; use a smaller per_page or a filter", p.Omitted)
	}
	if p.NextPage > 0 {
		return s + fmt.Sprintf("; for more, call again with page %d and the same other arguments", p.NextPage)
	}
	return s + "; this is the last page"
}
