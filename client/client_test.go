package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

func TestTokenHidden(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" { // a proxy that echoes the token
			w.Header().Set("X-Request-Id", r.Header.Get("Authorization"))
			respondWith(403, "text/plain", strings.Repeat("x", maxErrorBody-8)+r.Header.Get("Authorization"))(w, r)
			return
		}
		respondWith(422, "application/json", `{"detail":[{"loc":["header"],"msg":"bad `+r.Header.Get("Authorization")+`"}]}`)(w, r)
	}, func(cfg *Config) { cfg.Logger = logger })
	_, err1 := c.Templates.Get(t.Context(), 1)
	_, err2 := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
	leaky := newTestClient(t, nil, func(cfg *Config) {
		cfg.Logger = logger
		cfg.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("cannot send %v: %w", r.Header, io.ErrClosedPipe)
		})}
	})
	_, err3 := leaky.Templates.Get(t.Context(), 1)
	assert.ErrorIs(t, err3, io.ErrClosedPipe, "does not wrap its cause")
	for _, err := range []error{err1, err2, err3} {
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%T is not an *Error", err)
		}
		assert.NotContains(t, string(e.Body), "secret-t", "the body shows the token")
		hidesToken(t, e, *e, e.Details)
	}
	cfg := Config{BaseURL: "https://u:" + testToken + "@example.com", Token: testToken}
	hidesToken(t, c, *c, cfg, &cfg, Webhook{Secret: NewSecret(testToken)}, NewSecret(testToken), struct{ s Secret }{NewSecret(testToken)}, errors.Unwrap(err3))
	assert.NotContains(t, log.String(), testToken, "the log shows the token")
}

// TestCloseIdleConnections: the client closes its connection, and remains usable.
func TestCloseIdleConnections(t *testing.T) {
	closed := make(chan struct{}, 10)
	srv := httptest.NewUnstartedServer(respondWith(200, "application/json", `{"template_id":1}`))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			closed <- struct{}{}
		}
	}
	srv.Start()
	defer srv.Close()
	for _, hc := range []*http.Client{nil, {Transport: &http.Transport{}}} {
		c := newClient(t, srv.URL, nil, func(cfg *Config) { cfg.HTTPClient = hc })
		for range 2 {
			check.Need(c.Templates.Get(t.Context(), 1))(t)
			c.CloseIdleConnections()
			select {
			case <-closed:
			case <-time.After(time.Minute):
				t.Fatal("the connection is still open")
			}
		}
	}
}

// TestWithToken: the clients of 1,000 tenants share a connection, send their own tokens, and use about 1 kB each.
func TestWithToken(t *testing.T) {
	const tenants = 1000
	synctest.Test(t, func(t *testing.T) {
		requests := map[string]int{}
		c, connections := newInMemoryClient(t, func(w http.ResponseWriter, r *http.Request) {
			requests[r.Header.Get("Authorization")]++ // one request at a time
			respondWith(200, "application/json", `{"template_id":1}`)(w, r)
		})
		tokens, clients := make([]string, tenants), make([]*Client, tenants)
		for i := range tokens {
			tokens[i] = fmt.Sprint("token-", i)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i, token := range tokens {
			var err error
			clients[i], err = c.WithToken(token)
			require.NoError(t, err)
		}
		runtime.ReadMemStats(&after)
		assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/tenants, uint64(1200), "bytes per client")

		for _, tenant := range append(clients, c) {
			check.Need(tenant.Templates.Get(t.Context(), 1))(t)
		}
		assert.Equal(t, int64(1), connections.Load(), "connections")
		assert.Len(t, requests, tenants+1)
		assert.Equal(t, 1, requests["Bearer token-17"])
		assert.Equal(t, 1, requests["Bearer "+testToken])
	})
}

// keyRecorder records the keys of lookups.
type keyRecorder map[string]bool

func (k keyRecorder) Acquire(_ context.Context, key string) (func(time.Duration), error) {
	k[key] = true
	return func(time.Duration) {}, nil
}

// TestWithTokenOptions: the clients share the retry budget, but not the lookup rate limit, and do not call the source.
func TestWithTokenOptions(t *testing.T) {
	source := func(context.Context) (Token, error) { return Token{}, fmt.Errorf("the source was called") }
	keys := keyRecorder{}
	attempts := 0
	c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
		attempts++
		return respond(503, ""), nil
	}, withSource(source), withoutPauses, func(cfg *Config) { cfg.Retry.Budget, cfg.LookupLimiter = 1, keys })
	for _, want := range []int{2, 1} { // the first call spends the budget
		tenant, err := c.WithToken(fmt.Sprint("token-", want))
		require.NoError(t, err)
		attempts = 0
		_, err = tenant.Emails.Get(t.Context(), "e")
		require.ErrorIs(t, err, ErrServer)
		assert.Equal(t, want, attempts)
		hidesToken(t, tenant, *tenant)
	}
	assert.Len(t, keys, 2)
	_, err := c.WithToken("two words")
	require.ErrorContains(t, err, "client: WithToken: byte 3 of the access token is not a visible ASCII character")
	assert.NotContains(t, err.Error(), "words")
}
