package control_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

// FuzzControl sends random requests to the control routes. No request may panic or cause a 5xx, and each error has the
// error format.
func FuzzControl(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "outbox?search=a&limit=2&before=x", ""},
		{"POST", "outbox/x/bounce", `{"category":"bounce_hb"}`},
		{"GET", "deliveries/dlv-1", ""},
		{"GET", "requests?status=4xx", ""},
		{"GET", "requests/req-00000001", ""},
		{"POST", "faults", `{"action":"status","probability":0.5,"delay_ms":1}`},
		{"PATCH", "faults/fault-1", `{"enabled":true}`},
		{"POST", "events", `{"url":"http://app.test","secret":"s","body":{"event":"x"}}`},
		{"PUT", "state", `{"version":4}`},
		{"POST", "seed", `{"lists":[{"name":"x"}]}`},
		{"GET", "accounts/1/api/lists/1/contacts?page=2", ""},
		{"POST", "accounts/1/api/lists", `{"name":"x"}`},
		{"PUT", "lookup-limit", `{"mode":"token_bucket"}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, method, target, body string) {
		path, query, _ := strings.Cut(target, "?")
		if strings.HasPrefix(path, "stream") || strings.HasPrefix(path, "wait") || !validMethod(method) {
			t.Skip() // skips blocking routes and invalid methods
		}
		srv := mockserver.New(mockserver.Config{Targets: map[string]http.Handler{"app.test": http.NotFoundHandler()}})
		defer srv.Close()
		for range 2 { // the second request finds the records of the first
			req := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(body))
			req.Method, req.URL = method, &url.URL{Path: "/_mock/" + path, RawQuery: query}
			req.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			srv.ServeHTTP(w, req)
			if w.Code >= 500 {
				t.Errorf("%s %s %s: %d %s, want no 5xx", method, target, body, w.Code, w.Body)
			}
			if w.Code >= 400 && !strings.HasPrefix(w.Body.String(), `{"detail":[{"loc":[`) {
				t.Errorf("%s %s %s: %d %s, want an error body", method, target, body, w.Code, w.Body)
			}
		}
	})
}

func validMethod(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' })
}
