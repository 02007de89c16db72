package benchmarks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/mockserver"
)

// maxGrowth is the maximum ratio of two times per record: the time with the most records, and the time with a tenth of
// them.
const maxGrowth = 4

// maxTimes contains the maximum time of each kind of operation with the most records. A listing operation reads or
// writes every record, so its maximum time is high, but the growth of its time is limited.
var maxTimes = map[string]time.Duration{
	"flat":         time.Millisecond,
	"filtered":     10 * time.Millisecond,
	"copied":       10 * time.Millisecond, // copies a pointer to each record
	"first_sorted": 60 * time.Millisecond,
	"listing":      time.Hour,
}

// BenchmarkScale measures the time of mock server operations with many records of one kind. It fails if an operation
// with the most records takes longer than maxTimes, or if its time per record grows.
func BenchmarkScale(b *testing.B) {
	for _, kind := range []struct {
		name string
		run  func(s *scale, n int)
	}{
		{"contacts", (*scale).contacts},
		{"messages", (*scale).messages},
		{"deliveries", (*scale).deliveries},
		{"pending", (*scale).pending},
	} {
		b.Run(kind.name, func(b *testing.B) {
			took := map[string][]time.Duration{}
			for _, n := range []int{1000, 10_000, 100_000} {
				b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
					if testing.Short() && n > 1000 {
						b.Skip("-short")
					}
					receiver := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
					config := mockserver.Config{SkipValidation: true, RecordEvents: true, Targets: map[string]http.Handler{"receiver.test": receiver}}
					s := &scale{b, mockserver.New(config), took}
					defer s.srv.Close()
					kind.run(s, n)
				})
			}
			for name, all := range took {
				kind, _, _ := strings.Cut(name, "/")
				if last := len(all) - 1; last == 2 && (all[last] > maxTimes[kind] || all[last] > 10*maxGrowth*all[last-1]) {
					b.Errorf("%s takes too long, or its time grows with the number of records: %v", name, all)
				}
			}
		})
	}
}

// scale measures a mock server without sockets.
type scale struct {
	b    *testing.B // the benchmark in progress
	srv  *mockserver.Server
	took map[string][]time.Duration // times of each operation, from the fewest to the most records
}

// measure reports the time of the fastest call, because other work on the machine slows calls down, and the first
// call includes lazy initialization. Instead of b.N calls, it makes up to 100 calls within 300 ms. If fewer than 3
// calls fit into 300 ms, it makes up to 3 within 1 minute. The name must begin with a key of maxTimes and a slash,
// because BenchmarkScale compares the time with the maximum for this key.
func (s *scale) measure(name string, call func(i int)) { s.measureAfter(func() {}, name, call) }

// measureAfter is like measure, but calls prepare before each call.
func (s *scale) measureAfter(prepare func(), name string, call func(i int)) {
	parent := s.b
	parent.Run(name, func(b *testing.B) {
		s.b = b
		least, begin := time.Hour, time.Now()
		for i := 0; i < 100 && time.Since(begin) < 300*time.Millisecond || i < 3 && time.Since(begin) < time.Minute; i++ {
			prepare()
			start := time.Now()
			call(i)
			least = min(least, time.Since(start))
		}
		s.took[name] = append(s.took[name], least)
		b.ReportMetric(float64(least), "ns/op")
	})
	s.b = parent
}

// get measures a GET request.
func (s *scale) get(name, path string, args ...any) {
	path = fmt.Sprintf(path, args...)
	s.measure(name, func(int) { s.do(http.MethodGet, path, "") })
}

const scaleEmail = `{"email":%q,"sender":{"name":"Shop","email":"shop@example.com"},"content":{"subject":"Hello","text":"Hi"}%s}`

// send measures sending an email. The text more is appended to the JSON fields of the body.
func (s *scale) send(name, to, more string) {
	s.measure(name, func(int) { s.post("/v2/emails", scaleEmail, to, more) })
}

