package client

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// respondWith returns a handler that always returns the same response.
func respondWith(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("X-Request-Id", "req-1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// roundTrip is a function that implements http.RoundTripper. Unlike http.Transport, it calls no httptrace
// hooks.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respond returns a response with headers given in pairs.
func respond(status int, body string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body))}
}

// inOrder returns a transport that returns the responses in order.
func inOrder(responses ...*http.Response) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		if len(responses) == 0 {
			return nil, errors.New("more requests than responses")
		}
		next := responses[0]
		responses = responses[1:]
		return next, nil
	}
}

// hijack writes the text raw to the connection, and closes the connection.
func hijack(t *testing.T, w http.ResponseWriter, raw string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.WriteString(conn, raw)
	_ = conn.Close()
}
