// Package probe sends requests to a mock server in tests. It does not use package client, which would repair or reject some of
// them, and whose tests use the mock server.
package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
)

// Probe sends requests to a mock server with an access token.
type Probe struct {
	testing.TB
	*mockserver.Server

	token string
}

// New returns a server in process. A response that violates openapi.yaml fails the test.
func New(t testing.TB, cfg mockserver.Config) Probe {
	t.Helper()
	if cfg.OnViolation == nil {
		cfg.OnViolation = func(err error) { t.Errorf("violation of openapi.yaml: %v", err) }
	}
	srv := mockserver.New(cfg)
	t.Cleanup(srv.Close)
	return Of(t, srv)
}

// Of returns a probe of a running server.
func Of(t testing.TB, srv *mockserver.Server) Probe { return Probe{t, srv, srv.Token()} }

// As returns a Probe of the same server with another token. If the token is "", the requests have no token.
func (p Probe) As(token string) Probe {
	p.token = token
	return p
}

// Request returns a request with the token. The body is JSON text, "" or nil for no body, or a value to encode.
func (p Probe) Request(method, path string, body any) *http.Request {
	p.Helper()
	text, isText := body.(string)
	if !isText && body != nil {
		encoded, err := json.Marshal(body)
		require.NoError(p, err)
		text = string(encoded)
	}
	return rawhttp.NewRequest(p, method, p.URL()+path, p.token, text)
}

// Do sends the request that [Probe.Request] returns.
func (p Probe) Do(method, path string, body any) Response {
	p.Helper()
	return p.Send(p.Request(method, path, body))
}

// Get sends a GET request.
func (p Probe) Get(path string) Response { p.Helper(); return p.Do(http.MethodGet, path, nil) }

// Delete sends a DELETE request.
func (p Probe) Delete(path string) Response { p.Helper(); return p.Do(http.MethodDelete, path, nil) }

// Post sends a POST request.
func (p Probe) Post(path string, body any) Response {
	p.Helper()
	return p.Do(http.MethodPost, path, body)
}

// Send sends a request. It checks that the response contains no local time and, if it is a response of the API, a request id.
func (p Probe) Send(req *http.Request) Response {
	p.Helper()
	res, body := rawhttp.Send(p, p.HTTPClient(), req) //nolint:bodyclose // Send has closed it
	r := Response{p, excerpt(req), res.StatusCode, res.Header, body}
	if found := LocalTime(body); found != "" {
		p.Errorf("%s: the response contains …%s, want UTC", r.Request, found)
	}
	if !strings.HasPrefix(req.URL.Path, "/_") && res.Header.Get("X-Request-Id") == "" {
		p.Errorf("%s: the response has no X-Request-Id", r.Request)
	}
	return r
}

// excerpt returns the request line and the beginning of the body.
func excerpt(req *http.Request) string {
	var body []byte
	if req.GetBody != nil {
		r, _ := req.GetBody()
		body, _ = io.ReadAll(io.LimitReader(r, 200))
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", req.Method, req.URL.RequestURI(), body))
}

// State returns a snapshot, with indentation.
func (p Probe) State() string {
	p.Helper()
	var state, indented bytes.Buffer
	require.NoError(p, p.Snapshot(&state))
	require.NoError(p, json.Indent(&indented, state.Bytes(), "", " "))
	return indented.String()
}

// offset is a UTC offset that no real time zone has, so a time with this offset is a local time.
const offset = "+04:37"

// Main runs the tests of a package in a local time zone with an offset of its own. So if the mock server returns a local time, a
// test fails on every machine, even if the machine uses UTC.
func Main(m *testing.M) {
	time.Local = time.FixedZone("local", 4*60*60+37*60)
	os.Exit(m.Run())
}

// LocalTime returns an excerpt that ends with a local time in RFC 3339 or email format, or "" if text contains none.
func LocalTime(text string) string {
	for _, offset := range []string{offset, strings.Replace(offset, ":", "", 1)} {
		if before, _, found := strings.Cut(text, offset); found {
			return before[max(0, len(before)-60):] + offset
		}
	}
	return ""
}
