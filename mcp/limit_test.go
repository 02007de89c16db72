package mcp_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mcp"
)

// filled returns items of a format, separated by commas, with a total of about 63 KiB.
func filled(format string) string {
	var b strings.Builder
	for i := 0; b.Len() < 63<<10; i++ {
		fmt.Fprintf(&b, format+",", i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// largeCalls are expensive requests within the size limit.
var largeCalls = map[string]string{
	"unknown arguments": toolCall("contacts", `{`+filled(`"%x":1`)+`}`),
	"attributes":        toolCall("contacts", `{"custom_attributes":{`+filled(`"%x":"1"`)+`}}`),
	"an array":          toolCall("contacts", `{"list_id":[1`+strings.Repeat(",1", 31<<10)+`]}`),
	"nested arrays":     toolCall("contacts", `{"list_id":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`}`),
	"a batch":           `[` + filled(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`) + `]`,
}

// TestLargeRequests: a large request allocates at most 8 MiB. The test measures allocated bytes, because they are an
// upper bound of the memory in use.
func TestLargeRequests(t *testing.T) { // not parallel, because it counts allocations
	handler := newHandler(t, newPlatform(t), mcp.Options{})
	for name, body := range largeCalls {
		w := post(t, handler, "unknown-token", body) // the first request includes the initialization
		if w.Body.Len() > 8000 {
			t.Errorf("%s: the response has %d bytes", name, w.Body.Len())
		}
		each := uint64(math.MaxUint64) // the minimum, because goroutines of earlier tests may also allocate
		for range 3 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			post(t, handler, "unknown-token", body)
			runtime.ReadMemStats(&after)
			each = min(each, after.TotalAlloc-before.TotalAlloc)
		}
		t.Logf("%-18s status %d, %.1f MiB allocated", name, w.Code, float64(each)/(1<<20))
		if each > 8<<20 {
			t.Errorf("%s: a request of %d bytes allocates %d", name, len(body), each)
		}
	}
}

func TestBatchLimit(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, newPlatform(t), mcp.Options{})
	for n, want := range map[int]int{50: http.StatusOK, 51: http.StatusBadRequest} {
		pings := strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, n)
		if w := post(t, handler, "unknown-token", "["+strings.TrimSuffix(pings, ",")+"]"); w.Code != want {
			t.Errorf("%d messages: status %d, want %d: %s", n, w.Code, want, w.Body)
		}
	}
}

// TestIDs: an id that the response could not repeat exactly is an error.
func TestIDs(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, newPlatform(t), mcp.Options{})
	for id, want := range map[string]int{
		`"1.5"`: http.StatusOK, `0`: http.StatusOK, `1.0`: http.StatusOK, `-9007199254740991`: http.StatusOK, `9007199254740991`: http.StatusOK,
		`1.5`: http.StatusBadRequest, `9007199254740993`: http.StatusBadRequest, `-1e400`: http.StatusBadRequest,
	} {
		ping := `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`
		for _, body := range []string{ping, `[` + ping + `]`} {
			if w := post(t, handler, "unknown-token", body); w.Code != want {
				t.Errorf("%s: status %d, want %d: %s", body, w.Code, want, w.Body)
			}
		}
	}
}

// TestMaxConcurrent: a request waits for up to one second until another request ends.
func TestMaxConcurrent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		platform := roundTripper(func(r *http.Request) (*http.Response, error) {
			<-release
			return respondWith(200, nil, `{"data":[]}`).RoundTrip(r)
		})
		cfg := client.Config{BaseURL: "https://platform.test", HTTPClient: &http.Client{Transport: platform}}
		handler, err := mcp.NewHandler(cfg, mcp.Options{MaxConcurrent: 2})
		require.NoError(t, err)
		call := toolCall("contacts", `{"operation":"list","list_id":1}`)
		done := make(chan int)
		for range 2 {
			go func() { done <- post(t, handler, "unknown-token", call).Code }()
		}
		synctest.Wait()
		start := time.Now()
		w := post(t, handler, "unknown-token", call)
		if retry := w.Header().Get("Retry-After"); w.Code != http.StatusServiceUnavailable || retry != "1" {
			t.Errorf("the third request: status %d, Retry-After %q", w.Code, retry)
		}
		assert.Equal(t, time.Second, time.Since(start))
		go func() { done <- post(t, handler, "unknown-token", call).Code }()
		time.Sleep(time.Second / 2)
		close(release)
		for range 3 {
			assert.Equal(t, http.StatusOK, <-done, "status")
		}
	})
}

// TestLargeResults: the limit of 1 MiB applies to the sum of the results of an HTTP request. Without HTTP, it
// applies to each result.
func TestLargeResults(t *testing.T) {
	t.Parallel()
	platform := func(n int) http.RoundTripper {
		value := `{"name":"n","value":"` + strings.Repeat("x", n) + `"}`
		return respondWith(200, nil, `{"data":[{"id":1,"email":"a@example.com","status":"active","custom_attributes":[`+value+`]}]}`)
	}
	list := func(n int) (text string, structured map[string]any, isError bool) {
		return connectTo(t, platform(n)).call(t.Context(), t, "contacts", listing(nil))
	}
	text, small, _ := list(1000)
	structured, err := json.Marshal(small)
	require.NoError(t, err)
	most := 1<<20 - (len(structured) + len(text) - 1000)
	for n, want := range map[int]bool{most: false, most + 1: true} {
		if _, _, isError := list(n); isError != want {
			t.Errorf("without HTTP, %d bytes: error %v, want %v", n, isError, want)
		}
	}
	for _, row := range []struct{ contact, calls, fail int }{
		{contact: most, calls: 1}, {contact: most + 1, calls: 1, fail: 1}, {contact: 700 << 10, calls: 2, fail: 1},
	} {
		cfg := client.Config{BaseURL: "https://platform.test", HTTPClient: &http.Client{Transport: platform(row.contact)}}
		handler, err := mcp.NewHandler(cfg, mcp.Options{})
		require.NoError(t, err)
		call := toolCall("contacts", `{"operation":"list","list_id":1}`)
		if row.calls == 2 {
			call = "[" + call + "," + strings.Replace(call, `"id":1`, `"id":2`, 1) + "]"
		}
		w := post(t, handler, "unknown-token", call)
		if got := strings.Count(w.Body.String(), "use a smaller per_page"); got != row.fail {
			t.Errorf("%d calls with %d bytes: %d failed, want %d: %.300s", row.calls, row.contact, got, row.fail, w.Body)
		}
	}
}
