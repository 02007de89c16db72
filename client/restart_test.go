package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// processListener is the listener of one process of the platform. All processes get connections from the same listener.
type processListener struct {
	net.Listener
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func newProcessListener(l net.Listener, conns chan net.Conn) processListener {
	closed := make(chan struct{})
	return processListener{l, conns, closed, sync.OnceFunc(func() { close(closed) })}
}

func (b processListener) Accept() (net.Conn, error) {
	select {
	case c := <-b.conns:
		return c, nil
	case <-b.closed:
		return nil, net.ErrClosed
	}
}

func (b processListener) Close() error {
	b.close()
	return nil
}

// TestRollingRestarts: a busy client creates templates while the processes of the platform are replaced, each after its
// requests in progress. No template is created twice, no call fails, and no outcome is unknown.
func TestRollingRestarts(t *testing.T) {
	t.Parallel()
	const processes, goroutines = 10, 8
	l, err := net.Listen("tcp", "127.0.0.1:0")
	fatal(t, err)
	defer l.Close()
	conns := make(chan net.Conn)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns <- c
		}
	}()
	var created sync.Map
	served := make(chan struct{}, 1000)
	start := func() *httptest.Server {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor != 2 {
				t.Errorf("%s is not HTTP/2", r.Proto)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil || len(body) == 0 {
				t.Errorf("the body of a request is %q, %v, want the whole of it", body, err)
			}
			if _, duplicate := created.LoadOrStore(string(body), true); duplicate {
				t.Errorf("%q was created more than once", body)
			}
			select {
			case served <- struct{}{}:
			default:
			}
			respondWith(201, "application/json", `{"template_id":1}`)(w, r)
		}))
		_ = srv.Listener.Close()
		srv.Listener, srv.EnableHTTP2 = newProcessListener(l, conns), true
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.StartTLS()
		return srv
	}
	process := start()
	var o observations
	often := RetryConfig{MaxAttempts: 100, BaseDelay: -1, Budget: -1} // processes are replaced faster than anywhere else
	c, err := New(Config{BaseURL: "https://" + l.Addr().String(), Token: testToken, HTTPClient: process.Client(), Observe: o.observe, Retry: often})
	fatal(t, err)
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for g := range goroutines {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				_, err := c.Templates.Create(t.Context(), TemplateCreate{Name: fmt.Sprintf("%d-%d", g, i)})
				if err != nil {
					t.Errorf("%v; unknown: %v", err, errors.Is(err, ErrOutcomeUnknown))
				}
			}
		})
	}
	for n := 0; n < processes || o.retries() == 0; n++ {
		for range 50 {
			<-served
		}
		old := process
		process = start()
		if err := old.Config.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
	stop()
	wg.Wait()
	process.Client().CloseIdleConnections()
	process.CloseClientConnections()
	process.Close()
}
