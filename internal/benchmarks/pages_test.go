package benchmarks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v82/github"
	"github.com/mailgun/mailgun-go/v4"
	"github.com/stripe/stripe-go/v85"

	"example.com/emailplatform/client"
)

const perPage = 100

// BenchmarkIterate reads 100 pages from a server that does almost no work.
func BenchmarkIterate(b *testing.B) {
	r := newReader(b, newPages(100), 100)
	compare(b, "sdk", r.sdk(0))
	r.others(b)
}

// BenchmarkIterateSlow reads 12 pages from a server that delays each response by 20 ms.
func BenchmarkIterateSlow(b *testing.B) { prefetching(b, 12).others(b) }

// BenchmarkIterateSlowFar reads 100 pages. At the end of the list there is nothing to prefetch, but with so many
// pages, this hardly matters.
func BenchmarkIterateSlowFar(b *testing.B) { prefetching(b, 100) }

func prefetching(b *testing.B, count int) reader {
	r := newReader(b, slow(20*time.Millisecond, newPages(count)), count)
	compare(b, "sdk", r.sdk(3))
	compare(b, "sdk-without-prefetch", r.sdk(0))
	return r
}

// BenchmarkIterateMemory reports how much more memory client and server use for 10,000 pages than for 100.
func BenchmarkIterateMemory(b *testing.B) {
	count := 0
	c := must(client.New(client.Config{Token: "t", HTTPClient: newPool(), BaseURL: serve(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, items := must(strconv.Atoi(r.URL.Query().Get("page"))), "[]"
		if page <= count {
			items = pageOf(page, contactItem)
		}
		fmt.Fprint(w, contactPage(page-1, items))
	}))}))
	peak := func(pages int) (mib float64) {
		count = pages
		got := 0
		for _, err := range c.Contacts.All(b.Context(), 1, client.ListContactsParams{}) {
			check(err)
			if got++; got%(pages*perPage/10) == 0 {
				mib = max(mib, heapInUse())
			}
		}
		expect("items", got, pages*perPage)
		return mib
	}
	reportGrowth(b, peak, 100, 10_000)
}

// reader reads all pages of a server.
type reader struct {
	ctx   context.Context
	pool  *http.Client
	url   string
	count int // number of pages
}

func newReader(b *testing.B, h http.Handler, count int) reader {
	return reader{b.Context(), newPool(), serve(b, h), count}
}

func (r reader) others(b *testing.B) {
	compare(b, "net/http-discard", r.discard)
	compare(b, "net/http+json", r.byHand)
	compare(b, "go-github", r.github())
	compare(b, "mailgun-go", r.mailgun())
	compare(b, "stripe-go", r.stripe())
}

func (r reader) expect(got int) { expect("items", got, r.count*perPage) }

func (r reader) sdk(prefetch int) func() {
	c := must(client.New(client.Config{BaseURL: r.url, Token: "t", HTTPClient: r.pool}))
	return func() {
		got := 0
		for _, err := range c.Contacts.All(r.ctx, 1, client.ListContactsParams{PerPage: perPage}, client.Prefetch(prefetch)) {
			check(err)
			got++
		}
		r.expect(got)
	}
}

func (r reader) page(number int) *http.Request {
	return newRequest(http.MethodGet, fmt.Sprintf("%s/lists/1/contacts?per_page=%d&page=%d", r.url, perPage, number), "t", "", http.NoBody)
}

func (r reader) discard() {
	for i := range r.count {
		check(send(r.pool, r.page(i+1)))
	}
}

// contacts is the page that an application without the SDK declares. Times are Unix seconds, as in the response.
type contacts struct {
	Data []struct {
		ID               int64                    `json:"id"`
		Email            string                   `json:"email"`
		BouncesCount     int64                    `json:"bounces_count"`
		CustomAttributes []client.CustomAttribute `json:"custom_attributes"`
		Interests        []string                 `json:"interests"`
		LastBounceType   string                   `json:"last_bounce_type"`
		Status           string                   `json:"status"`
		SubscribedOn     int64                    `json:"subscribed_on"`
		Tags             []string                 `json:"tags"`
	} `json:"data"`
	Pagination client.Pagination `json:"pagination"`
}

// byHand reads one page at a time until a page is not full.
func (r reader) byHand() {
	got := 0
	for number := 1; got == (number-1)*perPage; number++ {
		resp := must(r.pool.Do(r.page(number)))
		var page contacts
		check(json.NewDecoder(resp.Body).Decode(&page))
		resp.Body.Close()
		got += len(page.Data)
	}
	r.expect(got)
}

func (r reader) github() func() {
	gh := must(github.NewClient(r.pool).WithEnterpriseURLs(r.url, r.url))
	return func() {
		got := 0
		for opts := (github.ListOptions{Page: 1, PerPage: perPage}); opts.Page != 0; {
			labels, resp, err := gh.Issues.ListLabels(r.ctx, "octo", "shop", &opts)
			check(err)
			got += len(labels)
			opts.Page = resp.NextPage
		}
		r.expect(got)
	}
}

