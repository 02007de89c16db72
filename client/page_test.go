package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type tagPages struct {
	pages   [][]string // page n is pages[n-1]; later pages are empty
	perPage int64      // per_page of the response; 0 is like a missing value
	count   int64
	counts  []int64 // count of each page; overrides count
	page    func(asked int64) int64
	silent  bool  // the response contains no page number
	fail    int64 // number of the page with the status failWith, by default 403

	failWith int

	mu    sync.Mutex
	asked []int64
}

func (p *tagPages) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	n := int64(1)
	if s := r.URL.Query().Get("page"); s != "" {
		n, _ = strconv.ParseInt(s, 10, 64)
	}
	p.mu.Lock()
	p.asked = append(p.asked, n)
	p.mu.Unlock()
	if n == p.fail {
		return respond(cmp.Or(p.failWith, 403), ""), nil
	}
	if p.page != nil {
		n = p.page(n)
	}
	out := TagPage{Data: []Tag{}, Pagination: Pagination{Page: n, PerPage: p.perPage, Count: p.count}}
	if p.silent {
		out.Pagination.Page = 0
	}
	if n >= 1 && n <= int64(len(p.counts)) {
		out.Pagination.Count = p.counts[n-1]
	}
	if n >= 1 && n <= int64(len(p.pages)) {
		for _, name := range p.pages[n-1] {
			out.Data = append(out.Data, Tag{Name: name})
		}
	}
	b, err := json.Marshal(out)
	return respond(200, string(b)), err
}

// collect returns the names that Tags.All yields and the error at its end.
func collect(t testing.TB, c *Client, params ListTagsParams, opts ...IterOption) (names []string, err error) {
	t.Helper()
	for tag, e := range c.Tags.All(t.Context(), params, opts...) {
		assert.NoError(t, err, "the iterator continues after an error")
		if err = e; err == nil {
			names = append(names, tag.Name)
		}
	}
	return names, err
}

// pagesOf returns pages of the given sizes with different items.
func pagesOf(sizes ...int) [][]string {
	pages := make([][]string, len(sizes))
	n := 0
	for i, size := range sizes {
		for range size {
			pages[i] = append(pages[i], strconv.Itoa(n))
			n++
		}
	}
	return pages
}

// firstAfter2 is the page that a platform with two pages returns if it replaces an invalid page number with 1.
func firstAfter2(n int64) int64 {
	if n > 2 {
		return 1
	}
	return n
}