// do makes a request and returns the body of the response.
func (s *scale) do(method, path, body string, args ...any) []byte {
	if len(args) > 0 {
		body = fmt.Sprintf(body, args...)
	}
	response := httptest.NewRecorder()
	s.srv.ServeHTTP(response, newRequest(method, "http://127.0.0.1"+path, mockserver.DefaultToken, "application/json", strings.NewReader(body)))
	if response.Code/100 != 2 {
		s.b.Fatalf("%s %s: %d %s", method, path, response.Code, response.Body)
	}
	return response.Body.Bytes()
}

func (s *scale) post(path, body string, args ...any) { s.do(http.MethodPost, path, body, args...) }

// create creates a resource and returns its id.
func (s *scale) create(path, field, body string) string {
	var response map[string]json.RawMessage
	check(json.Unmarshal(s.do(http.MethodPost, path, body), &response))
	return string(bytes.Trim(response[field], `"`))
}

// fill creates n equal resources and returns their ids.
func (s *scale) fill(n int, path, field, body string) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = s.create(path, field, body)
	}
	return ids
}

func (s *scale) contacts(n int) {
	list := s.create("/lists", "list_id", `{"name":"L"}`)
	s.post("/lists/"+list+"/accept-policy", "")
	base := "/lists/" + list + "/contacts"
	for i := 0; i < n; i += 1000 {
		entries := make([]string, min(1000, n-i))
		for j := range entries {
			k := i + j
			entries[j] = fmt.Sprintf(`{"email":"c%d.%d@example.com","custom_attributes":[{"name":"city","value":"Bonn"}],"tags":["t%d","vip"]}`,
				k*7919%1_000_003, k, k%10)
		}
		s.post(base+"/import", `{"contacts":[%s]}`, strings.Join(entries, ","))
	}
	var page struct {
		Data []struct {
			ID    int64  `json:"id"`
			Email string `json:"email"`
		} `json:"data"`
	}
	check(json.Unmarshal(s.do(http.MethodGet, fmt.Sprintf("%s?per_page=100&page=%d", base, n/200), ""), &page))
	contact := func(i int) string { return fmt.Sprintf("%s/%d", base, page.Data[i].ID) }
	s.contactPages(base, n/100, page.Data[0].Email)
	s.get("flat/console_contacts", "/_mock/lists/%s/contacts", list)
	s.get("listing/console_contacts,search", "/_mock/lists/%s/contacts?search=c1", list)
	s.get("flat/console_lists", "/_mock/lists")
	s.measure("flat/get", func(i int) { s.do(http.MethodGet, contact(i), "") })
	s.measure("flat/create", func(i int) { s.post(base, `{"email":"n%d@example.com"}`, i) })
	s.measure("flat/update", func(i int) {
		s.do(http.MethodPatch, contact(i), `{"custom_attributes":[{"name":"city","value":"B%d"}]}`, i)
	})
	s.measure("flat/tag_one,new_tag", func(i int) { s.post(base+"/tag", `{"contact_ids":[%d],"tags":["n%d"]}`, page.Data[i].ID, i) })
	s.measure("flat/tag_one,common_tag", func(i int) {
		s.post(base+"/tag", `{"contact_ids":[%d],"tags":["t%d"]}`, page.Data[i].ID, (page.Data[i].ID+1)%10)
	})
	s.measure("flat/unsubscribe", func(i int) { s.post(contact(i)+"/unsubscribe", "") })
	s.measure("flat/import_known_contact", func(i int) { s.post(base+"/import", `{"contacts":[{"email":%q}]}`, page.Data[i].Email) })
	s.send("flat/send,list_given", "n1@example.com", `,"list_id":`+list)
	s.send("flat/send,no_list", "n1@example.com", "")
	s.measure("flat/delete", func(i int) { s.do(http.MethodDelete, contact(i), "") })
	s.measure("listing/campaign_to_all", func(int) {
		id := s.create("/campaigns", "campaign_id", `{"name":"C","list_id":`+list+`,"sender":{"email":"s@example.com"},"content":{"subject":"S","text":"T"}}`)
		s.post("/campaigns/"+id+"/schedule", "{}")
		check(s.srv.Wait(s.b.Context()))
	})
}

