package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mcp"
)

// post sends a request with a token that the platform does not know.
func post(t testing.TB, handler http.Handler, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := newRequest(t, "POST", body)
	r.Header.Set("MCP-Protocol-Version", "2025-03-26") // the last version with batches
	return serve(handler, r, "unknown-token")
}

func callContacts(arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts","arguments":` + arguments + `}}`
}

// filled returns items, separated by commas, with a total of at least n bytes.
func filled(n int, item func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(item(i))
	}
	return b.String()
}

// largeCalls are expensive requests within the size limit.
var largeCalls = map[string]string{
	"unknown arguments": callContacts(`{` + filled(63<<10, func(i int) string { return fmt.Sprintf(`"%x":1`, i) }) + `}`),
	"attributes":        callContacts(`{"custom_attributes":{` + filled(63<<10, func(i int) string { return fmt.Sprintf(`"%x":"1"`, i) }) + `}}`),
	"an array":          callContacts(`{"list_id":[` + filled(63<<10, func(int) string { return "1" }) + `]}`),
	"nested arrays":     callContacts(`{"list_id":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`),
	"a batch":           `[` + filled(63<<10, func(i int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i) }) + `]`,
}

// TestLargeRequests: a large request allocates at most 8 MiB. The allocated bytes are an upper bound of the memory in
// use.
func TestLargeRequests(t *testing.T) { // not parallel, because it counts allocations
	handler := newHandler(t, newPlatform(t), mcp.Options{})
	for name, body := range largeCalls {
		w := post(t, handler, body) // the first request includes the initialization
		if w.Body.Len() > 8000 {
			t.Errorf("%s: the response has %d bytes", name, w.Body.Len())
		}
		each := uint64(math.MaxUint64) // the minimum, because goroutines of earlier tests may also allocate
		for range 3 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			post(t, handler, body)
			runtime.ReadMemStats(&after)
			each = min(each, after.TotalAlloc-before.TotalAlloc)
		}
		t.Logf("%-18s %d bytes: status %d, %d bytes of response, %.1f MiB allocated", name, len(body), w.Code, w.Body.Len(), float64(each)/(1<<20))
		if each > 8<<20 {
			t.Errorf("%s: a request of %d bytes allocates %d", name, len(body), each)
		}
	}
}

func TestBatchLimit(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, newPlatform(t), mcp.Options{})
	for n, want := range map[int]int{50: http.StatusOK, 51: http.StatusBadRequest} {
		pings := make([]string, n)
		for i := range pings {
			pings[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
		}
		if w := post(t, handler, "["+strings.Join(pings, ",")+"]"); w.Code != want {
			t.Errorf("%d messages: status %d, want %d: %s", n, w.Code, want, w.Body)
		}
	}
}

func TestUnknownArguments(t *testing.T) {
	t.Parallel()
	s := connectTo(t, answering(500, nil, ""))
	in := listing(nil)
	for i := range 30 {
		in[fmt.Sprint("x", i)] = 1
	}
	got := s.fails(t, "contacts", in)
	if strings.Count(got, `"x`) != 20 || !strings.Contains(got, " and 10 more; the arguments are operation, ") {
		t.Error(got)
	}
}

func TestMaxConcurrent(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	platform := roundTripper(func(r *http.Request) (*http.Response, error) {
		arrived <- struct{}{}
		<-release
		return answering(200, nil, `{"data":[]}`).RoundTrip(r)
	})
	cfg := client.Config{BaseURL: "https://platform.test", HTTPClient: &http.Client{Transport: platform}}
	handler, err := mcp.NewHandler(cfg, mcp.Options{MaxConcurrent: 2})
	fatal(t, err)
	call := callContacts(`{"operation":"list","list_id":1}`)
	done := make(chan int)
	for range 2 {
		go func() { done <- post(t, handler, call).Code }()
		<-arrived
	}
	if w := post(t, handler, call); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		t.Errorf("the third request: status %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	close(release)
	for range 2 {
		if code := <-done; code != http.StatusOK {
			t.Errorf("status %d", code)
		}
	}
	go func() { <-arrived }()
	if w := post(t, handler, call); w.Code != http.StatusOK {
		t.Errorf("after the others: status %d", w.Code)
	}
	if _, err := mcp.NewHandler(cfg, mcp.Options{MaxConcurrent: -1}); err == nil {
		t.Error("a negative limit is accepted")
	}
}

// TestLargeResults: the limit of 1 MiB applies to all results of an HTTP request, or to each result without HTTP.
func TestLargeResults(t *testing.T) {
	t.Parallel()
	contact := func(n int) string {
		return `{"id":1,"email":"a@example.com","status":"active","custom_attributes":[{"name":"n","value":"` + strings.Repeat("x", n) + `"}]}`
	}
	platform := func(n int) http.RoundTripper { return answering(200, nil, `{"data":[`+contact(n)+`]}`) }
	list := func(n int) (text string, structured map[string]any, isError bool) {
		return connectTo(t, platform(n)).call(t.Context(), t, "contacts", listing(nil))
	}
	text, small, _ := list(1000)
	structured, err := json.Marshal(small)
	fatal(t, err)
	most := 1<<20 - (len(structured) + len(text) - 1000)
	for n, want := range map[int]bool{most: false, most + 1: true} {
		if _, _, isError := list(n); isError != want {
			t.Errorf("without HTTP, %d bytes: error %v, want %v", n, isError, want)
		}
	}
	call := `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"contacts","arguments":{"operation":"list","list_id":1}}}`
	for _, row := range []struct{ contact, calls, fail int }{{contact: most, calls: 1}, {contact: 700 << 10, calls: 2, fail: 1}, {contact: most + 1, calls: 1, fail: 1}} {
		handler, err := mcp.NewHandler(client.Config{BaseURL: "https://platform.test", HTTPClient: &http.Client{Transport: platform(row.contact)}}, mcp.Options{})
		fatal(t, err)
		calls := make([]string, row.calls)
		for i := range calls {
			calls[i] = fmt.Sprintf(call, i+1)
		}
		w := post(t, handler, `[`+strings.Join(calls, ",")+`]`)
		body, _ := io.ReadAll(w.Body)
		if got := strings.Count(string(body), "use a smaller per_page"); got != row.fail {
			t.Errorf("%d calls with %d bytes: %d failed, want %d: %.300s", row.calls, row.contact, got, row.fail, body)
		}
	}
}