func TestAll(t *testing.T) {
	for name, tc := range map[string]struct {
		srv   *tagPages
		par   ListTagsParams
		items int
		asked int // number of requests without Prefetch
		bad   error
	}{
		"nothing":                  {&tagPages{perPage: 50}, ListTagsParams{}, 0, 1, nil},
		"one short page":           {&tagPages{pages: pagesOf(3), perPage: 50}, ListTagsParams{}, 3, 2, nil},
		"one, counted":             {&tagPages{pages: pagesOf(3), perPage: 50, count: 3}, ListTagsParams{WithCount: true}, 3, 1, nil},
		"several":                  {&tagPages{pages: pagesOf(3, 3, 1), perPage: 3}, ListTagsParams{PerPage: 3}, 7, 4, nil},
		"several, counted":         {&tagPages{pages: pagesOf(3, 3, 1), perPage: 3, count: 7}, ListTagsParams{PerPage: 3, WithCount: true}, 7, 3, nil},
		"full last page":           {&tagPages{pages: pagesOf(3, 3), perPage: 3}, ListTagsParams{PerPage: 3}, 6, 4, nil},
		"from a later page":        {&tagPages{pages: pagesOf(3, 3, 1), perPage: 3}, ListTagsParams{Page: 2, PerPage: 3}, 4, 3, nil},
		"after the end":            {&tagPages{pages: pagesOf(3), perPage: 3, count: 3}, ListTagsParams{Page: 9}, 0, 1, nil},
		"per_page clamped":         {&tagPages{pages: pagesOf(3, 3, 2), perPage: 3}, ListTagsParams{PerPage: 100}, 8, 4, nil},
		"clamped, no per_page":     {&tagPages{pages: pagesOf(3, 3, 2)}, ListTagsParams{PerPage: 100}, 8, 4, nil},
		"short page, no per_page":  {&tagPages{pages: pagesOf(3, 2, 3, 1)}, ListTagsParams{PerPage: 100}, 9, 5, nil},
		"one page, no per_page":    {&tagPages{pages: pagesOf(3)}, ListTagsParams{}, 3, 3, nil},
		"two empty pages":          {&tagPages{pages: pagesOf(3, 0, 3, 0, 3, 1), perPage: 3}, ListTagsParams{}, 10, 7, nil},
		"empty page in between":    {&tagPages{pages: pagesOf(3, 0, 3, 1), perPage: 3}, ListTagsParams{}, 7, 5, nil},
		"more than a full page":    {&tagPages{pages: pagesOf(5, 5, 2), perPage: 3}, ListTagsParams{}, 12, 4, nil},
		"clamped, but counted":     {&tagPages{pages: pagesOf(2, 2, 1), perPage: 100, count: 5}, ListTagsParams{PerPage: 100, WithCount: true}, 5, 3, nil},
		"clamped, wrong per_page":  {&tagPages{pages: pagesOf(2, 2, 1), perPage: 100}, ListTagsParams{PerPage: 100}, 5, 4, nil},
		"short page in between":    {&tagPages{pages: pagesOf(3, 3, 2, 3), perPage: 3}, ListTagsParams{}, 11, 6, nil},
		"wrong per_page, counted":  {&tagPages{pages: pagesOf(2, 2, 1), perPage: 100, count: 5}, ListTagsParams{Page: 2, WithCount: true}, 3, 2, nil},
		"counted too many":         {&tagPages{pages: pagesOf(3, 1), perPage: 3, count: 9}, ListTagsParams{WithCount: true}, 4, 4, ErrInvalidResponse},
		"counted, and empty":       {&tagPages{perPage: 3, count: 9}, ListTagsParams{WithCount: true}, 0, 1, ErrInvalidResponse},
		"counted, full pages":      {&tagPages{pages: pagesOf(3, 3), perPage: 3, count: 9}, ListTagsParams{WithCount: true}, 6, 4, ErrInvalidResponse},
		"404 after the last page":  {&tagPages{pages: pagesOf(3, 1), perPage: 3, fail: 3, failWith: 404}, ListTagsParams{}, 4, 5, nil},
		"422 after the last page":  {&tagPages{pages: pagesOf(3, 1), perPage: 3, fail: 3, failWith: 422}, ListTagsParams{}, 4, 5, nil},
		"403 after the last page":  {&tagPages{pages: pagesOf(3, 1), perPage: 3, fail: 3}, ListTagsParams{}, 4, 3, ErrForbidden},
		"page ignored, one page":   {&tagPages{pages: pagesOf(3), perPage: 50, page: func(int64) int64 { return 1 }}, ListTagsParams{}, 3, 4, nil},
		"count, from a later page": {&tagPages{pages: pagesOf(3, 3, 1), perPage: 3, count: 7}, ListTagsParams{Page: 2, WithCount: true}, 4, 2, nil},
		"one full page again":      {&tagPages{pages: pagesOf(3), perPage: 3, page: func(int64) int64 { return 1 }}, ListTagsParams{}, 3, 4, nil},
		"last page again":          {&tagPages{pages: pagesOf(3, 3), perPage: 3, page: func(n int64) int64 { return min(n, 2) }}, ListTagsParams{}, 6, 5, nil},
		"last page again, counted": {&tagPages{pages: pagesOf(3, 3), count: 6, page: func(n int64) int64 { return min(n, 2) }}, ListTagsParams{}, 6, 3, nil},
		"again, no page number":    {&tagPages{pages: pagesOf(3, 3), silent: true, page: func(n int64) int64 { return min(n, 2) }}, ListTagsParams{}, 6, 5, nil},
		"again, and too few":       {&tagPages{pages: pagesOf(3, 3), count: 7, perPage: 3, page: func(n int64) int64 { return min(n, 2) }}, ListTagsParams{}, 6, 5, ErrInvalidResponse},
		"first page again":         {&tagPages{pages: pagesOf(3, 3), perPage: 3, page: firstAfter2}, ListTagsParams{}, 6, 5, nil},
		"pages again in a circle":  {&tagPages{pages: pagesOf(3, 3), perPage: 3, page: func(n int64) int64 { return 2 - n%2 }}, ListTagsParams{}, 6, 5, ErrInvalidResponse},
		"counted, empty, then 404": {&tagPages{pages: pagesOf(2), perPage: 2, count: 4, fail: 3, failWith: 404}, ListTagsParams{}, 2, 3, ErrInvalidResponse},
		"many, short, then 400":    {&tagPages{pages: pagesOf(500, 500, 1), perPage: 500, fail: 4, failWith: 400}, ListTagsParams{}, 1001, 6, nil},
		"empty, then 404":          {&tagPages{pages: pagesOf(3, 3), perPage: 3, fail: 4, failWith: 404}, ListTagsParams{}, 6, 4, nil},
		"full page, then 422":      {&tagPages{pages: pagesOf(3, 3), perPage: 3, fail: 3, failWith: 422}, ListTagsParams{}, 6, 5, nil},
		"full page, then 400":      {&tagPages{pages: pagesOf(3, 3), fail: 3, failWith: 400}, ListTagsParams{}, 6, 5, nil},
		"many items, then 400":     {&tagPages{pages: pagesOf(500, 500), perPage: 500, fail: 3, failWith: 400}, ListTagsParams{}, 1000, 3, ErrValidation},
		"many items, then 404":     {&tagPages{pages: pagesOf(500, 500), perPage: 500, fail: 3, failWith: 404}, ListTagsParams{}, 1000, 5, nil},
		"other page":               {&tagPages{pages: pagesOf(3, 3, 3, 3), perPage: 3, page: func(n int64) int64 { return n + n/3 }}, ListTagsParams{}, 6, 3, ErrInvalidResponse},
		"same items, other number": {&tagPages{pages: [][]string{{"a", "b"}, {"c", "d"}, {"c", "d"}, {"e"}}, perPage: 2}, ListTagsParams{}, 4, 5, ErrListChanged},
		"a page fails":             {&tagPages{pages: pagesOf(3, 3, 3, 3), perPage: 3, fail: 3}, ListTagsParams{}, 6, 3, ErrForbidden},
		"the first page fails":     {&tagPages{perPage: 3, fail: 1}, ListTagsParams{}, 0, 1, ErrForbidden},
		"all counted, full page":   {&tagPages{pages: pagesOf(3, 3), perPage: 3, count: 6}, ListTagsParams{}, 6, 3, nil},
		"all counted, then 404":    {&tagPages{pages: pagesOf(3, 3), perPage: 3, count: 6, fail: 3, failWith: 404}, ListTagsParams{}, 6, 3, nil},
		"too few counted, 404":     {&tagPages{pages: pagesOf(3, 3), perPage: 3, count: 7, fail: 3, failWith: 404}, ListTagsParams{}, 6, 3, ErrNotFound},
		"full page, then 404":      {&tagPages{pages: pagesOf(3, 3), perPage: 3, fail: 3, failWith: 404}, ListTagsParams{}, 6, 5, nil},
	} {
		t.Run(name, func(t *testing.T) {
			par := tc.par
			c := newBubbleClient(t, tc.srv.RoundTrip)
			got, err := collect(t, c, par)
			if len(got) != tc.items || !errors.Is(err, tc.bad) || (err == nil) != (tc.bad == nil) {
				t.Errorf("%d items (%v), then %v; want %d, then %v", len(got), got, err, tc.items, tc.bad)
			}
			assert.Len(t, tc.srv.asked, tc.asked, "requested pages")
			if par != tc.par {
				t.Errorf("the parameters were changed: %+v", par)
			}
			for _, depth := range []int{1, 3, 10} {
				ahead, err := collect(t, c, tc.par, Prefetch(depth))
				if !slices.Equal(ahead, got) || !errors.Is(err, tc.bad) && !errors.Is(err, ErrListChanged) {
					t.Errorf("with Prefetch(%d): %v, then %v", depth, ahead, err)
				}
			}
		})
	}
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
			if len(names) != 5 || !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Errorf("%s, Prefetch(%d): %v, then %v, want %v", name, depth, names, err, want)
			}
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

