package client

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections are pipes, as testing/synctest needs.
type pipes struct {
	net.Listener
	conns  chan net.Conn
	opened atomic.Int64
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		p.opened.Add(1)
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (*pipes) Close() error   { return nil }
func (*pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestConnectionPoolSize sends requests in waves: all of them succeed with at most 100
// connections, and the waves after the first reuse these.
func TestConnectionPoolSize(t *testing.T) {
	const waves, size, most = 20, 300, 100
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn)}
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(20 * time.Millisecond)
			answer(http.StatusCreated, "application/json", `{"id":"x"}`)(w, r)
		})}
		go srv.Serve(p) //nolint:errcheck // it ends by Close
		c, err := New(Config{BaseURL: "http://127.0.0.1", Token: testToken})
		fatal(t, err)
		c.http.Transport.(*http.Transport).DialContext = p.dial
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
		if n := p.opened.Load(); n > most {
			t.Errorf("%d connections for %d waves of %d, want at most %d", n, waves, size, most)
		}
		c.CloseIdleConnections()
		close(p.conns)
		_ = srv.Close()
	})
}
