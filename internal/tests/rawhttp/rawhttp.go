// Package rawhttp sends requests in tests without package client, which would repair or reject some of them.
package rawhttp

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// NewRequest returns a request with an access token and a JSON body. If the token or the body is "", the request does
// not have it.
func NewRequest(t testing.TB, method, url, token, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req
}

// Do sends a request and returns the response with its body. After an error, the body is the part that arrived.
func Do(via *http.Client, req *http.Request) (*http.Response, string, error) {
	res, err := via.Do(req) //nolint:gosec // the tests send requests to their own servers
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

// Send sends a request that must get a response.
func Send(t testing.TB, via *http.Client, req *http.Request) (*http.Response, string) {
	t.Helper()
	res, body, err := Do(via, req)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL.Path, err)
	}
	return res, body
}

// NoRedirects returns a client that does not follow redirects.
func NoRedirects(via http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     via,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
