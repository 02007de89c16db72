package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type tagPages struct {
	pages   [][]string // page n is pages[n-1]; later pages are empty
	perPage int64      // in the response; 0: absent
	count   int64
	counts  []int64 // by page, instead of count
	page    func(asked int64) int64
	fail    int64 // the page with the status failWith or 403

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

// client returns a client of p.
func (p *tagPages) client(t testing.TB) *Client {
	t.Helper()
	c, err := New(Config{BaseURL: "https://example.com", Token: "t", HTTPClient: &http.Client{Transport: p}})
	fatal(t, err)
	return c
}

// collect returns the names of an iterator, and its error.
func collect(t testing.TB, c *Client, params ListTagsParams, opts ...IterOption) (names []string, err error) {
	t.Helper()
	for tag, e := range c.Tags.All(t.Context(), params, opts...) {
		if err != nil {
			t.Error("something comes after an error")
		}
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

func TestAll(t *testing.T) {
	for name, tc := range map[string]struct {
		srv   *tagPages
		par   ListTagsParams
		items int
		asked int // pages, without Prefetch
		bad   error
	}{
		"nothing":                  {&tagPages{perPage: 50}, ListTagsParams{}, 0, 1, nil},
		"one short page":           {&tagPages{pages: pagesOf(3), perPage: 50}, ListTagsParams{}, 3, 2, nil},
		"one, counted":             {&tagPages{pages: pagesOf(3), perPage: 50, count: 3}, ListTagsParams{WithCount: true}, 3, 1, nil},
		"several":                  {&tagPages{pages: pagesOf(3, 3, 1), perPage: 3}, ListTagsParams{PerPage: 3}, 7, 4, nil},
		"several, counted":         {&tagPages{pages: pagesOf(3, 3, 1), perPage: 3, count: 7}, ListTagsParams{PerPage: 3, WithCount: true}, 7, 3, nil},
		"full last page":           {&tagPages{pages: pagesOf(3, 3), perPage: 3}, ListTagsParams{PerPage: 3}, 6, 4, nil},
		"from a later page":        {&tagPages{pages: pagesOf(3, 3, 1), perPage: 3}, ListTagsParams{Page: 2, PerPage: 3}, 4, 3, nil},
		"behind the end":           {&tagPages{pages: pagesOf(3), perPage: 3, count: 3}, ListTagsParams{Page: 9}, 0, 1, nil},
		"per_page clamped":         {&tagPages{pages: pagesOf(3, 3, 2), perPage: 3}, ListTagsParams{PerPage: 100}, 8, 4, nil},
		"clamped without a word":   {&tagPages{pages: pagesOf(3, 3, 2)}, ListTagsParams{PerPage: 100}, 8, 4, nil},
		"shrunk without a word":    {&tagPages{pages: pagesOf(3, 2, 3, 1)}, ListTagsParams{PerPage: 100}, 9, 5, nil},
		"nothing said, one page":   {&tagPages{pages: pagesOf(3)}, ListTagsParams{}, 3, 3, nil},
		"empty page in between":    {&tagPages{pages: pagesOf(3, 0, 3, 1), perPage: 3}, ListTagsParams{}, 7, 5, nil},
		"more than a full page":    {&tagPages{pages: pagesOf(5, 5, 2), perPage: 3}, ListTagsParams{}, 12, 4, nil},
		"clamped, but counted":     {&tagPages{pages: pagesOf(2, 2, 1), perPage: 100, count: 5}, ListTagsParams{PerPage: 100, WithCount: true}, 5, 3, nil},
		"clamped with a lie":       {&tagPages{pages: pagesOf(2, 2, 1), perPage: 100}, ListTagsParams{PerPage: 100}, 2, 3, ErrInvalidResponse},
		"shrunk with a lie":        {&tagPages{pages: pagesOf(3, 3, 2, 3), perPage: 3}, ListTagsParams{}, 8, 5, ErrInvalidResponse},
		"lie, from a later page":   {&tagPages{pages: pagesOf(2, 2, 1), perPage: 100, count: 5}, ListTagsParams{Page: 2, WithCount: true}, 3, 2, nil},
		"counted too many":         {&tagPages{pages: pagesOf(3, 1), perPage: 3, count: 9}, ListTagsParams{WithCount: true}, 4, 4, ErrInvalidResponse},
		"counted, and empty":       {&tagPages{perPage: 3, count: 9}, ListTagsParams{WithCount: true}, 0, 1, ErrInvalidResponse},
		"counted, full pages":      {&tagPages{pages: pagesOf(3, 3), perPage: 3, count: 9}, ListTagsParams{WithCount: true}, 6, 4, ErrInvalidResponse},
		"no page behind the last":  {&tagPages{pages: pagesOf(3, 1), perPage: 3, fail: 3, failWith: 404}, ListTagsParams{}, 4, 3, nil},
		"no such page number":      {&tagPages{pages: pagesOf(3, 1), perPage: 3, fail: 3, failWith: 422}, ListTagsParams{}, 4, 3, nil},
		"the rest is refused":      {&tagPages{pages: pagesOf(3, 1), perPage: 3, fail: 3}, ListTagsParams{}, 4, 3, ErrForbidden},
		"all, whatever the page":   {&tagPages{pages: pagesOf(3), perPage: 50, page: func(int64) int64 { return 1 }}, ListTagsParams{}, 3, 2, nil},
		"count, from a later page": {&tagPages{pages: pagesOf(3, 3, 1), perPage: 3, count: 7}, ListTagsParams{Page: 2, WithCount: true}, 4, 2, nil},
		"page ignored":             {&tagPages{pages: pagesOf(3), perPage: 3, page: func(int64) int64 { return 1 }}, ListTagsParams{}, 3, 2, ErrInvalidResponse},
		"other page":               {&tagPages{pages: pagesOf(3, 3, 3, 3), perPage: 3, page: func(n int64) int64 { return n + n/3 }}, ListTagsParams{}, 6, 3, ErrInvalidResponse},
		"same items, other number": {&tagPages{pages: [][]string{{"a", "b"}, {"c", "d"}, {"c", "d"}, {"e"}}, perPage: 2}, ListTagsParams{}, 4, 3, ErrInvalidResponse},
		"a page fails":             {&tagPages{pages: pagesOf(3, 3, 3, 3), perPage: 3, fail: 3}, ListTagsParams{}, 6, 3, ErrForbidden},
		"the first page fails":     {&tagPages{perPage: 3, fail: 1}, ListTagsParams{}, 0, 1, ErrForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			par := tc.par
			c := tc.srv.client(t)
			got, err := collect(t, c, par)
			if len(got) != tc.items || !errors.Is(err, tc.bad) || (err == nil) != (tc.bad == nil) {
				t.Errorf("%d items (%v), then %v; want %d, then %v", len(got), got, err, tc.items, tc.bad)
			}
			if len(tc.srv.asked) != tc.asked {
				t.Errorf("asked for pages %v, want %d", tc.srv.asked, tc.asked)
			}
			if par != tc.par {
				t.Errorf("the parameters were changed: %+v", par)
			}
			for _, depth := range []int{1, 3, 10} {
				ahead, err := collect(t, c, tc.par, Prefetch(depth))
				if !slices.Equal(ahead, got) || !errors.Is(err, tc.bad) {
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
		"longer":                   {[]int64{5, 6, 6}, ErrInvalidResponse, ErrInvalidResponse}, // page 3 is the last one
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
			names, err := collect(t, srv.client(t), ListTagsParams{}, Prefetch(depth))
			if len(names) != 5 || !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Errorf("%s, Prefetch(%d): %v, then %v, want %v", name, depth, names, err, want)
			}
			if errors.Is(err, ErrListChanged) && errors.Is(err, ErrInvalidResponse) {
				t.Errorf("%s: %v is also an invalid response", name, err)
			}
		}
	}
}

// TestPaginationLoop: the platform returns the same pages again and again.
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
			if _, err := collect(t, c, ListTagsParams{}); !errors.Is(err, ErrInvalidResponse) || asked > 4*(before+circle)+2 {
				t.Errorf("circle of %d after %d: %v after %d pages", circle, before, err, asked)
			}
		}
	}
}

func TestAllIsLazyAndRestarts(t *testing.T) {
	srv := &tagPages{pages: pagesOf(2, 2, 1), perPage: 2}
	c := srv.client(t)
	all := c.Tags.All(t.Context(), ListTagsParams{}, Prefetch(2))
	if len(srv.asked) != 0 {
		t.Fatal("a request was sent before the first iteration")
	}
	for range 3 {
		n := 0
		for _, err := range all {
			if err != nil {
				t.Error(err)
			}
			n++
		}
		if n != 5 {
			t.Errorf("%d items, want 5", n)
		}
	}
	srv.asked = nil
	for _, err := range all {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if !slices.Equal(srv.asked, []int64{1}) {
		t.Errorf("asked for %v, want the first page alone", srv.asked)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got, err := collect(t, c, ListTagsParams{}, Prefetch(1)); len(got) != 5 || err != nil {
				t.Errorf("one of several loops: %v, %v", got, err)
			}
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
				if err != nil {
					t.Error(err)
				}
				if n++; n == 2*81 {
					break
				}
			}
			if want := time.Duration(1+80/(depth+1)) * 20 * time.Millisecond; time.Since(start) != want {
				t.Errorf("Prefetch(%d): %v, want %v", depth, time.Since(start), want)
			}
			if most.Load() != int64(depth+1) || under.Load() != 0 {
				t.Errorf("Prefetch(%d): %d concurrent requests, %d remain", depth, most.Load(), under.Load())
			}
		})
	}
}

