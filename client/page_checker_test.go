package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestItemsAddedInFront: items are added to a list that is read newest first. The iteration yields each earlier item, or
// ends with ErrListChanged.
func TestItemsAddedInFront(t *testing.T) {
	for _, depth := range []int{0, 1, 3} {
		for added := 1; added <= 7; added++ {
			for after := 1; after <= 6; after++ {
				names := []string{"9", "8", "7", "6", "5", "4", "3", "2", "1", "0"}
				requests := 0
				var mu sync.Mutex // pages are prefetched
				c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
					mu.Lock()
					defer mu.Unlock()
					if requests++; requests == after+1 {
						for i := range added {
							names = append([]string{"new" + strconv.Itoa(i)}, names...)
						}
					}
					n, _ := strconv.Atoi(r.URL.Query().Get("page"))
					page := TagPage{Data: []Tag{}, Pagination: Pagination{Page: int64(n), PerPage: 2}}
					for _, name := range names[min(2*n-2, len(names)):min(2*n, len(names))] {
						page.Data = append(page.Data, Tag{Name: name})
					}
					b, err := json.Marshal(page)
					return respond(200, string(b)), err
				})
				got, err := collect(t, c, ListTagsParams{PerPage: 2}, Prefetch(depth))
				if errors.Is(err, ErrListChanged) {
					continue
				}
				for i := range 10 {
					assert.Contains(t, got, strconv.Itoa(i), "%d added after request %d: %v", added, after, err)
				}
				assert.NoError(t, err)
			}
		}
	}
}

// TestChangedItems: an iteration identifies items by their ids, because other fields change during the iteration.
func TestChangedItems(t *testing.T) {
	requests := 0
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		requests++
		n := min(requests, 2)
		if r.URL.Query().Get("page") == "1" {
			n = 1
		}
		return respond(200, fmt.Sprintf(`{"data":[{"id":%d,"bounces_count":%d}],"pagination":{"per_page":1}}`, n, requests)), nil
	})
	n := 0
	for _, err := range c.Contacts.All(t.Context(), 1, ListContactsParams{}) {
		assert.NoError(t, err)
		n++
	}
	assert.Equal(t, 2, n, "items")
}

// TestItemsThatDifferInTheirIDs: each type of item has an id, so two pages are different even if only the ids
// differ.
func TestItemsThatDifferInTheirIDs(t *testing.T) {
	count := func(item string, all func(*Client) func(func() bool)) {
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			n, _ := strconv.Atoi(cmp.Or(r.URL.Query().Get("page"), "1"))
			data := []string{}
			for i := 2 * n; n <= 3 && i < 2*n+2; i++ {
				data = append(data, strings.Replace(item, "ID", strconv.Itoa(i), 1))
			}
			return respond(200, `{"data":[`+strings.Join(data, ",")+`],"pagination":{"per_page":2}}`), nil
		})
		n := 0
		for range all(c) {
			n++
		}
		assert.Equal(t, 6, n, "items like %s", item)
	}
	count(`{"template_id":ID}`, func(c *Client) func(func() bool) { return each(t, c.Templates.All(t.Context(), ListTemplatesParams{})) })
	count(`{"list_id":ID}`, func(c *Client) func(func() bool) { return each(t, c.Lists.All(t.Context(), ListListsParams{})) })
	count(`{"id":ID}`, func(c *Client) func(func() bool) {
		return each(t, c.Contacts.All(t.Context(), 1, ListContactsParams{}))
	})
	count(`{"name":"ID"}`, func(c *Client) func(func() bool) { return each(t, c.Tags.All(t.Context(), ListTagsParams{})) })
	count(`{"campaign_id":ID}`, func(c *Client) func(func() bool) { return each(t, c.Campaigns.All(t.Context(), ListCampaignsParams{})) })
	count(`{"list_id":1,"workflow_id":"ID"}`, func(c *Client) func(func() bool) {
		return each(t, c.Workflows.All(t.Context(), ListWorkflowsParams{}))
	})
	count(`{"email":"ID@x"}`, func(c *Client) func(func() bool) {
		return each(t, c.SuppressedEmails.All(t.Context(), ListSuppressedEmailsParams{}))
	})
	count(`{"webhook_id":"ID"}`, func(c *Client) func(func() bool) { return each(t, c.Webhooks.All(t.Context(), ListWebhooksParams{})) })
}

func each[T any](t *testing.T, all iter.Seq2[T, error]) func(func() bool) {
	t.Helper()
	return func(yield func() bool) {
		for _, err := range all {
			if !assert.NoError(t, err) || !yield() {
				return
			}
		}
	}
}

// TestWrongPageSize: if the platform reports a larger page size than it returns, each page looks like the last one.
// Nevertheless, a single refused or repeated page does not end the list.
func TestWrongPageSize(t *testing.T) {
	full := pagesOf(slices.Repeat([]int{50}, 45)...)
	list := func(change func(asked int, page string, pages [][]string) ([][]string, bool)) *Client {
		pages, asked := full, 0
		return newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			asked++
			page := r.URL.Query().Get("page")
			var refused bool
			if pages, refused = change(asked, page, pages); refused {
				return respond(400, ""), nil
			}
			srv := tagPages{pages: pages, perPage: 100}
			return srv.RoundTrip(r)
		})
	}
	got, err := collect(t, list(func(asked int, _ string, pages [][]string) ([][]string, bool) { return pages, asked == 3 }), ListTagsParams{})
	require.Len(t, got, 45*50, "one rejection")
	assert.NoError(t, err, "one rejection")
	got, err = collect(t, list(func(_ int, page string, pages [][]string) ([][]string, bool) { return pages, page == "41" }), ListTagsParams{})
	require.Len(t, got, 2000, "a limit of the depth")
	assert.ErrorIs(t, err, ErrValidation, "a limit of the depth")
	got, err = collect(t, list(func(asked int, _ string, pages [][]string) ([][]string, bool) {
		if asked == 3 {
			pages = append([][]string{{"new"}}, pages...)
		}
		return pages, false
	}), ListTagsParams{})
	require.Len(t, got, 100, "items added in front")
	assert.ErrorIs(t, err, ErrListChanged, "items added in front")
}

