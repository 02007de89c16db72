package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWithToken: the clients of 1,000 tenants share a connection, send their own tokens, and use about 1 kB each.
func TestWithToken(t *testing.T) {
	const tenants = 1000
	var connections atomic.Int64
	requests := map[string]int{}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests[r.Header.Get("Authorization")]++ // one request at a time
		respondWith(200, "application/json", `{"template_id":1}`)(w, r)
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	c, err := New(Config{BaseURL: srv.URL, Token: testToken})
	require.NoError(t, err)
	defer c.CloseIdleConnections()

	tokens, clients := make([]string, tenants), make([]*Client, tenants)
	for i := range tokens {
		tokens[i] = fmt.Sprint("token-", i)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i, token := range tokens {
		clients[i], err = c.WithToken(token)
		require.NoError(t, err)
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)/tenants, uint64(1200), "bytes per client")

	for _, tenant := range append(clients, c) {
		must(t)(tenant.Templates.Get(t.Context(), 1))
	}
	assert.Equal(t, int64(1), connections.Load(), "connections")
	assert.Len(t, requests, tenants+1)
	assert.Equal(t, 1, requests["Bearer token-17"])
	assert.Equal(t, 1, requests["Bearer "+testToken])
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
