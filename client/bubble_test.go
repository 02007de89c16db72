package client

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// newBubbleClient returns a client whose requests f answers, without a socket,
// for tests in which time is not real.
func newBubbleClient(t *testing.T, f roundTrip, change ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{BaseURL: "https://example.com", Token: testToken, HTTPClient: &http.Client{Transport: Spelled(f)}}
	for _, c := range change {
		c(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// withoutRetries is a change for newBubbleClient: what is not retried takes no
// time, outside of a bubble either.
func withoutRetries(cfg *Config) { cfg.Retry.MaxAttempts = 1 }

// respond returns an answer with headers given in pairs.
func respond(status int, body string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body))}
}
