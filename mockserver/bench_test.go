package mockserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/mockserver"
)

// BenchmarkNew makes and closes a server: under 200 µs and 128 KiB.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		mockserver.New(mockserver.Config{}).Close()
	}
}

// BenchmarkRequests compares requests over loopback with a handler that
// answers the same bytes without looking.
func BenchmarkRequests(b *testing.B) {
	const list = `{"list_id":1,"name":"Customers","policy_accepted":false,"created_on":1760000000}` + "\n"
	constant := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = io.WriteString(w, list)
	}))
	defer constant.Close()
	free := mockserver.Start(mockserver.Config{SkipValidation: true})
	defer free.Close()
	validating := mockserver.Start(mockserver.Config{})
	defer validating.Close()
	for _, target := range []struct{ name, url string }{
		{"constant", constant.URL}, {"free", free.URL()}, {"validating", validating.URL()},
	} {
		id := post(b, target.url+"/lists")
		b.Run("GET/"+target.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call(b, http.MethodGet, fmt.Sprintf("%s/lists/%d", target.url, id), "")
			}
		})
		b.Run("POST/"+target.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				post(b, target.url+"/lists")
			}
		})
	}
}

func post(b *testing.B, url string) (id int64) {
	var list struct {
		ListID int64 `json:"list_id"`
	}
	if err := json.Unmarshal(call(b, http.MethodPost, url, `{"name":"Customers"}`), &list); err != nil {
		b.Fatal(err)
	}
	return list.ListID
}

func call(b *testing.B, method, url, body string) []byte {
	req, err := http.NewRequestWithContext(b.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+mockserver.DefaultToken)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		b.Fatal(res.Status, err)
	}
	return text
}

// BenchmarkMillion reads pages of a list of 1,000,000 contacts, filtered and
// sorted, near and far: under 50 ms each, and the server under 1 GiB.
func BenchmarkMillion(b *testing.B) {
	before := heap()
	p := newProbe(b, mockserver.Config{SkipValidation: true, OnViolation: func(error) {}})
	list := p.list()
	start := time.Now()
	for batch := range 1000 {
		p.must("POST", list+"/contacts/import", contacts(batch*1000))
	}
	imported := time.Since(start)
	used := heap() - before
	for _, page := range []struct{ name, query string }{
		{"near", "sort=email:asc&filter=status:active&page=1"},
		{"far", "sort=email:desc&filter=status:active&page=9999"},
		{"tag", "sort=email:asc&filter=tag:even&page=2500&with_count=true"},
		{"status", "sort=status:asc&page=5000"},
		{"date", "sort=subscribed_on:desc&filter=status:active&page=5000"},
	} {
		b.Run(page.name, func(b *testing.B) {
			for b.Loop() {
				p.must("GET", list+"/contacts?per_page=100&"+page.query, nil)
			}
			b.ReportMetric(float64(used)/(1<<20), "MiB")
			b.ReportMetric(imported.Seconds(), "import-s")
		})
	}
}

// BenchmarkOverview asks for the overview beside 1,000,000 contacts and as many
// messages of a campaign: under 5 ms, as beside none.
func BenchmarkOverview(b *testing.B) {
	for _, thousands := range []int{0, 1000} {
		p := newProbe(b, mockserver.Config{SkipValidation: true, OnViolation: func(error) {}})
		list := p.list()
		for batch := range thousands {
			p.must("POST", list+"/contacts/import", contacts(batch*1000))
		}
		campaign := p.must("POST", "/campaigns", `{"name":"Autumn","list_id":`+strings.TrimPrefix(list, "/lists/")+
			`,"sender":{"email":"s@example.org"},"content":{"subject":"A","text":"x"}}`).id("campaign_id")
		p.must("POST", "/campaigns/"+campaign+"/schedule", nil)
		if err := p.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
		for _, path := range []string{"overview?minutes=1440", "campaigns", "lists"} {
			b.Run(fmt.Sprintf("%d/%s", thousands*1000, path), func(b *testing.B) {
				for b.Loop() {
					p.must("GET", "/_mock/"+path, nil)
				}
			})
		}
	}
}

func contacts(from int) any {
	type attribute struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	type contact struct {
		Email      string      `json:"email"`
		Attributes []attribute `json:"custom_attributes"`
		Tags       []string    `json:"tags,omitzero"`
	}
	out := make([]contact, 1000)
	for i := range out {
		n := from + i
		out[i] = contact{
			Email:      fmt.Sprintf("user%d.%d@example.org", n*7919%1_000_003, n),
			Attributes: []attribute{{"first_name", fmt.Sprintf("Name%d", n)}, {"city", "Paris"}},
		}
		if n%2 == 0 {
			out[i].Tags = []string{"even"}
		}
	}
	return map[string]any{"contacts": out}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
