package client_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// pageServer serves pages of 100 contacts. No two pages have the same contacts.
func pageServer(b *testing.B, pages int) *client.Client {
	b.Helper()
	var contacts []byte
	for i := range 100 {
		contacts = fmt.Appendf(contacts, `,{"id":%d,"email":"contact%d@example.com","custom_attributes":[{"name":"first_name","value":"Ann"},{"name":"city","value":"Bonn"}],`+
			`"last_bounce_type":"none","status":"active","subscribed_on":1760000000,"tags":["vip","newsletter"]}`, 90210+i, i)
	}
	items, _ := bytes.CutPrefix(contacts, []byte(`,{"id":90210,`))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("page"))
		page := fmt.Appendf(nil, `{"pagination":{"page":%d,"per_page":100},"data":[`, max(n, 1))
		if n <= pages {
			page = fmt.Appendf(page, `{"id":%d,%s`, n, items)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(page, "]}"...))
	}))
	b.Cleanup(srv.Close)
	c, err := client.New(client.Config{BaseURL: srv.URL, Token: "t"})
	fatal(b, err)
	return c
}

// BenchmarkAllMemory reports the peak memory of iterations of different lengths.
func BenchmarkAllMemory(b *testing.B) {
	for _, contacts := range []int{10_000, 1_000_000} {
		c := pageServer(b, contacts/100)
		b.Run(strconv.Itoa(contacts), func(b *testing.B) {
			var peak uint64
			for b.Loop() {
				n := 0
				for _, err := range c.Contacts.All(b.Context(), 1, client.ListContactsParams{}) {
					fatal(b, err)
					if n++; n%(contacts/10) == 0 {
						var m runtime.MemStats
						runtime.GC()
						runtime.ReadMemStats(&m)
						peak = max(peak, m.HeapAlloc)
					}
				}
				if n != contacts {
					b.Fatalf("got %d contacts, want %d", n, contacts)
				}
			}
			b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// BenchmarkLookups makes lookups with 64 goroutines. The mock server rejects lookups that
// come too early. With -benchtime=60x it takes a minute.
func BenchmarkLookups(b *testing.B) {
	srv := mockserver.Start(mockserver.Config{})
	b.Cleanup(srv.Close)
	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token()})
	fatal(b, err)
	email, err := c.Emails.Send(b.Context(), client.EmailSubmission{To: "ann@example.com", Sender: sender(), Content: client.EmailContent{Subject: "S", Text: "T"}})
	fatal(b, err)
	b.ResetTimer()
	var wg sync.WaitGroup
	var next atomic.Int64
	for range 64 {
		wg.Go(func() {
			for next.Add(1) <= int64(b.N) {
				if _, err := c.Emails.Get(b.Context(), email.ID); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	rejected := 0
	for _, r := range srv.Requests() {
		if r.Status == http.StatusTooManyRequests {
			rejected++
		}
	}
	b.ReportMetric(float64(rejected), "rejected")
	b.ReportMetric(b.Elapsed().Seconds()/float64(max(b.N-1, 1)), "s/lookup")
	b.ReportMetric(0, "ns/op")
}
