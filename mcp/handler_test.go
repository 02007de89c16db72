package mcp_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mcp"
	"example.com/emailplatform/mockserver"
)

// newHandler returns a handler that calls the mock server p.
func newHandler(t testing.TB, p *mockserver.Server, opts mcp.Options) http.Handler {
	t.Helper()
	h, err := mcp.NewHandler(client.Config{BaseURL: p.URL(), HTTPClient: &http.Client{Transport: p.Transport()}}, opts)
	require.NoError(t, err)
	return h
}

// caller sends a token with each request.
type caller string

func (c caller) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(c))
	return http.DefaultTransport.RoundTrip(r)
}

// dial returns an assistant that is connected over HTTP with a token.
func dial(t testing.TB, url, token string) *session {
	t.Helper()
	return open(t, &sdk.StreamableClientTransport{
		Endpoint:             url,
		HTTPClient:           &http.Client{Transport: caller(token)},
		DisableStandaloneSSE: true,
	})
}

// TestAccountIsolation: 100 concurrent calls use two accounts. No account can read or change the records of the other.
func TestAccountIsolation(t *testing.T) {
	t.Parallel()
	tokens := []string{"token-of-ada", "token-of-grace"}
	p := newPlatform(t, mockserver.Token{Value: tokens[0]}, mockserver.Token{Value: tokens[1], AccountID: 2})
	server := httptest.NewServer(newHandler(t, p, mcp.Options{MaxConcurrent: 300}))
	defer server.Close()
	var sessions [2]*session
	var lists [2]int64
	for i, token := range tokens {
		sessions[i] = dial(t, server.URL, token)
		lists[i] = newList(t, newClient(t, p.Transport(), token))
	}
	const calls = 100
	var wg sync.WaitGroup
	for n := range calls {
		wg.Go(func() {
			own, other := n%2, 1-n%2
			text, _, isError := sessions[own].call(t.Context(), t, "contacts", args{
				"operation": "create", "list_id": lists[own], "email": fmt.Sprintf("c%d@account%d.example.com", n, own),
			})
			if isError {
				t.Error(text)
			}
			text, _, isError = sessions[own].call(t.Context(), t, "contacts", args{"operation": "list", "list_id": lists[other]})
			if !isError || !strings.Contains(text, "this account has no list") {
				t.Errorf("account %d reads the list of account %d: %s", own, other, text)
			}
		})
	}
	wg.Wait()
	for i, s := range sessions {
		text, out := s.ok(t, "contacts", args{"operation": "list", "list_id": lists[i], "per_page": 100})
		if out["count"] != calls/2.0 || strings.Contains(text, fmt.Sprintf("@account%d.", 1-i)) {
			t.Errorf("account %d has %v contacts:\n%s", i, out["count"], text)
		}
	}
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// toolCall returns a request that calls a tool.
func toolCall(tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

// post returns the response to a request with a token. It uses the last protocol version with batches.
func post(t testing.TB, handler http.Handler, token, body string) *httptest.ResponseRecorder {
	t.Helper()
	return serve(t, handler, http.MethodPost, body, http.Header{
		"Authorization": {"Bearer " + token}, "Mcp-Protocol-Version": {"2025-03-26"},
	})
}

// serve returns the response to a request. A header Host sets the host of the request.
func serve(t testing.TB, handler http.Handler, method, body string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost:8808/mcp", strings.NewReader(body))
	maps.Copy(r.Header, header)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if host, ok := header["Host"]; ok {
		r.Host = host[0]
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func TestRequestStatus(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	handler := newHandler(t, p, mcp.Options{AllowedHosts: []string{"mcp.example.com"}})
	const local = "localhost:8808"
	good := "Bearer " + p.Token()
	for _, row := range []struct {
		name, host, authorization, origin string
		encoding                          string
		method, body                      string // POST and listTools by default
		want                              int
	}{
		{name: "localhost", host: local, authorization: good, want: 200},
		{name: "a loopback address", host: "127.0.0.1:8808", authorization: good, want: 200},
		{name: "a loopback address of IPv6", host: "[::1]:8808", authorization: good, want: 200},
		{name: "a loopback address without a port", host: "[::1]", authorization: good, want: 200},
		{name: "an allowed host, in any case", host: "MCP.example.com", authorization: good, want: 200},
		{name: "an allowed host with a port", host: "mcp.example.com:443", authorization: good, want: 200},
		{name: "a scheme in lower case", host: local, authorization: "bearer " + p.Token(), want: 200},
		{name: "the same origin", host: local, authorization: good, origin: "http://localhost:8808", want: 200},
		{name: "the last character of ASCII", host: local, authorization: "Bearer ~", want: 200},
		{name: "not JSON", host: local, authorization: good, body: `{`, want: 400},
		{name: "no token", host: local, want: 401},
		{name: "an empty token", host: local, authorization: "Bearer ", want: 401},
		{name: "another scheme", host: local, authorization: "Basic YTpi", want: 401},
		{name: "a token that cannot be sent on", host: local, authorization: "Bearer a b", want: 401},
		{name: "a token that is not ASCII", host: local, authorization: "Bearer t\u00f6ken", want: 401},
		{name: "a name that only begins like an allowed one", host: "mcp.example.com.evil.com", authorization: good, want: 403},
		{name: "a name that begins like a loopback one", host: "localhost.evil.com", authorization: good, want: 403},
		{name: "any address", host: "0.0.0.0:8808", authorization: good, want: 403},
		{name: "no host", authorization: good, want: 403},
		{name: "another origin", host: local, authorization: good, origin: "http://evil.example.com", want: 403},
		{name: "another port", host: local, authorization: good, origin: "http://localhost:3000", want: 403},
		{name: "an opaque origin, without a token", host: local, origin: "null", want: 403},
		{name: "a stream, which needs a session", host: local, authorization: good, method: http.MethodGet, want: 405},
		{name: "the end of a session", host: local, authorization: good, method: http.MethodDelete, want: 405},
		{name: "the largest body", host: local, authorization: good, body: padded(64 << 10), want: 200},
		{name: "a byte order mark", host: local, authorization: good, body: "\ufeff" + listTools, want: 200},
		{name: "no compression", host: local, authorization: good, encoding: "identity", want: 200},
		{name: "a compressed body", host: local, authorization: good, encoding: "gzip", body: "\x1f\x8b", want: 415},
		{name: "too large a body", host: local, authorization: good, body: padded(64<<10 + 1), want: 413},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{"Host": {row.host}}
			if row.authorization != "" {
				header.Set("Authorization", row.authorization)
			}
			if row.encoding != "" {
				header.Set("Content-Encoding", row.encoding)
			}
			if row.origin != "" {
				header.Set("Origin", row.origin)
			}
			w := serve(t, handler, cmp.Or(row.method, http.MethodPost), cmp.Or(row.body, listTools), header)
			if w.Code != row.want {
				t.Fatalf("got %d, want %d: %s", w.Code, row.want, w.Body)
			}
			assert.Equal(t, row.want == 401, w.Header().Get("WWW-Authenticate") == "Bearer", "WWW-Authenticate: %q", w.Header().Get("WWW-Authenticate"))
			assert.Equal(t, row.want == 200, strings.Contains(w.Body.String(), `"name":"contacts"`), "response %s", w.Body)
		})
	}
}

// padded returns a request of n bytes.
func padded(n int) string { return listTools + strings.Repeat(" ", n-len(listTools)) }

func TestHandlerConfig(t *testing.T) {
	t.Parallel()
	const url = "https://api.example.com"
	source := func(context.Context) (token client.Token, err error) { return token, err }
	for _, row := range []struct {
		cfg  client.Config
		opts mcp.Options
		want string
	}{
		{client.Config{}, mcp.Options{}, "BaseURL"},
		{client.Config{BaseURL: url, Token: "t"}, mcp.Options{}, "each caller sends its own"},
		{client.Config{BaseURL: url, TokenSource: source}, mcp.Options{}, "each caller sends its own"},
		{client.Config{BaseURL: "http://api.example.com"}, mcp.Options{}, "use https"},
		{client.Config{BaseURL: url}, mcp.Options{MaxConcurrent: -1}, "MaxConcurrent must be at least 0, got -1"},
	} {
		if _, err := mcp.NewHandler(row.cfg, row.opts); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("got %v, want an error about %s", err, row.want)
		}
	}
}

// TestNoLeaks: no goroutine remains after a request, and neither the log nor a response contains the token.
func TestNoLeaks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := mockserver.New(mockserver.Config{Tokens: []mockserver.Token{{Value: "very-secret-token"}}})
		defer p.Close()
		var log strings.Builder
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		handler := newHandler(t, p, mcp.Options{Logger: logger})
		for _, body := range []string{
			listTools,
			toolCall("tags", `{"operation":"list"}`),
			toolCall("contacts", `{"operation":"list","list_id":5}`),
			toolCall("lists", `{}`),
			`{"jsonrpc":"2.0","id":1,"method":"no/such"}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		} {
			assert.NotContains(t, post(t, handler, "very-secret-token", body).Body.String(), "very-secret-token", "the response shows the token")
		}
		assert.NotContains(t, log.String(), "very-secret-token", "the log shows the token")
	})
}

// TestConnectionsAreShared: consecutive calls share connections, although each call has its own client. On a busy machine,
// net/http may close a connection after a call, because it waits at most 50 ms for the goroutine that wrote the request.
func TestConnectionsAreShared(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	var opened atomic.Int64
	platform := httptest.NewUnstartedServer(p)
	platform.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	platform.Start()
	defer platform.Close()
	handler, err := mcp.NewHandler(client.Config{BaseURL: platform.URL}, mcp.Options{})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	defer server.Close()
	s := dial(t, server.URL, p.Token())
	const calls = 50
	for range calls {
		s.ok(t, "contacts", args{"operation": "list", "list_id": newList(t, newClient(t, p.Transport(), p.Token()))})
	}
	if n := opened.Load(); n > calls/2 {
		t.Errorf("%d connections were opened for %d calls", n, calls)
	}
}

// TestInvalidTokenStatus: the status and the challenge report an invalid token, because MCP clients handle them.
func TestInvalidTokenStatus(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	handler := newHandler(t, p, mcp.Options{})
	call := toolCall("tags", `{"operation":"list"}`)
	w := post(t, handler, "wrong-token", call)
	challenge := w.Header().Get("WWW-Authenticate")
	if w.Code != http.StatusUnauthorized || !strings.HasPrefix(challenge, `Bearer error="invalid_token"`) ||
		strings.Contains(w.Body.String()+challenge, "wrong-token") || strings.Contains(w.Body.String(), "jsonrpc") {
		t.Errorf("got %d with %q: %s", w.Code, challenge, w.Body)
	}
	second := strings.Replace(toolCall("lists", `{}`), `"id":1`, `"id":2`, 1) // a protocol error, because the tool is unknown
	batch := post(t, handler, "wrong-token", "["+call+","+second+"]")
	if batch.Code != w.Code || batch.Body.String() != w.Body.String() {
		t.Errorf("in a batch: %d: %s", batch.Code, batch.Body)
	}
	second = strings.Replace(call, `"id":1`, `"id":2`, 1)
	const listen = `{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{}}` // the response is a stream of events
	batch = post(t, handler, "wrong-token", "["+call+","+second+","+listen+"]")
	if n := strings.Count(batch.Body.String(), "access token"); n != 1 {
		t.Errorf("in a stream, %d times: %s", n, batch.Body)
	}
	if w := post(t, handler, p.Token(), call); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Tags, 50 per page") {
		t.Errorf("with the correct token: %d: %s", w.Code, w.Body)
	}
}
