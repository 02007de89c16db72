package client_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// The benchmarks stand beside a bare net/http loop that does the least that
// could do the job, on the same bytes and the same server.
const (
	million   = 1_000_000
	perBatch  = 1000
	perPage   = 100
	benchPath = "/lists/1/contacts"
)

// benchServer answers after a pause, over a socket.
func benchServer(b *testing.B, pause time.Duration, answer func(io.Writer, *http.Request)) (*httptest.Server, *client.Client) {
	b.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(pause)
		w.Header().Set("Content-Type", "application/json")
		answer(w, r)
	}))
	b.Cleanup(srv.Close)
	srv.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 8
	c, err := client.New(client.Config{BaseURL: srv.URL, Token: "t", HTTPClient: srv.Client()})
	if err != nil {
		b.Fatal(err)
	}
	return srv, c
}

func benchContact(i int) client.ImportContact {
	return client.ImportContact{
		Email:            "contact" + strconv.Itoa(i) + "@example.com",
		CustomAttributes: client.Attributes{{Name: "first_name", Value: "Ann"}, {Name: "city", Value: "Bonn"}},
	}
}

func benchContacts(n int) iter.Seq2[client.ImportContact, error] {
	return func(yield func(client.ImportContact, error) bool) {
		for i := range n {
			if !yield(benchContact(i), nil) {
				return
			}
		}
	}
}

// against runs raw and ours in turn, so that a busy machine slows both, and
// reports the items a second of ours and what part of raw's that is.
func against(b *testing.B, items int, raw, ours func()) {
	b.Helper()
	var r, o time.Duration
	for b.Loop() {
		start := time.Now()
		raw()
		middle := time.Now()
		ours()
		r += middle.Sub(start)
		o += time.Since(middle)
	}
	b.ReportMetric(float64(items)*float64(b.N)/o.Seconds(), "items/s")
	b.ReportMetric(100*r.Seconds()/o.Seconds(), "%-of-raw")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkImport imports a tenth of a million contacts per iteration.
func BenchmarkImport(b *testing.B) {
	const n = million / 10
	var body bytes.Buffer
	batch := client.ImportBatch{}
	for i := range perBatch {
		batch.Contacts = append(batch.Contacts, benchContact(i))
	}
	if err := json.NewEncoder(&body).Encode(batch); err != nil {
		b.Fatal(err)
	}
	for _, pause := range []time.Duration{0, 20 * time.Millisecond} {
		srv, c := benchServer(b, pause, importAll)
		b.Run(pause.String(), func(b *testing.B) {
			against(b, n, func() {
				rawLoop(b, srv, 4, n/perBatch, func(int) *http.Request {
					r, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL+benchPath+"/import", bytes.NewReader(body.Bytes()))
					r.Header.Set("Content-Type", "application/json")
					return r
				})
			}, func() {
				report, err := c.Contacts.Import(b.Context(), 1, benchContacts(n), client.ImportOptions{Concurrency: 4})
				if err != nil || report.Imported != n {
					b.Fatal(report, err)
				}
			})
		})
	}
}

func importAll(w io.Writer, _ *http.Request) {
	_, _ = io.WriteString(w, `{"imported":1000,"updated":0,"errors":[]}`)
}

// rawLoop sends n requests, some at a time, and drops the answers.
func rawLoop(b *testing.B, srv *httptest.Server, concurrency, n int, request func(int) *http.Request) {
	b.Helper()
	var wg sync.WaitGroup
	numbers := make(chan int)
	for range concurrency {
		wg.Go(func() {
			for i := range numbers {
				resp, err := srv.Client().Do(request(i))
				if err != nil {
					b.Error(err)
					continue
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	wg.Wait()
}

// BenchmarkImportMemory reports the most memory that was in use during imports
// of different sizes.
func BenchmarkImportMemory(b *testing.B) {
	_, c := benchServer(b, 0, importAll)
	for _, n := range []int{10_000, million} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				var peak peakMemory
				_, err := c.Contacts.Import(b.Context(), 1, benchContacts(n), client.ImportOptions{
					Concurrency: 4,
					OnProgress: func(p client.ImportProgress) {
						if p.Batches%(n/10_000*2) == 0 {
							peak.sample()
						}
					},
				})
				if err != nil {
					b.Fatal(err)
				}
				peak.report(b)
			}
		})
	}
}

// peakMemory keeps the most memory that was in use when it was sampled.
type peakMemory struct{ bytes uint64 }

func (p *peakMemory) sample() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	p.bytes = max(p.bytes, m.HeapAlloc)
}

func (p *peakMemory) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(p.bytes)/(1<<20), "peak-MiB")
}