// TestPrefetchEnds: no goroutine remains, however the loop ends.
func TestPrefetchEnds(t *testing.T) {
	slow := func(srv *tagPages) *Client {
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			select {
			case <-time.After(time.Second):
				return srv.RoundTrip(r)
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		})
		return c
	}
	full := pagesOf(slices.Repeat([]int{2}, 50)...)
	t.Run("break", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			for _, err := range slow(&tagPages{pages: full, perPage: 2}).Tags.All(t.Context(), ListTagsParams{}, Prefetch(5)) {
				if err != nil {
					t.Error(err)
				}
				if n++; n == 7 {
					break
				}
			}
		})
	})
	t.Run("panic", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			defer func() { _ = recover() }()
			n := 0
			for _, err := range slow(&tagPages{pages: full, perPage: 2}).Tags.All(t.Context(), ListTagsParams{}, Prefetch(5)) {
				if err != nil {
					t.Error(err)
				}
				if n++; n == 7 {
					panic("in the loop")
				}
			}
		})
	})
	t.Run("failing page", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			got, err := collect(t, slow(&tagPages{pages: full, perPage: 2, fail: 4}), ListTagsParams{}, Prefetch(5))
			if len(got) != 6 || !errors.Is(err, ErrForbidden) {
				t.Errorf("%v, then %v", got, err)
			}
		})
	})
	t.Run("context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			defer cancel()
			n := 0
			var last error
			for _, err := range slow(&tagPages{pages: full, perPage: 2}).Tags.All(ctx, ListTagsParams{}, Prefetch(5)) {
				n++
				last = err
			}
			if n != 3 || !errors.Is(last, context.DeadlineExceeded) {
				t.Errorf("%d iterations, the last with %v", n, last)
			}
		})
	})
}

