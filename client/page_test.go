package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/check"
)

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
			require.Len(t, got, tc.items)
			assert.ErrorIs(t, err, tc.bad)
			assert.Equal(t, tc.bad == nil, err == nil)
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

// TestPageWithoutItems: an invalid page ends the iteration with an error after the items of the earlier pages.
func TestPageWithoutItems(t *testing.T) {
	for _, bad := range []int{1, 7} {
		for _, depth := range []int{0, 3} {
			pages := &tagPages{pages: pagesOf(3, 3, 3, 3, 3, 3, 3, 3, 3, 1), perPage: 3}
			c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
				if r.URL.Query().Get("page") == strconv.Itoa(bad) {
					return respond(200, `{"data":[{"name":"a"},{"label":"b"}]}`), nil
				}
				return pages.RoundTrip(r)
			}, withoutRetries)
			got, err := collect(t, c, ListTagsParams{Page: 1}, Prefetch(depth))
			require.Len(t, got, 3*(bad-1), "%+v", depth)
			assert.ErrorIs(t, err, ErrInvalidResponse, "%+v", depth)
		}
	}
}

// TestRefusedParameters: an iteration continues without a parameter that the platform refuses.
func TestRefusedParameters(t *testing.T) {
	unknown := func(known ...string) func(url.Values) string {
		return func(q url.Values) string {
			for name := range q {
				if !slices.Contains(known, name) {
					return name
				}
			}
			return ""
		}
	}
	small := func(q url.Values) string {
		if n, _ := strconv.Atoi(q.Get("per_page")); n > 50 {
			return "per_page"
		}
		return ""
	}
	for _, status := range []int{400, 422} {
		for _, named := range []bool{false, true} {
			for name, tc := range map[string]struct {
				refused func(url.Values) string
				params  ListContactsParams
				last    string // query of the last request if the platform names the parameter
				fails   bool
			}{
				"count":                 {unknown("page", "per_page"), ListContactsParams{WithCount: true}, "page=2&per_page=100", false},
				"page size":             {unknown("page"), ListContactsParams{}, "page=2", false},
				"both":                  {unknown("page"), ListContactsParams{PerPage: 10, WithCount: true}, "page=2", false},
				"large page":            {small, ListContactsParams{}, "page=2", false},
				"large page, counted":   {small, ListContactsParams{WithCount: true}, "page=2&with_count=true", false},
				"filter of the caller":  {unknown("page", "per_page"), ListContactsParams{Filter: "tag:a"}, "", true},
				"order of the caller":   {unknown("page", "per_page"), ListContactsParams{Sort: "id:asc"}, "", true},
				"page size after a few": {unknown("page"), ListContactsParams{Page: 2, PerPage: 10}, "", true},
			} {
				c, queries := refusing(t, status, named, tc.refused, `{"data":[{"id":1}]}`)
				n := 0
				var err error
				for _, err = range c.Contacts.All(t.Context(), 1, tc.params) {
					n++
				}
				last := strings.Replace((*queries)[len(*queries)-1], "page=3", "page=2", 1)
				if !named {
					last = strings.TrimSuffix(last, "&per_page=100")
					tc.last = strings.TrimSuffix(tc.last, "&per_page=100")
				}
				if tc.fails != errors.Is(err, ErrValidation) || n != 1 || !tc.fails && last != tc.last {
					t.Errorf("%s, %d: %d items, %v, requests %v", name, status, n, err, *queries)
				}
			}
			c, queries := refusing(t, status, named, unknown("page", "per_page"), `{"data":[{"id":1,"email":"b@x"},{"id":2,"email":"A@x"}]}`)
			if found, err := c.Contacts.Find(t.Context(), 1, "a@x"); (found.ID == 2) != named || errors.Is(err, ErrValidation) == named {
				t.Errorf("Find without the filter: %+v, %v, requests %v", found, err, *queries)
			}
		}
	}
}

// TestRefusedParameterIsLogged: a warning names each parameter that a call omits, once for each operation.
func TestRefusedParameterIsLogged(t *testing.T) {
	var log strings.Builder
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		if q := r.URL.Query(); q.Has("with_count") || q.Has("per_page") {
			return respond(400, ""), nil
		}
		return respond(200, `{"data":[]}`), nil
	}, func(cfg *Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	for range 2 {
		_, err := collect(t, c, ListTagsParams{WithCount: true})
		assert.NoError(t, err)
	}
	for _, name := range []string{"per_page", "with_count"} {
		assert.Equal(t, 1, strings.Count(log.String(), "parameter="+name), "%s", log.String())
	}
}

