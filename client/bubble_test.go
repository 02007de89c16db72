package client

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// newBubbleClient returns a client without a socket. f responds to its requests.
func newBubbleClient(t *testing.T, f roundTrip, change ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{BaseURL: "https://example.com", Token: testToken, HTTPClient: &http.Client{Transport: Spelled(f)}}
	for _, c := range change {
		c(&cfg)
	}
	c, err := New(cfg)
	fatal(t, err)
	return c
}

func withoutRetries(cfg *Config) { cfg.Retry.MaxAttempts = 1 }

// respond returns a response with headers given in pairs.
func respond(status int, body string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body))}
}