// FuzzPages: for any sequence of pages, the loop ends with all items or an error.
func FuzzPages(f *testing.F) {
	f.Add([]byte{3, 3, 1}, uint8(3), uint8(0), false)
	f.Add([]byte{3, 0, 3, 0, 0, 3}, uint8(3), uint8(2), true)
	f.Add([]byte{200, 200, 3, 200}, uint8(3), uint8(1), true)
	f.Fuzz(func(t *testing.T, script []byte, perPage, depth uint8, echo bool) {
		if len(script) > 60 {
			script = script[:60]
		}
		pages := scriptedPages(script)
		asked := 0
		var mu sync.Mutex
		synctest.Test(t, func(t *testing.T) {
			c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
				mu.Lock()
				asked++
				mu.Unlock()
				return respondPage(pages, r.URL.Query(), int64(perPage%5), echo), nil
			})
			got, err := collect(t, c, ListTagsParams{}, Prefetch(int(depth%4)))
			if limit := 4*len(pages) + 8; asked > limit {
				t.Fatalf("asked for %d pages of %d", asked, len(pages))
			}
			checkYielded(t, pages, perPage%5, got, err)
		})
	})
}

// scriptedPages makes a page of each byte: its size, or with 200 and more the
// page before once more.
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

func respondPage(pages [][]string, q url.Values, perPage int64, echo bool) *http.Response {
	n := int64(1)
	if s := q.Get("page"); s != "" {
		n, _ = strconv.ParseInt(s, 10, 64)
	}
	out := TagPage{Data: []Tag{}, Pagination: Pagination{PerPage: perPage}}
	if echo {
		out.Pagination.Page = n
	}
	if n <= int64(len(pages)) {
		for _, name := range pages[n-1] {
			out.Data = append(out.Data, Tag{Name: name})
		}
	}
	b, _ := json.Marshal(out)
	return respond(200, string(b))
}

