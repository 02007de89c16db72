package conformance_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/emailplatform/mockserver"
)

var stressFor = flag.Duration("stress", 0,
	"how long TestStress lasts; 0 is a few hundred requests by each of its goroutines")

const crowdSize = 64

// crowd is many users and recipients who act at once on one platform. What they
// did for certain is counted, so that it can be compared at the end.
type crowd struct {
	*testing.T
	srv      *mockserver.Server
	client   *http.Client
	shared   int64 // a list that all change
	campaign int64 // a list of five contacts, for campaigns
	members  []int64
	template int64
	hook     string // one that is archived and unarchived all the time
	deadline time.Time

	mu         sync.Mutex
	fired      map[string]int // events by name
	ids        map[int64]bool // contacts created
	imported   int64
	suppressed map[string]bool // what must be on the suppression list at the end
	received   map[string]int  // deliveries that a receiver accepted, by webhook and event id
	refusals   atomic.Int64    // attempts that a receiver refused
	requests   atomic.Int64
}

// TestStress lets 64 goroutines do everything at once, then asks for what must
// hold: each contact is there once and has one status, the suppression list is
// right, and every event is in the journal exactly once for every webhook.
func TestStress(t *testing.T) {
	c := newCrowd(t)
	var workers sync.WaitGroup
	for n := range crowdSize {
		workers.Go(func() {
			(&worker{crowd: c, n: n, random: rand.New(rand.NewPCG(uint64(n), 2)), owned: map[string]*ownContact{}}).work()
		})
	}
	workers.Wait()
	if err := c.srv.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.checkContacts()
	c.checkSuppressionList()
	c.checkJournal()
	t.Logf("%d requests, %d deliveries, %d attempts refused", c.requests.Load(), len(c.srv.Deliveries()),
		c.refusals.Load())
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{
		T:          t,
		fired:      map[string]int{},
		ids:        map[int64]bool{},
		suppressed: map[string]bool{},
		received:   map[string]int{},
	}
	c.srv = mockserver.Start(mockserver.Config{
		Targets:       map[string]http.Handler{"hook.test": c},
		RetrySchedule: slices.Repeat([]time.Duration{time.Millisecond}, 40),
		OnViolation:   func(err error) { t.Errorf("a violation of openapi.yaml: %v", err) },
	})
	t.Cleanup(c.srv.Close)
	transport := &http.Transport{MaxIdleConnsPerHost: crowdSize}
	t.Cleanup(transport.CloseIdleConnections)
	c.client = &http.Client{Transport: transport}
	if *stressFor > 0 {
		c.deadline = time.Now().Add(*stressFor)
	}
	c.shared, c.campaign = c.list(), c.list()
	for i := range 5 {
		_, body := c.call("POST", f("/lists/%d/contacts", c.campaign), f(`{"email":"m%d@example.org"}`, i))
		c.members = append(c.members, number(body["id"]))
	}
	_, body := c.call("POST", "/templates", design)
	c.template = number(body["template_id"])
	for range 2 { // those that must hear everything
		c.call("POST", "/webhooks", `{"url":"http://hook.test/steady","events":`+show(eventNames())+`}`)
	}
	_, body = c.call("POST", "/webhooks", `{"url":"http://hook.test/moody","events":`+show(eventNames())+`}`)
	c.hook, _ = body["webhook_id"].(string)
	return c
}

func (c *crowd) list() int64 {
	_, body := c.call("POST", "/lists", `{"name":"Crowd"}`)
	id := number(body["list_id"])
	c.call("POST", f("/lists/%d/accept-policy", id), "")
	return id
}

// ServeHTTP receives deliveries and refuses some of them.
func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		c.Errorf("reading a delivery: %v", err)
	}
	if rand.IntN(20) == 0 {
		c.refusals.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received[r.URL.Path+string(body)]++
}