// TestAllIsLazyAndRestarts: no request is sent before the first iteration. Each loop over the iterator requests the pages
// again, and several loops can run at the same time.
func TestAllIsLazyAndRestarts(t *testing.T) {
	srv := &tagPages{pages: pagesOf(2, 2, 1), perPage: 2}
	c := newBubbleClient(t, srv.RoundTrip)
	all := c.Tags.All(t.Context(), ListTagsParams{}, Prefetch(2))
	require.Empty(t, srv.asked, "a request was sent before the first iteration")
	for _, err := range all {
		require.NoError(t, err)
		break
	}
	if !slices.Equal(srv.asked, []int64{1}) {
		t.Errorf("requested the pages %v, want only the first page", srv.asked)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			n := 0
			for _, err := range all {
				if n++; err != nil {
					t.Error(err)
				}
			}
			assert.Equal(t, 5, n, "items")
		})
	}
	wg.Wait()
}

// TestPrefetch checks the number of concurrent requests and the total time.
func TestPrefetch(t *testing.T) {
	for _, depth := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			var under, most atomic.Int64
			srv := &tagPages{pages: pagesOf(slices.Repeat([]int{2}, 81)...), perPage: 2}
			c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
				most.Store(max(most.Load(), under.Add(1)))
				defer under.Add(-1)
				select {
				case <-time.After(20 * time.Millisecond):
				case <-r.Context().Done():
				}
				return srv.RoundTrip(r)
			})
			start := time.Now()
			n := 0
			for _, err := range c.Tags.All(t.Context(), ListTagsParams{}, Prefetch(depth)) {
				assert.NoError(t, err)
				if n++; n == 2*81 {
					break
				}
			}
			assert.Equal(t, time.Duration(1+80/(depth+1))*20*time.Millisecond, time.Since(start), "Prefetch(%d)", depth)
			if most.Load() != int64(depth+1) || under.Load() != 0 {
				t.Errorf("Prefetch(%d): %d concurrent requests, %d remain", depth, most.Load(), under.Load())
			}
		})
	}
}