// TestUnpagedWebhooks: the specification defines no parameters and no pages for the list of webhooks.
func TestUnpagedWebhooks(t *testing.T) {
	const hooks = `{"data":[{"webhook_id":"1","url":"https://a.example/h","events":["Email.Bounced"]},{"webhook_id":2,"url":"https://b.example/h","events":[]}]`
	for body, want := range map[string][]string{
		hooks + `}`:                   {""},
		hooks + `,"pagination":null}`: {""},
		hooks + `,"pagination":{"page":1,"per_page":2}}`:  {"", "page=2", "", "page=3"},
		hooks + `,"pagination":{"page":1,"per_page":50}}`: {"", "page=2", "", "page=3"},
		hooks + `,"pagination":["odd"]}`:                  {"", "page=2", "", "page=3"},
		hooks + `,"meta":{"pages":1}}`:                    {"", "page=2", "", "page=3"},
		hooks + `,"meta":null}`:                           {""},
	} {
		var asked []string
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.RawQuery)
			return respond(200, body), nil
		})
		n := 0
		for _, err := range c.Webhooks.All(t.Context(), ListWebhooksParams{}) {
			assert.NoError(t, err, "%s", body)
			n++
		}
		assert.Equal(t, 2, n, "%s", body)
		assert.Equal(t, want, asked, "%s", body)
	}
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		switch {
		case r.URL.RawQuery != "":
			return respond(422, ""), nil
		case r.URL.Path == "/webhooks":
			return respond(200, hooks+`}`), nil
		}
		return respond(200, `{"webhook_id":"1","url":"https://a.example/h","secret":"s"}`), nil
	})
	active, err := c.Webhooks.Active(t.Context(), "https://a.example/h")
	assert.NoError(t, err)
	assert.Len(t, active, 1)
	hook, err := c.Webhooks.Ensure(t.Context(), WebhookCreate{URL: "https://a.example/h", Events: []events.Name{events.NameEmailBounced}})
	assert.NoError(t, err)
	assert.Equal(t, "1", hook.ID)
}

func TestFind(t *testing.T) {
	withPlatform(t, func(t *testing.T, p *platform) {
		c, rec, ctx := p.clean, p.createRecords(), t.Context()
		for i := range 120 { // more items than fit on the first page
			check.Need(c.Lists.Create(ctx, ListCreate{Name: fmt.Sprint("list ", i)}))(t)
			check.Need(c.Templates.Create(ctx, TemplateCreate{Name: fmt.Sprint("template ", i)}))(t)
			check.Need(c.Campaigns.Create(ctx, CampaignCreate{Name: fmt.Sprint("campaign ", i)}))(t)
		}
		older, err := c.Templates.Find(ctx, "template 119")
		require.NoError(t, err)
		check.Need(c.Templates.Create(ctx, TemplateCreate{Name: "template 119"}))(t)
		list, err := c.Lists.Find(ctx, "list 119")
		require.NoError(t, err)
		assert.Equal(t, "list 119", list.Name)
		template, err := c.Templates.Find(ctx, "template 119")
		require.NoError(t, err)
		assert.Equal(t, older.ID, template.ID)
		campaign, err := c.Campaigns.Find(ctx, "campaign 119")
		require.NoError(t, err)
		assert.Equal(t, "campaign 119", campaign.Name)
		before := len(p.Requests())
		contact, err := c.Contacts.Find(ctx, rec.list, "ANN@example.com")
		asked := len(p.Requests()) - before
		require.NoError(t, err)
		assert.Equal(t, rec.contact, contact.ID)
		assert.Equal(t, 1, asked)
	})
}

func TestFindNotFound(t *testing.T) {
	withPlatform(t, func(t *testing.T, p *platform) {
		c, rec := p.clean, p.createRecords()
		for name, find := range map[string]func(context.Context, string) error{
			"contact":  func(ctx context.Context, email string) error { return last(c.Contacts.Find(ctx, rec.list, email)) },
			"list":     func(ctx context.Context, name string) error { return last(c.Lists.Find(ctx, name)) },
			"campaign": func(ctx context.Context, name string) error { return last(c.Campaigns.Find(ctx, name)) },
			"template": func(ctx context.Context, name string) error { return last(c.Templates.Find(ctx, name)) },
		} {
			e, ok := errors.AsType[*Error](find(t.Context(), "missing@example.com"))
			require.True(t, ok, name)
			assert.ErrorIs(t, e, ErrNotFound, name)
			before := len(p.Requests())
			err := find(t.Context(), "")
			assert.ErrorIs(t, err, ErrValidation, name)
			assert.Len(t, p.Requests(), before, name)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := find(ctx, "x"); !errors.Is(err, context.Canceled) || errors.Is(err, ErrNotFound) {
				t.Errorf("%s: got %v with a canceled context", name, err)
			}
		}
		assert.ErrorIs(t, last(c.Contacts.Find(t.Context(), 99, "ann@example.com")), ErrNotFound, "a list that does not exist")
	})
}

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

// refusing returns a client of a platform that refuses a request if the function refused() returns the name of a
// parameter.
func refusing(t *testing.T, status int, named bool, refused func(url.Values) string, page string) (_ *Client, queries *[]string) {
	t.Helper()
	queries = new([]string)
	return newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		*queries = append(*queries, r.URL.RawQuery)
		switch name := refused(r.URL.Query()); {
		case name != "" && named:
			return respond(status, `{"detail":[{"loc":["query","`+name+`"],"msg":"unknown","type":"t"}]}`), nil
		case name != "":
			return respond(status, ""), nil
		case r.Method == http.MethodPost:
			return respond(201, `{"id":7,"email":"new@x"}`), nil
		case r.URL.Query().Get("page") > "1":
			return respond(200, `{"data":[]}`), nil
		}
		return respond(200, page), nil
	}), queries
}