// TestListGrows: the list grows during the iteration, so another page follows a short page.
func TestListGrows(t *testing.T) {
	before, after := &tagPages{pages: pagesOf(3, 2), perPage: 3}, &tagPages{pages: pagesOf(3, 3, 2), perPage: 3}
	var asked []string
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL.Query().Get("page"))
		if len(asked) <= 2 {
			return before.RoundTrip(r)
		}
		return after.RoundTrip(r)
	})
	got, err := collect(t, c, ListTagsParams{})
	assert.Equal(t, "[0 1 2 3 4 6 7]", fmt.Sprint(got))
	require.NoError(t, err)
	assert.Equal(t, "[1 2 3 4]", fmt.Sprint(asked))
}

// TestListChanges: if a response counts fewer items than an earlier response, the iteration ends with ErrListChanged
// after all items.
func TestListChanges(t *testing.T) {
	for name, tc := range map[string]struct {
		counts     []int64
		want       error
		prefetched error // the error with Prefetch
	}{
		"same":                     {[]int64{5, 5, 5}, nil, nil},
		"longer":                   {[]int64{5, 6, 6}, ErrInvalidResponse, ErrInvalidResponse}, // the list ends after page 3
		"shorter":                  {[]int64{5, 4, 4}, ErrListChanged, ErrListChanged},
		"shorter at the last page": {[]int64{5, 5, 4}, ErrListChanged, ErrListChanged},
		"longer, then shorter":     {[]int64{5, 6, 5}, ErrListChanged, nil}, // pages 2 and 3 can be processed in any order
	} {
		for _, depth := range []int{0, 1, 3} {
			want := tc.want
			if depth > 0 {
				want = tc.prefetched
			}
			srv := &tagPages{pages: pagesOf(2, 2, 1), perPage: 2, counts: tc.counts}
			names, err := collect(t, newBubbleClient(t, srv.RoundTrip), ListTagsParams{}, Prefetch(depth))
			require.Len(t, names, 5, "%+v", depth)
			assert.ErrorIs(t, err, want, "%+v", depth)
			assert.Equal(t, want == nil, err == nil, "%+v", depth)
			if errors.Is(err, ErrListChanged) && errors.Is(err, ErrInvalidResponse) {
				t.Errorf("%s: %v is also an invalid response", name, err)
			}
		}
	}
}

// TestPaginationLoop: if the platform repeats a cycle of several pages, the iteration ends with an error.
func TestPaginationLoop(t *testing.T) {
	for circle := 1; circle <= 9; circle++ {
		for before := range 5 {
			pages := pagesOf(slices.Repeat([]int{2}, before+circle)...)
			var asked int
			c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
				asked++
				n, _ := strconv.Atoi(r.URL.Query().Get("page"))
				if n > before {
					n = before + (n-before-1)%circle + 1
				}
				p := pages[n-1]
				return respond(200, fmt.Sprintf(`{"data":[{"name":%q},{"name":%q}],"pagination":{"per_page":2}}`, p[0], p[1])), nil
			})
			if _, err := collect(t, c, ListTagsParams{}); circle > 1 && !errors.Is(err, ErrListChanged) || asked > 4*(before+circle)+4 {
				t.Errorf("a cycle of %d pages after %d: %v after %d pages", circle, before, err, asked)
			}
		}
	}
}

// TestCountAtEndOfList: a list with fewer items than its count is an error, unless skipped pages can contain the rest.
func TestCountAtEndOfList(t *testing.T) {
	for name, tc := range map[string]struct {
		w    pageChecker[Tag]
		good bool
	}{
		"all":                       {pageChecker[Tag]{count: 7, seen: 7, largest: 3, pageSize: 3}, true},
		"too few":                   {pageChecker[Tag]{count: 7, seen: 6, largest: 3, pageSize: 3}, false},
		"too few, no page size":     {pageChecker[Tag]{count: 7, seen: 6, largest: 3}, false},
		"the rest":                  {pageChecker[Tag]{count: 7, seen: 4, largest: 3, pageSize: 3, skipped: 1}, true},
		"too few of the rest":       {pageChecker[Tag]{count: 7, seen: 3, largest: 3, pageSize: 3, skipped: 1}, false},
		"the rest, no page size":    {pageChecker[Tag]{count: 7, seen: 1, largest: 1, skipped: 1}, true},
		"as many as can be skipped": {pageChecker[Tag]{count: 7, seen: 1, pageSize: 3, skipped: 1 << 62}, true},
		"nothing is counted":        {pageChecker[Tag]{seen: 1}, true},
	} {
		if err := tc.w.atEnd(); (err == nil) != tc.good {
			t.Errorf("%s: %v, want an error: %v", name, err, !tc.good)
		}
	}
}