// pageServer serves a million contacts.
func pageServer(b *testing.B, pause time.Duration, pages int) (*httptest.Server, *client.Client) {
	b.Helper()
	var contacts []byte
	for i := range perPage {
		contacts = fmt.Appendf(contacts, `,{"id":%d,"email":%q,"custom_attributes":[{"name":"first_name","value":"Ann"},{"name":"city","value":"Bonn"}],`+
			`"last_bounce_type":"none","status":"active","subscribed_on":1760000000,"tags":["vip","newsletter"]}`, 90210+i, benchContact(i).Email)
	}
	items, _ := bytes.CutPrefix(contacts, []byte(`,{"id":90210,`))
	return benchServer(b, pause, func(w io.Writer, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("page"))
		page := fmt.Appendf(nil, `{"pagination":{"page":%d,"per_page":%d},"data":[`, max(n, 1), perPage)
		if n <= pages {
			page = fmt.Appendf(page, `{"id":%d,%s]`, n, items) // no page is the same as another
		} else {
			page = append(page, ']')
		}
		_, _ = w.Write(append(page, '}'))
	})
}

// BenchmarkAll iterates over a tenth of a million contacts per iteration.
func BenchmarkAll(b *testing.B) {
	const n = million / 10
	srv, c := pageServer(b, 0, n/perPage)
	for _, lookahead := range []int{0, 1} {
		b.Run(fmt.Sprintf("lookahead=%d", lookahead), func(b *testing.B) {
			against(b, n, func() {
				rawLoop(b, srv, 1, n/perPage, func(i int) *http.Request {
					r, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, srv.URL+benchPath+"?per_page=100&page="+strconv.Itoa(i+1), nil)
					return r
				})
			}, func() { benchIterate(b, c, n, lookahead, nil) })
		})
	}
}

// BenchmarkAllMemory reports the most memory that was in use during iterations
// of different lengths.
func BenchmarkAllMemory(b *testing.B) {
	for _, n := range []int{10_000, million} {
		_, c := pageServer(b, 0, n/perPage)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var peak peakMemory
			for b.Loop() {
				benchIterate(b, c, n, 0, &peak)
			}
			peak.report(b)
		})
	}
}

func benchIterate(b *testing.B, c *client.Client, want, lookahead int, peak *peakMemory) {
	b.Helper()
	n := 0
	for _, err := range c.Contacts.All(b.Context(), 1, client.ListContactsParams{PerPage: perPage}, client.Prefetch(lookahead)) {
		if err != nil {
			b.Fatal(err)
		}
		if n++; peak != nil && n%(want/10) == 0 {
			peak.sample()
		}
	}
	if n != want {
		b.Fatalf("%d items, want %d", n, want)
	}
}

// BenchmarkPrefetch has the platform take 20 ms a page.
func BenchmarkPrefetch(b *testing.B) {
	const pages = 200
	_, c := pageServer(b, 20*time.Millisecond, pages)
	for _, lookahead := range []int{0, 1, 3} {
		b.Run(strconv.Itoa(lookahead), func(b *testing.B) {
			for b.Loop() {
				benchIterate(b, c, pages*perPage, lookahead, nil)
			}
			b.ReportMetric(float64(pages*perPage*b.N)/b.Elapsed().Seconds(), "items/s")
		})
	}
}

// BenchmarkSend is one call without the network.
func BenchmarkSend(b *testing.B) {
	body := []byte(`{"id":"7b3c1f2e-5a0d-4a52-9c57-0b1d6f0a9e11","email":"ann@example.com","status":"queued"}`)
	c, err := client.New(client.Config{BaseURL: "https://platform.test", Token: "t", HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		_ = r.Body.Close() // as a transport must, or its memory is not used again
		return &http.Response{StatusCode: http.StatusCreated, Header: http.Header{}, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body))}, nil
	})}})
	if err != nil {
		b.Fatal(err)
	}
	email := client.EmailSubmission{To: "ann@example.com", Sender: sender(), Content: client.EmailContent{Subject: "S", TemplateID: 1}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Emails.Send(b.Context(), email); err != nil {
			b.Fatal(err)
		}
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// BenchmarkLookups makes lookups by 64 goroutines over a socket, against a
// platform that refuses what comes too early: with -benchtime=60x it takes a
// minute, and should report no refusal and little more than a second each.
func BenchmarkLookups(b *testing.B) {
	srv := mockserver.Start(mockserver.Config{})
	b.Cleanup(srv.Close)
	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token()})
	if err != nil {
		b.Fatal(err)
	}
	email, err := c.Emails.Send(b.Context(), client.EmailSubmission{To: "ann@example.com", Sender: sender(), Content: client.EmailContent{Subject: "S", Text: "T"}})
	if err != nil {
		b.Fatal(err)
	}
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
	refused := 0
	for _, r := range srv.Requests() {
		if r.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	b.ReportMetric(float64(refused), "refused")
	b.ReportMetric(b.Elapsed().Seconds()/float64(max(b.N-1, 1)), "s/lookup")
	b.ReportMetric(0, "ns/op")
}