func (s *scale) contactPages(base string, last int, address string) {
	base += "?per_page=100"
	for kind, queries := range map[string][]string{
		"flat":     {"", "&sort=email:asc", "&sort=subscribed_on:desc", "&sort=status:asc"},
		"filtered": {"&filter=tag:vip", "&filter=status:active", "&filter=status:active&sort=email:asc", "&filter=tag:vip&sort=email:asc"},
	} {
		for _, query := range queries {
			s.get(kind+"/first_page"+query, "%s%s", base, query)
			s.get(kind+"/last_page"+query, "%s%s&page=%d", base, query, last)
		}
	}
	s.get("flat/filter=email", "%s&filter=email:%s", base, address)
	s.get("flat/filter=email&sort=email:asc", "%s&filter=email:%s&sort=email:asc", base, address)
	var state bytes.Buffer
	check(s.srv.Snapshot(&state))
	restore := func() { check(s.srv.Restore(bytes.NewReader(state.Bytes()))) } // without sorted contacts
	for _, field := range []string{"email", "subscribed_on", "status"} {
		s.measureAfter(restore, "first_sorted/"+field, func(int) { s.do(http.MethodGet, base+"&sort="+field+":asc", "") })
	}
}

// openings creates a webhook and emails, and opens the emails n times in turn. It returns the ids of the emails.
func (s *scale) openings(limit string, emails, n int) []string {
	s.create("/webhooks", "webhook_id", `{"url":"http://receiver.test/","events":["Email.Opened"]`+limit+`}`)
	ids := s.fill(emails, "/v2/emails", "id", fmt.Sprintf(scaleEmail, "ann@example.com", ""))
	for i := range n {
		check(s.srv.Open(ids[i%len(ids)]))
	}
	return ids
}

func (s *scale) messages(n int) {
	last := s.openings("", n, 0)[n-1]
	s.send("flat/send", "bea@example.com", "")
	s.get("copied/console_outbox", "/_mock/outbox")
	s.get("listing/console_outbox,search", "/_mock/outbox?search=ann")
	s.get("flat/console_message", "/_mock/outbox/%s", last)
	s.get("flat/console_overview", "/_mock/overview")
	s.get("flat/console_requests", "/_mock/requests")
	s.measure("flat/Server.Open", func(int) { check(s.srv.Open(last)) })
	s.measure("listing/Server.Outbox", func(int) { s.srv.Outbox() })
	s.measure("listing/Server.Snapshot", func(int) { check(s.srv.Snapshot(io.Discard)) })
}

func (s *scale) deliveries(n int) {
	ids := s.openings("", 5, n) // so each email has many deliveries
	check(s.srv.Wait(s.b.Context()))
	s.measure("flat/fire_and_deliver", func(int) {
		check(s.srv.Open(ids[0]))
		check(s.srv.Wait(s.b.Context()))
	})
	s.get("copied/console_deliveries", "/_mock/deliveries")
	s.get("listing/console_deliveries,search", "/_mock/deliveries?search=ann")
	s.get("flat/console_events", "/_mock/events")
	s.get("listing/console_message", "/_mock/outbox/%s", ids[1]) // lists its events among the newest 10,000
}

// pending fills the queue of a webhook that allows one delivery per day.
func (s *scale) pending(n int) {
	id := s.openings(`,"rate_limit":1,"rate_limit_period":"day"`, 1, n)[0]
	s.measure("flat/fire", func(int) { check(s.srv.Open(id)) })
	s.measure("flat/advance_one_day", func(int) { check(s.srv.Advance(s.b.Context(), 24*time.Hour)) })
	s.get("copied/console_deliveries", "/_mock/deliveries")
	s.get("flat/console_overview", "/_mock/overview")
	s.measure("listing/redeliver_pending", func(i int) {
		s.do(http.MethodPost, fmt.Sprintf("/_mock/deliveries/dlv-%d/redeliver", n/2+i), "")
	})
	s.measure("listing/Server.Snapshot", func(int) { check(s.srv.Snapshot(io.Discard)) })
}
