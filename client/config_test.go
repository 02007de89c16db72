package client

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewRejectsConfig(t *testing.T) {
	source := func(context.Context) (Token, error) { return Token{Value: "t"}, nil }
	for name, tc := range map[string]struct {
		cfg  Config
		want string
	}{
		"no base URL":             {Config{Token: "t"}, "BaseURL: must not be empty"},
		"relative base URL":       {Config{BaseURL: "api.example.com/x", Token: "t"}, "absolute"},
		"other scheme":            {Config{BaseURL: "ftp://example.com", Token: "t"}, "absolute http or https"},
		"no host":                 {Config{BaseURL: "https:///x", Token: "t"}, "absolute"},
		"not a URL":               {Config{BaseURL: "https://user:" + testToken + "@[::1", Token: "t"}, "BaseURL"},
		"with a password":         {Config{BaseURL: "https://u:" + testToken + "@example.com", Token: "t"}, "username or password"},
		"with a space at its end": {Config{BaseURL: "https://example.com/v1 ", Token: "t"}, "BaseURL: must not contain white space"},
		"with a query":            {Config{BaseURL: "https://example.com?x=1", Token: "t"}, "query"},
		"with a fragment":         {Config{BaseURL: "https://example.com#x", Token: "t"}, "fragment"},
		"plain http":              {Config{BaseURL: "http://example.com", Token: "t"}, "plain http"},
		"no token":                {Config{BaseURL: "https://example.com"}, "Token: access token must not be empty"},
		"token with a line break": {Config{BaseURL: "https://example.com", Token: testToken + "\n"}, "byte 17"},
		"token beyond ASCII":      {Config{BaseURL: "https://example.com", Token: testToken + "\x7f"}, "byte 17"},
		"token with a space":      {Config{BaseURL: "https://example.com", Token: testToken + " "}, "byte 17"},
		"token after a space":     {Config{BaseURL: "https://example.com", Token: " " + testToken}, "byte 0"},
		"with an empty query":     {Config{BaseURL: "https://example.com?", Token: "t"}, "query"},
		"plain http by address":   {Config{BaseURL: "http://192.0.2.1", Token: "t"}, "plain http"},
		"user agent beyond ASCII": {Config{BaseURL: "https://example.com", Token: "t", UserAgent: "a\x7f"}, "UserAgent"},
		"token and source":        {Config{BaseURL: "https://example.com", Token: "t", TokenSource: source}, "both"},
		"negative limit":          {Config{BaseURL: "https://example.com", Token: "t", MaxResponseBytes: -1}, "MaxResponseBytes"},
		"bad user agent":          {Config{BaseURL: "https://example.com", Token: "t", UserAgent: "a\r\nb"}, "UserAgent"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.cfg)
			assert.ErrorContains(t, err, tc.want)
			if err != nil && strings.Contains(err.Error(), testToken) {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}

func TestNewAcceptsConfig(t *testing.T) {
	for _, base := range []string{
		"https://example.com", "https://example.com/", "https://example.com/mail/", "http://localhost:1", "http://LOCALHOST",
		"http://127.0.0.1", "http://127.8.8.8:80", "http://[::1]:80",
	} {
		if _, err := New(Config{BaseURL: base, Token: "t"}); err != nil {
			t.Errorf("New with %s: %v", base, err)
		}
	}
	if _, err := New(Config{BaseURL: "https://example.com", Token: "!~", UserAgent: "~ a/1"}); err != nil {
		t.Errorf("New with all visible ASCII characters: %v", err)
	}
	if _, err := New(Config{BaseURL: "http://example.com", Token: "t", AllowPlainHTTP: true}); err != nil {
		t.Errorf("New with AllowPlainHTTP: %v", err)
	}
}

// TestMaximumConfigValues: the largest values do not overflow.
func TestMaximumConfigValues(t *testing.T) {
	c := newTestClient(t, respondWith(201, "application/json", `{"list_id":7,"name":"n"}`), func(cfg *Config) { cfg.MaxResponseBytes = math.MaxInt64 })
	l, err := c.Lists.Create(t.Context(), ListCreate{Name: "n"})
	require.NoError(t, err)
	assert.EqualValues(t, 7, l.ID)
	c = newTestClient(t, respondWith(503, "application/json", ""), func(cfg *Config) {
		cfg.Retry = RetryConfig{BaseDelay: math.MaxInt64, MaxDelay: math.MaxInt64}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.Lists.Get(ctx, 7); !errors.Is(err, ErrServer) {
		t.Errorf("Get: %v", err)
	}
}

func TestHTTPClientIsNotChanged(t *testing.T) {
	hc := &http.Client{}
	c := newTestClient(t, respondWith(302, "text/plain", ""), func(cfg *Config) { cfg.HTTPClient = hc })
	_, err := c.Templates.Get(t.Context(), 1)
	assert.ErrorIs(t, err, ErrInvalidResponse, "a redirect")
	assert.Nil(t, hc.CheckRedirect, "the caller's client was changed")
	assert.Nil(t, hc.Transport, "the caller's client was changed")
	assert.Zero(t, hc.Timeout, "the caller's client was changed")
	assert.Nil(t, hc.Jar, "the caller's client was changed")
}

// listener accepts the connections of a channel until the channel is closed.
type listener chan net.Conn

func (l listener) Accept() (net.Conn, error) {
	if c, open := <-l; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l listener) Close() error {
	close(l)
	return nil
}

func (listener) Addr() net.Addr { return &net.TCPAddr{} }

// newInMemoryClient returns a client of a server on in-memory connections, and the number of opened connections. Use it
// only in a synctest bubble; see http1Platform.
func newInMemoryClient(t *testing.T, handler http.HandlerFunc) (*Client, *atomic.Int64) {
	t.Helper()
	opened, conns := new(atomic.Int64), make(listener)
	srv := &http.Server{Handler: handler}
	go srv.Serve(conns) //nolint:errcheck // Serve returns an error after Close
	c, err := New(Config{BaseURL: "http://127.0.0.1", Token: testToken})
	require.NoError(t, err)
	c.shared.cfg.HTTPClient.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
		opened.Add(1)
		here, there := net.Pipe()
		conns <- there
		return here, nil
	}
	t.Cleanup(func() {
		c.CloseIdleConnections()
		_ = srv.Close()
	})
	return c, opened
}

// TestConnectionPoolSize sends requests in waves. All requests succeed with at most 100 connections, and later
// waves reuse the connections of the first wave.
func TestConnectionPoolSize(t *testing.T) {
	const waves, size, most = 5, 300, 100
	synctest.Test(t, func(t *testing.T) {
		c, opened := newInMemoryClient(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(20 * time.Millisecond)
			respondWith(http.StatusCreated, "application/json", `{"id":"x"}`)(w, r)
		})
		for range waves {
			var wave sync.WaitGroup
			for range size {
				wave.Go(func() {
					if _, err := c.Emails.Send(t.Context(), EmailSubmission{To: "a@example.org"}); err != nil {
						t.Error(err)
					}
				})
			}
			wave.Wait()
			synctest.Wait() // until every connection is idle
		}
		if n := opened.Load(); n > most {
			t.Errorf("%d connections for %d waves of %d, want at most %d", n, waves, size, most)
		}
	})
}

// deafConn is a connection whose bytes disappear after dead is set, as after a NAT timeout.
type deafConn struct {
	net.Conn
	dead *atomic.Bool
}

func (c deafConn) Write(p []byte) (int, error) {
	if c.dead.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// TestDeadHTTP2Connection: the default transport closes an HTTP/2 connection that no longer carries bytes. Only one
// call has an unknown outcome, because the next call uses a new connection.
func TestDeadHTTP2Connection(t *testing.T) {
	tlsServer := httptest.NewUnstartedServer(nil)
	tlsServer.EnableHTTP2 = true
	tlsServer.StartTLS() // for its certificate
	defer tlsServer.Close()
	synctest.Test(t, func(t *testing.T) {
		conns := make(listener)
		srv := &http.Server{Handler: respondWith(http.StatusOK, "application/json", `{"id":"e"}`)}
		go srv.Serve(tls.NewListener(conns, tlsServer.TLS)) //nolint:errcheck // Serve returns an error after Close
		c, err := New(Config{BaseURL: "https://example.com", Token: testToken})
		require.NoError(t, err)
		tr := c.shared.cfg.HTTPClient.Transport.(*http.Transport)
		tr.TLSClientConfig = tlsServer.Client().Transport.(*http.Transport).TLSClientConfig
		var dead atomic.Bool
		opened := 0
		tr.DialContext = func(context.Context, string, string) (net.Conn, error) {
			opened++
			here, there := net.Pipe()
			conns <- there
			if opened > 1 {
				return here, nil
			}
			return deafConn{here, &dead}, nil
		}
		send := func() error {
			_, err := c.Emails.Send(t.Context(), EmailSubmission{To: "a@example.org"})
			return err
		}
		require.NoError(t, send())
		dead.Store(true)
		start := time.Now()
		require.ErrorIs(t, send(), ErrOutcomeUnknown)
		assert.Less(t, time.Since(start), 11*time.Second)
		require.NoError(t, send())
		assert.Equal(t, 2, opened)
		c.CloseIdleConnections()
		_ = srv.Close()
	})
}