func (r reader) mailgun() func() {
	mg := newMailgun(r.url, r.pool)
	return func() {
		it, got := mg.ListMembers(mailgunList, &mailgun.ListOptions{Limit: perPage}), 0
		var members []mailgun.Member
		for it.Next(r.ctx, &members) {
			got += len(members)
		}
		check(it.Err())
		r.expect(got)
	}
}

func (r reader) stripe() func() {
	sc := stripe.NewClient("sk_test_123", stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		URL: &r.url, HTTPClient: r.pool, MaxNetworkRetries: new(int64), EnableTelemetry: new(false),
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})))
	return func() {
		got, params := 0, &stripe.CustomerListParams{}
		params.Limit = new(int64(perPage))
		for _, err := range sc.V1Customers.List(r.ctx, params).All(r.ctx) {
			check(err)
			got++
		}
		r.expect(got)
	}
}

// pages holds the items of each page in the formats of four platforms.
type pages map[string][]string

func newPages(n int) pages {
	p := pages{}
	for _, item := range []string{contactItem, stripeItem, mailgunItem, githubItem} {
		for number := range n {
			p[item] = append(p[item], pageOf(number, item))
		}
	}
	return p
}

func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	q, last := r.URL.Query(), len(p[contactItem])-1
	page, _ := strconv.Atoi(q.Get("page"))
	number := max(page, 1) - 1
	next := fmt.Sprintf("http://%s%s?page=%d", r.Host, r.URL.Path, number+2)
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/v1/"): // Stripe
		if id, err := strconv.Atoi(strings.TrimPrefix(q.Get("starting_after"), "cus_")); err == nil {
			number = (id-firstID)/perPage + 1
		}
		fmt.Fprintf(w, `{"object":"list","url":"/v1/customers","has_more":%t,"data":%s}`, number < last, p[stripeItem][number])
	case strings.HasPrefix(path, "/api/"): // GitHub
		if number < last {
			w.Header().Set("Link", `<`+next+`>; rel="next"`)
		}
		fmt.Fprint(w, p[githubItem][number])
	case number > last: // the other clients read until a page is empty
		fmt.Fprintf(w, `{"items":[],"data":[],"pagination":{"page":%d,"per_page":100}}`, number+1)
	case strings.HasPrefix(path, "/v3/"): // Mailgun
		fmt.Fprintf(w, `{"items":%s,"paging":{"next":"%s"}}`, p[mailgunItem][number], next)
	default:
		fmt.Fprint(w, contactPage(number, p[contactItem][number]))
	}
}

func contactPage(number int, items string) string {
	return fmt.Sprintf(`{"data":%s,"pagination":{"page":%d,"per_page":100}}`, items, number+1)
}

// firstID is the id of the first item on the first page.
const firstID = 1_000_000

func TestItemsHaveTheSameLength(t *testing.T) {
	want := len(pageOf(0, contactItem))
	for _, item := range []string{stripeItem, mailgunItem, githubItem} {
		if got := len(pageOf(0, item)); got < want*19/20 || got > want*21/20 {
			t.Errorf("%d bytes, want %d ± 5 %%: %s", got, want, item)
		}
	}
}

// pageOf returns the items of a page as a JSON array.
func pageOf(number int, item string) string {
	items := make([]string, perPage)
	for i := range items {
		items[i] = strings.ReplaceAll(item, "ID", strconv.Itoa(firstID+number*perPage+i))
	}
	return "[" + strings.Join(items, ",") + "]"
}

// An item of each platform. The lengths differ by at most 5 %, so the results are comparable.
const (
	contactItem = `{"id":ID,"email":"contactID@example.com","status":"active","subscribed_on":1760000000,` +
		`"custom_attributes":[{"name":"first_name","value":"Ann"},{"name":"city","value":"Bonn"}],"tags":["vip","newsletter"],"last_bounce_type":"none"}`
	stripeItem = `{"id":"cus_ID","object":"customer","email":"contactID@example.com","created":1760000000,"balance":0,` +
		`"metadata":{"first_name":"Ann","city":"Bonn"},"name":"Ann Smith","preferred_locales":["de","en"],"delinquent":false,"note":"abcde"}`
	mailgunItem = `{"address":"contactID@example.com","name":"Ann Smith","subscribed":true,` +
		`"vars":{"first_name":"Ann","city":"Bonn","status":"active","since":1760000000,"tags":["vip","newsletter"],"last_bounce":"none","plan":"gold","company":"Analytical"}}`
	githubItem = `{"id":ID,"node_id":"MDU6TGFiZWwyMDgwNDU5ID","url":"https://api.github.com/repos/octo/shop/labels/ID",` +
		`"name":"label ID","description":"Something does not work, and it is known","color":"f29513","default":true}`
)
