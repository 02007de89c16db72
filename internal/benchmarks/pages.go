package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v82/github"
	"github.com/mailgun/mailgun-go/v4"
	"github.com/stripe/stripe-go/v85"

	"example.com/emailplatform/client"
)

const (
	perPage      = 100
	contactsPath = "/lists/1/contacts"
)

func pageContests() []contest {
	return []contest{
		{name: "iterate, pages of 100", items: 100 * perPage, unit: "items", setup: func(a *arena) ([]contender, error) {
			return iterators(a, 0, 100, 0)
		}},
		{name: "iterate, server takes 20 ms", items: 12 * perPage, unit: "items", setup: func(a *arena) ([]contender, error) {
			return iterators(a, 20*time.Millisecond, 12, 3)
		}},
		{name: "iterate far, server takes 20 ms", items: 100 * perPage, unit: "items", setup: func(a *arena) ([]contender, error) {
			both, err := iterators(a, 20*time.Millisecond, 100, 3)
			if err != nil {
				return nil, err
			}
			both[1].want = 3.5 // over so many pages the last ones, which nothing comes after, do not count
			return both[:2], nil
		}},
	}
}

// iterators go through all pages, each of the format that it is made for.
func iterators(a *arena, pause time.Duration, count, lookahead int) ([]contender, error) {
	srv := a.serve(slow(pause, newPages(count)))
	items := count * perPage
	raw := contender{name: "net/http, bodies discarded", op: func() error { return rawPages(a.ctx, srv.Client(), srv.URL, count) }}
	byHand := contender{name: "net/http, encoding/json", op: func() error { return byHandPages(a.ctx, srv.Client(), srv.URL, items) }}
	c, err := client.New(client.Config{BaseURL: srv.URL, Token: "t", HTTPClient: srv.Client()})
	if err != nil {
		return nil, err
	}
	ours := func(lookahead int) func() error { return func() error { return ourPages(a.ctx, c, items, lookahead) } }
	gh, err := githubPages(a.ctx, srv.Client(), srv.URL, items)
	if err != nil {
		return nil, err
	}
	others := []contender{
		byHand,
		{name: "go-github, labels", op: gh},
		{name: "mailgun-go, members", op: mailgunPages(a.ctx, srv.Client(), srv.URL, items)},
		{name: "stripe-go, customers", op: stripePages(a.ctx, srv.Client(), srv.URL, items)},
	}
	if lookahead == 0 {
		raw.want = 0.55
		return append([]contender{{name: "this SDK", op: ours(0)}, raw}, others...), nil
	}
	return append([]contender{
		{name: fmt.Sprintf("this SDK, Prefetch(%d)", lookahead), op: ours(lookahead)},
		{name: "this SDK, no lookahead", op: ours(0)},
		raw,
	}, others...), nil
}

// pages are what the server answers with, made beforehand.
type pages struct{ ours, stripe, mailgun, github []string }

func newPages(n int) (p pages) {
	for number := range n {
		p.ours = append(p.ours, pageOf(number, ourItem))
		p.stripe = append(p.stripe, pageOf(number, stripeItem))
		p.mailgun = append(p.mailgun, pageOf(number, mailgunItem))
		p.github = append(p.github, pageOf(number, githubItem))
	}
	return p
}

