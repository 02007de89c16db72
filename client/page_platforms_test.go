package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/events"
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

// TestPrefetchWithSort: an iteration in another order reads its pages one after another.
func TestPrefetchWithSort(t *testing.T) {
	var asked []string
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL.Query().Get("page"))
		return respond(200, `{"data":[{"id":`+strconv.Itoa(len(asked))+`}],"pagination":{"per_page":1}}`), nil
	})
	for contact, err := range c.Contacts.All(t.Context(), 1, ListContactsParams{Sort: "email:asc"}, Prefetch(5)) {
		if assert.NoError(t, err); contact.ID == 4 {
			break
		}
	}
	assert.Equal(t, []string{"1", "2", "3", "4"}, asked)
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

// refusing returns a client of a platform that refuses a request if refused returns the name of a parameter.
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

// TestRefusedResubscribe: if the platform does not know the parameter, Create adds only an address that the list does not
// contain.
func TestRefusedResubscribe(t *testing.T) {
	refused := func(q url.Values) string {
		if q.Has("resubscribe") {
			return "resubscribe"
		}
		return ""
	}
	c, queries := refusing(t, 422, true, refused, `{"data":[{"id":1,"email":"old@x","status":"unsubscribed"}]}`)
	if got, err := c.Contacts.Create(t.Context(), 1, ContactCreate{Email: "new@x"}); got.ID != 7 || err != nil {
		t.Errorf("%+v, %v, requests %v", got, err, *queries)
	}
	*queries = nil
	if got, err := c.Contacts.Create(t.Context(), 1, ContactCreate{Email: "Old@x"}); got.ID != 0 || !errors.Is(err, ErrContactExists) || errors.Is(err, ErrOutcomeUnknown) {
		t.Errorf("%+v, %v, requests %v", got, err, *queries)
	}
}

// TestRefusedConsent: Create sends one request if the error can be about the consent of the contact.
func TestRefusedConsent(t *testing.T) {
	for body, status := range map[string]int{
		`{"detail":[{"loc":["body","email"],"msg":"contact unsubscribed; resubscribe not allowed"}]}`:                            422,
		`{"detail":[{"loc":["body","resubscribe"],"msg":"not allowed"}]}`:                                                        422,
		`{"detail":[{"loc":["resubscribe"],"msg":"not allowed"}]}`:                                                               400,
		`{"detail":[{"loc":["query","resubscribe"],"msg":"unknown"},{"loc":["body","email"],"msg":"contact has unsubscribed"}]}`: 422,
		`{"detail":"resubscribe"}`:               422,
		`{"message":"contact has unsubscribed"}`: 400,
		``:                                       422,
	} {
		var requests []string
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			requests = append(requests, r.Method+" "+r.URL.RawQuery)
			return respond(status, body), nil
		})
		_, err := c.Contacts.Create(t.Context(), 1, ContactCreate{Email: "a@x"})
		assert.ErrorIs(t, err, ErrValidation, body)
		assert.Equal(t, []string{"POST resubscribe=false"}, requests, body)
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

// TestItemsThatDifferInTheirIDs: each type of item has an id, so pages whose other fields are equal differ.
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
	if len(got) != 45*50 || err != nil {
		t.Errorf("one rejection: %d items, %v", len(got), err)
	}
	got, err = collect(t, list(func(_ int, page string, pages [][]string) ([][]string, bool) { return pages, page == "41" }), ListTagsParams{})
	if len(got) != 2000 || !errors.Is(err, ErrValidation) {
		t.Errorf("a limit of the depth: %d items, %v", len(got), err)
	}
	got, err = collect(t, list(func(asked int, _ string, pages [][]string) ([][]string, bool) {
		if asked == 3 {
			pages = append([][]string{{"new"}}, pages...)
		}
		return pages, false
	}), ListTagsParams{})
	if len(got) != 100 || !errors.Is(err, ErrListChanged) {
		t.Errorf("items added in front: %d items, %v", len(got), err)
	}
}