// TestPrefetchEnds: no goroutine remains, however the loop ends.
func TestPrefetchEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		fail    int64         // number of the page that fails
		timeout time.Duration // of the context
		leave   func()        // called after item 7
		items   int
		want    error
	}{
		"break":        {0, time.Hour, func() {}, 7, nil},
		"panic":        {0, time.Hour, func() { panic("in the loop") }, 7, nil},
		"failing page": {4, time.Hour, nil, 6, ErrForbidden},
		"context":      {0, 1500 * time.Millisecond, nil, 2, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := &tagPages{pages: pagesOf(slices.Repeat([]int{2}, 50)...), perPage: 2, fail: tc.fail}
				c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
					if err := pause(r.Context(), time.Second); err != nil {
						return nil, err
					}
					return srv.RoundTrip(r)
				})
				ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
				defer cancel()
				n := 0
				var last error
				func() {
					defer func() { _ = recover() }()
					for _, err := range c.Tags.All(ctx, ListTagsParams{}, Prefetch(5)) {
						if last = err; err == nil {
							n++
						}
						if n == tc.items && tc.leave != nil {
							tc.leave()
							break
						}
					}
				}()
				if n != tc.items || !errors.Is(last, tc.want) {
					t.Errorf("%d items, then %v; want %d, then %v", n, last, tc.items, tc.want)
				}
			})
		})
	}
}