// ServeHTTP serves the pages of four platforms.
func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	q := r.URL.Query()
	asked, _ := strconv.Atoi(q.Get("page"))
	number := max(asked, 1) - 1
	switch {
	case strings.HasPrefix(r.URL.Path, "/v1/"): // Stripe
		if after := q.Get("starting_after"); after != "" {
			last, _ := strconv.Atoi(strings.TrimPrefix(after, "cus_"))
			number = (last-firstID)/perPage + 1
		}
		_, _ = io.WriteString(w, `{"object":"list","url":"/v1/customers","has_more":`+strconv.FormatBool(number+1 < len(p.stripe))+`,"data":`+p.stripe[number]+`}`)
	case strings.HasPrefix(r.URL.Path, "/v3/"): // Mailgun
		items := "[]"
		if number < len(p.mailgun) {
			items = p.mailgun[number]
		}
		next := fmt.Sprintf("http://%s%s?page=%d", r.Host, r.URL.Path, number+2)
		_, _ = io.WriteString(w, `{"items":`+items+`,"paging":{"next":"`+next+`"}}`) //nolint:gosec // the peer wants back the host that it asked
	case strings.HasPrefix(r.URL.Path, "/api/"): // GitHub
		if number+1 < len(p.github) {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=%d>; rel="next"`, r.Host, r.URL.Path, number+2))
		}
		_, _ = io.WriteString(w, p.github[number])
	default:
		items := "[]"
		if number < len(p.ours) {
			items = p.ours[number]
		}
		_, _ = io.WriteString(w, ourEnvelope(number, items))
	}
}

func ourEnvelope(number int, items string) string {
	return `{"data":` + items + `,"pagination":{"page":` + strconv.Itoa(number+1) + `,"per_page":100}}`
}

func ourPage(number int) []byte { return []byte(ourEnvelope(number, pageOf(number, ourItem))) }

// firstID is that of the first item on the page numbered 0.
const firstID = 1_000_000

// pageOf returns a page as a JSON array.
func pageOf(number int, item func(id string) string) string {
	items := make([]string, perPage)
	for i := range items {
		items[i] = item(strconv.Itoa(firstID + number*perPage + i))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func ourItem(id string) string {
	return `{"id":` + id + `,"email":"contact` + id + `@example.com","status":"active","subscribed_on":1760000000,` +
		`"custom_attributes":[{"name":"first_name","value":"Ann"},{"name":"city","value":"Bonn"}],"tags":["vip","newsletter"],"last_bounce_type":"none"}`
}

func stripeItem(id string) string {
	return `{"id":"cus_` + id + `","object":"customer","email":"contact` + id + `@example.com","created":1760000000,"balance":0,` +
		`"metadata":{"first_name":"Ann","city":"Bonn"},"name":"Ann Smith","preferred_locales":["de","en"],"delinquent":false,"note":"abcde"}`
}

func mailgunItem(id string) string {
	return `{"address":"contact` + id + `@example.com","name":"Ann Smith","subscribed":true,` +
		`"vars":{"first_name":"Ann","city":"Bonn","status":"active","since":1760000000,"tags":["vip","newsletter"],"last_bounce":"none","plan":"gold","company":"Analytical"}}`
}

func githubItem(id string) string {
	return `{"id":` + id + `,"node_id":"MDU6TGFiZWwyMDgwNDU5` + id + `","url":"https://api.github.com/repos/octo/shop/labels/` + id + `",` +
		`"name":"label ` + id + `","description":"What is not as it should be, and is known","color":"f29513","default":true}`
}

func rawPages(ctx context.Context, c *http.Client, base string, count int) error {
	for i := range count {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s%s?per_page=%d&page=%d", base, contactsPath, perPage, i+1), http.NoBody)
		if err != nil {
			return err
		}
		if err := call(c, req); err != nil {
			return err
		}
	}
	return nil
}

// byHandPages is the usual loop: a page at a time, until one is not full.
func byHandPages(ctx context.Context, c *http.Client, base string, want int) error {
	got := 0
	for number := 1; ; number++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s%s?per_page=%d&page=%d", base, contactsPath, perPage, number), http.NoBody)
		if err != nil {
			return err
		}
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		var page client.ContactPage
		err = json.NewDecoder(resp.Body).Decode(&page)
		_ = resp.Body.Close()
		if err != nil {
			return err
		}
		if got += len(page.Data); len(page.Data) < perPage {
			return check(got, want, nil)
		}
	}
}

func check(got, want int, err error) error {
	if err == nil && got != want {
		err = fmt.Errorf("%d items, want %d", got, want)
	}
	return err
}

func ourPages(ctx context.Context, c *client.Client, want, lookahead int) error {
	got := 0
	for _, err := range c.Contacts.All(ctx, 1, client.ListContactsParams{PerPage: perPage}, client.Prefetch(lookahead)) {
		if err != nil {
			return err
		}
		got++
	}
	return check(got, want, nil)
}

func githubPages(ctx context.Context, c *http.Client, base string, want int) (op func() error, err error) {
	gh, err := github.NewClient(c).WithEnterpriseURLs(base, base)
	return func() error {
		got, opts := 0, &github.ListOptions{PerPage: perPage}
		for {
			labels, resp, err := gh.Issues.ListLabels(ctx, "octo", "shop", opts)
			if err != nil {
				return err
			}
			if got += len(labels); resp.NextPage == 0 {
				return check(got, want, nil)
			}
			opts.Page = resp.NextPage
		}
	}, err
}

func mailgunPages(ctx context.Context, c *http.Client, base string, want int) func() error {
	mg := mailgun.NewMailgun("mail.example.org", "key")
	mg.SetAPIBase(base + "/v3")
	mg.SetClient(c)
	return func() error {
		it, got := mg.ListMembers(mailgunList, &mailgun.ListOptions{Limit: perPage}), 0
		var members []mailgun.Member
		for it.Next(ctx, &members) {
			got += len(members)
		}
		return check(got, want, it.Err())
	}
}

func stripePages(ctx context.Context, c *http.Client, base string, want int) func() error {
	sc := stripe.NewClient("sk_test_123", stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		URL: stripe.String(base), HTTPClient: c, MaxNetworkRetries: stripe.Int64(0),
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull}, EnableTelemetry: new(false),
	})))
	return func() error {
		got := 0
		params := &stripe.CustomerListParams{}
		params.Limit = stripe.Int64(perPage)
		for _, err := range sc.V1Customers.List(ctx, params).All(ctx) {
			if err != nil {
				return err
			}
			got++
		}
		return check(got, want, nil)
	}
}

// equallyLong reports items whose lengths differ by more than a twentieth.
func equallyLong() error {
	ours := len(ourItem("1000000"))
	for name, item := range map[string]func(string) string{"stripe": stripeItem, "mailgun": mailgunItem, "github": githubItem} {
		if n := len(item("1000000")); n < ours*19/20 || n > ours*21/20 {
			return fmt.Errorf("an item of %s has %d bytes, ours %d", name, n, ours)
		}
	}
	if bytes.Count(ourPage(1), []byte(`"id"`)) != perPage {
		return fmt.Errorf("a page does not hold %d items", perPage)
	}
	return nil
}