// checkYielded reads the pages as documented: up to two empty pages, a short and an empty page, or a repeated page.
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
			if err == nil && !short {
				t.Errorf("page %d repeats another, and there is no error", i+1)
			}
			break
		}
		if short && perPage > 0 {
			if err == nil {
				t.Errorf("page %d follows a short one, and there is no error", i+1)
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

// TestCountAtEndOfList: a list with fewer items than its count is an error, unless skipped pages may have them.
func TestCountAtEndOfList(t *testing.T) {
	for name, tc := range map[string]struct {
		w    walk[int]
		good bool
	}{
		"all":                       {walk[int]{count: 7, seen: 7, largest: 3, full: 3}, true},
		"too few":                   {walk[int]{count: 7, seen: 6, largest: 3, full: 3}, false},
		"too few, no page size":     {walk[int]{count: 7, seen: 6, largest: 3}, false},
		"the rest":                  {walk[int]{count: 7, seen: 4, largest: 3, full: 3, skipped: 1}, true},
		"too few of the rest":       {walk[int]{count: 7, seen: 3, largest: 3, full: 3, skipped: 1}, false},
		"the rest, no page size":    {walk[int]{count: 7, seen: 1, largest: 1, skipped: 1}, true},
		"as many as can be skipped": {walk[int]{count: 7, seen: 1, full: 3, skipped: 1 << 62}, true},
		"nothing is counted":        {walk[int]{seen: 1}, true},
	} {
		if err := tc.w.atEnd(); (err == nil) != tc.good {
			t.Errorf("%s: %v, want an error: %v", name, err, !tc.good)
		}
	}
}

// TestPageAfterLastCountedItem: after a full last page, the next page may be empty or rejected if all counted items
// were read.
func TestPageAfterLastCountedItem(t *testing.T) {
	for name, tc := range map[string]struct {
		count    int64
		failWith int // of page 3
		asked    int
		want     error
	}{
		"empty":               {count: 6, asked: 3},
		"refused":             {count: 6, failWith: 404, asked: 3},
		"refused, more to be": {count: 7, failWith: 404, asked: 3, want: ErrNotFound},
		"refused, no count":   {failWith: 404, asked: 3, want: ErrNotFound},
	} {
		p := &tagPages{pages: pagesOf(3, 3), perPage: 3, count: tc.count, failWith: tc.failWith}
		if tc.failWith != 0 {
			p.fail = 3
		}
		names, err := collect(t, p.client(t), ListTagsParams{})
		if len(names) != 6 || !errors.Is(err, tc.want) || len(p.asked) != tc.asked {
			t.Errorf("%s: %v, %v, pages %v asked for", name, names, err, p.asked)
		}
	}
}

// TestShortPageDisappears: items after a short page are not lost if the short page is gone when it is read again.
func TestShortPageDisappears(t *testing.T) {
	asked := 0
	c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
		switch asked++; asked {
		case 1:
			return respond(200, `{"data":[{"name":"a"}],"pagination":{"page":1,"per_page":2}}`), nil
		case 2:
			return respond(200, `{"data":[{"name":"b"}],"pagination":{"page":2,"per_page":2}}`), nil
		}
		return respond(404, ""), nil
	})
	if names, err := collect(t, c, ListTagsParams{}); !slices.Equal(names, []string{"a"}) || !errors.Is(err, ErrNotFound) {
		t.Errorf("%v, %v after %d pages, want the error of the third", names, err, asked)
	}
}

// TestRejectedPageAfterLast: a 404 or 422 after a short page is the end of the list.
func TestRejectedPageAfterLast(t *testing.T) {
	for _, short := range []bool{true, false} {
		w := walk[int]{short: short, full: 3, previous: []int{1}}
		for _, target := range []error{ErrNotFound, ErrValidation, ErrForbidden, ErrServer} {
			if got := w.isBehind(nil, target); got != (short && (target == ErrNotFound || target == ErrValidation)) {
				t.Errorf("%v after a short page (%v): end of the list is %v", target, short, got)
			}
		}
	}
	w := walk[int]{short: true, full: 3, previous: []int{1}}
	if err := w.check(3, []int{2}, Pagination{}); err == nil || err.Error() != "page 2 contained 1 of 3 items, but was not the last page" {
		t.Errorf("%v, want it to name the page before", err)
	}
}

func TestAllDefaults(t *testing.T) {
	t.Parallel()
	var queries []string
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		page, _ := strconv.ParseInt(r.URL.Query().Get("page"), 10, 64)
		out := ContactPage{Data: make([]Contact, max(0, min(100, 300-100*page))), Pagination: Pagination{Page: page, PerPage: 100, Count: 200}}
		for i := range out.Data {
			out.Data[i].ID = 100*page + int64(i)
		}
		body, _ := json.Marshal(out)
		respondWith(200, "application/json", string(body))(w, r)
	})
	n := 0
	for _, err := range c.Contacts.All(t.Context(), 1, ListContactsParams{}) {
		fatal(t, err)
		n++
	}
	want := []string{"page=1&per_page=100&with_count=true", "page=2&per_page=100&with_count=true", "page=3&per_page=100&with_count=true"}
	if n != 200 || !slices.Equal(queries, want) {
		t.Errorf("%d contacts, requests %q, want %q", n, queries, want)
	}
}
