package client

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// closeSignal is a connection that reports when it is closed.
type closeSignal struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
}

func (c *closeSignal) Close() error {
	defer c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// TestUnusableConnection makes an HTTP/2 connection unusable after net/http has
// chosen it for a request and before it begins a stream. net/http then closes the
// body and sends the same request, with the same body, on another connection.
func TestUnusableConnection(t *testing.T) {
	created := make(chan string, 10)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.ProtoMajor != 2 {
			t.Errorf("%s %s: got %q, %v", r.Proto, r.Method, body, err)
		}
		if r.Method == http.MethodPost {
			created <- string(body)
		}
		respondWith(http.StatusOK, "application/json", `{"template_id":1}`)(w, r)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	tr := srv.Client().Transport.(*http.Transport)
	tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &closeSignal{Conn: conn, closed: make(chan struct{})}, err
	}
	c := newClient(t, srv.URL, tr, withoutRetries)
	get := func() {
		if _, err := c.Templates.Get(t.Context(), 1); err != nil {
			t.Error(err)
		}
	}
	get() // net/http shares an HTTP/2 connection only after its first request

	chosen := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if chosen++; chosen > 1 {
			return
		}
		conn := info.Conn.(*tls.Conn)
		_ = conn.SetReadDeadline(time.Unix(1, 0)) // net/http treats any failed read as the end of the connection
		<-conn.NetConn().(*closeSignal).closed
		get() // opens the other connection
	}})
	must(t)(c.Templates.Create(ctx, TemplateCreate{Name: "n"}))
	if body, more := <-created, len(created); body != `{"name":"n"}` || more > 0 {
		t.Errorf("the platform got %q and %d more, want one request with the whole body", body, more)
	}
	if chosen != 2 {
		t.Errorf("net/http used %d connections, want 2: the test no longer makes net/http reuse a body", chosen)
	}
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

// TestConnectionPoolSize sends requests in waves. All requests succeed with at most 100 connections, and later
// waves reuse the connections of the first wave.
func TestConnectionPoolSize(t *testing.T) {
	const waves, size, most = 5, 300, 100
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int64
		conns := make(listener) // in memory, because testing/synctest does not support sockets
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(20 * time.Millisecond)
			respondWith(http.StatusCreated, "application/json", `{"id":"x"}`)(w, r)
		})}
		go srv.Serve(conns) //nolint:errcheck // Serve returns an error after Close
		c, err := New(Config{BaseURL: "http://127.0.0.1", Token: testToken})
		require.NoError(t, err)
		c.shared.cfg.HTTPClient.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
			opened.Add(1)
			here, there := net.Pipe()
			conns <- there
			return here, nil
		}
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
		c.CloseIdleConnections()
		_ = srv.Close()
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