// call makes a request and returns the answer's status and body.
func (c *crowd) call(method, path, body string) (int, map[string]any) {
	c.requests.Add(1)
	req, err := http.NewRequestWithContext(context.WithoutCancel(c.Context()), method, c.srv.URL()+path,
		strings.NewReader(body))
	if err != nil {
		c.Errorf("%s %s: %v", method, path, err)
		return 0, nil
	}
	req.Header.Set("Authorization", "Bearer "+c.srv.Token())
	req.Header.Set("Content-Type", "application/json")
	res, err := c.client.Do(req)
	if err != nil {
		c.Errorf("%s %s: %v", method, path, err)
		return 0, nil
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= 500 {
		c.Errorf("%s %s %s: status %d", method, path, body, res.StatusCode)
	}
	var out map[string]any
	decoder := json.NewDecoder(res.Body)
	decoder.UseNumber()
	_ = decoder.Decode(&out) // some answers have no body
	return res.StatusCode, out
}

func (c *crowd) expect(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		c.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// happened counts events that must fire.
func (c *crowd) happened(names ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		c.fired[name]++
	}
}

// contacts returns all contacts of the shared list that pass a filter.
func (c *crowd) contacts(filter string) (all []map[string]any, count int64) {
	for page := 1; ; page++ {
		_, body := c.call("GET", f("/lists/%d/contacts?per_page=100&page=%d&with_count=true%s", c.shared, page, filter), "")
		items, _ := body["data"].([]any)
		for _, item := range items {
			all = append(all, item.(map[string]any))
		}
		if pagination, ok := body["pagination"].(map[string]any); len(items) < 100 || !ok {
			return all, number(pagination["count"])
		}
	}
}

func (c *crowd) checkContacts() {
	all, count := c.contacts("")
	c.expect("the count", count, len(all))
	ids, emails, created, imported := map[int64]bool{}, map[any]bool{}, 0, int64(0)
	for _, contact := range all {
		ids[number(contact["id"])], emails[contact["email"]] = true, true
		if strings.HasPrefix(contact["email"].(string), "i") {
			imported++
		} else {
			created++
		}
	}
	c.expect("ids", len(ids), len(all))
	c.expect("addresses", len(emails), len(all))
	c.expect("created contacts", created, len(c.ids))
	c.expect("imported contacts", imported, c.imported)
	sum := 0
	for _, status := range []string{"active", "pending", "unsubscribed", "deleted", "spam", "bounced", "suppressed"} {
		some, count := c.contacts("&filter=status:" + status)
		c.expect("the count of "+status, count, len(some))
		sum += len(some)
		for _, contact := range some {
			c.expect("a contact that is "+status, contact["status"], status)
		}
	}
	c.expect("contacts by status", sum, len(all))
}

func (c *crowd) checkSuppressionList() {
	got := map[string]bool{}
	entries := 0
	for page := 1; ; page++ {
		_, body := c.call("GET", f("/suppressed-emails?per_page=100&page=%d", page), "")
		items, _ := body["data"].([]any)
		for _, item := range items {
			got[item.(map[string]any)["email"].(string)] = true
			entries++
		}
		if len(items) < 100 {
			break
		}
	}
	c.expect("entries of the suppression list", entries, len(got))
	if !maps.Equal(got, c.suppressed) {
		c.Errorf("the suppression list has %d addresses, want %d", len(got), len(c.suppressed))
	}
}

// checkJournal wants every event once for each webhook that was never archived,
// at most once for the other, and each to have been accepted.
func (c *crowd) checkJournal() {
	fired, events := map[string]map[string]int{}, map[string]int{}
	for _, d := range c.srv.Deliveries() {
		if fired[d.WebhookID] == nil {
			fired[d.WebhookID] = map[string]int{}
		}
		fired[d.WebhookID][string(d.Event)]++
		if d.EventID != "" {
			events[d.WebhookID+" "+d.EventID]++
		}
		accepted := 0
		for _, attempt := range d.Attempts {
			if attempt.Status == http.StatusOK {
				accepted++
			}
		}
		if steady := d.WebhookID != c.hook; accepted > 1 ||
			steady && (accepted != 1 || d.State != mockserver.DeliveryDelivered) {
			c.Errorf("%s of %s is %s, accepted %d times in %d attempts", d.Event, d.ID, d.State, accepted, len(d.Attempts))
		}
	}
	for hook, byName := range fired {
		if hook != c.hook {
			c.expect("events to webhook "+hook, byName, c.fired)
		}
	}
	c.expect("webhooks", len(fired), 3)
	for id, n := range events {
		c.expect("deliveries of event "+id, n, 1)
	}
	for body, n := range c.received { // both steady webhooks share a path
		if strings.HasPrefix(body, "/steady") && strings.Contains(body, `"account_lineage"`) {
			c.expect("receptions", n, 2)
		}
	}
}