// FuzzPages: for any sequence of pages, the loop ends with all items or an error.
func FuzzPages(f *testing.F) {
	f.Add([]byte{3, 3, 1}, uint8(3), uint8(0), true)
	f.Add([]byte{3, 0, 3, 0, 0, 3}, uint8(3), uint8(2), false)
	f.Add([]byte{200, 200, 3, 200}, uint8(3), uint8(1), false)
	f.Fuzz(func(t *testing.T, script []byte, perPage, depth uint8, silent bool) {
		if len(script) > 60 {
			script = script[:60]
		}
		pages := scriptedPages(script)
		synctest.Test(t, func(t *testing.T) {
			srv := &tagPages{pages: pages, perPage: int64(perPage % 5), silent: silent}
			got, err := collect(t, newBubbleClient(t, srv.RoundTrip), ListTagsParams{}, Prefetch(int(depth%4)))
			if limit := 4*len(pages) + 8; len(srv.asked) > limit {
				t.Fatalf("requested %d pages of %d", len(srv.asked), len(pages))
			}
			checkYielded(t, pages, perPage%5, got, err)
		})
	})
}

// scriptedPages returns a page for each byte of the script. A byte of at least 200 repeats the previous page. For any
// other byte, the size of the page is the remainder of its division by 5.
func scriptedPages(script []byte) [][]string {
	var pages [][]string
	for i, b := range script {
		if b >= 200 && i > 0 {
			pages = append(pages, pages[i-1])
			continue
		}
		page := []string{}
		for j := range int(b) % 5 {
			page = append(page, fmt.Sprintf("%d.%d", i, j))
		}
		pages = append(pages, page)
	}
	return pages
}

// checkYielded checks that got contains all items up to the end of the list. The list ends at an empty first page, a
// second consecutive empty page, an invalid page, or an empty or repeated page that follows a short page.
func checkYielded(t *testing.T, pages [][]string, perPage uint8, got []string, err error) {
	t.Helper()
	var want []string
	var previous []string
	largest, empty, short := 0, 0, false
	for i := 0; ; i++ {
		var page []string
		if i < len(pages) {
			page = pages[i]
		}
		if len(page) == 0 {
			if empty++; empty == 2 || i == 0 || short {
				break
			}
			continue
		}
		empty = 0
		if slices.Equal(page, previous) {
			if err == nil && i+1 < len(pages) && len(pages[i+1]) > 0 && !slices.Equal(page, pages[i+1]) {
				t.Errorf("page %d repeats an earlier page without an error", i+1)
			}
			break
		}
		previous = page
		want = append(want, page...)
		largest = max(largest, len(page))
		full := int(perPage)
		if full == 0 {
			full = largest
		}
		short = len(page) < full
	}
	if !slices.Equal(got, want) {
		t.Errorf("yielded %v, want %v (%v)", got, want, err)
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

// TestAllDefaults: by default, All requests 100 items per page, and sends no parameter that the specification lacks.
func TestAllDefaults(t *testing.T) {
	var queries []string
	srv := &tagPages{pages: pagesOf(100, 100), perPage: 100, count: 200}
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		queries = append(queries, r.URL.RawQuery)
		return srv.RoundTrip(r)
	})
	names, err := collect(t, c, ListTagsParams{})
	want := []string{"page=1&per_page=100", "page=2&per_page=100", "page=3&per_page=100"}
	if len(names) != 200 || err != nil || !slices.Equal(queries, want) {
		t.Errorf("%d items, %v, requests %q, want %q", len(names), err, queries, want)
	}
}
