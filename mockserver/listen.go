package mockserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"example.com/emailplatform/mockserver/internal/gateway"
)

// listening is a server's side of the network; empty for one that has none.
type listening struct {
	url      string
	loopback bool // nobody but this machine can reach it
	http     *http.Server
	unused   *unused
	done     chan struct{}
}

// headerTimeout also ends a connection that no request has used yet. Clients
// open some ahead and lose a POST if one ends just then: a short time-out would
// make long tests fail now and then.
const headerTimeout = 10 * time.Minute

// Start returns a server that listens on a free port of 127.0.0.1, or of ::1 if
// the machine has no IPv4. It can be called by a loopback name alone, such as
// localhost. It panics if it can listen on neither.
func Start(cfg Config) *Server {
	listener, err := listenLoopback(new(net.ListenConfig).Listen)
	if err != nil {
		panic("mockserver: " + err.Error())
	}
	return StartOn(listener, cfg)
}

// listenLoopback listens on a free port of the first loopback address that there
// is.
func listenLoopback(listen func(ctx context.Context, network, address string) (net.Listener, error)) (net.Listener, error) {
	listener, err4 := listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err4 == nil {
		return listener, nil
	}
	listener, err6 := listen(context.Background(), "tcp6", "[::1]:0")
	if err6 == nil {
		return listener, nil
	}
	return nil, fmt.Errorf("%w; %w", err4, err6)
}

// StartOn returns a server that answers what the listener accepts, and closes
// it in the end. If that is not a loopback address, the control routes need an
// access token: give the Config one that nobody knows.
func StartOn(listener net.Listener, cfg Config) *Server {
	s := New(cfg)
	s.serve = listening{
		url:      "http://" + listener.Addr().String(),
		loopback: gateway.LoopbackAddr(listener.Addr()),
		unused:   &unused{},
		done:     make(chan struct{}),
	}
	s.serve.http = &http.Server{Handler: s, ReadHeaderTimeout: headerTimeout, ConnState: s.serve.unused.changed}
	s.env.API.Loopback = s.serve.loopback
	s.serve.http.RegisterOnShutdown(s.env.Changes.Close)
	s.serve.http.RegisterOnShutdown(s.serve.unused.close)
	go func() {
		defer close(s.serve.done)
		if err := s.serve.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.cfg.Log.Error("the server stopped listening", "error", err)
		}
	}()
	return s
}

// unused are the connections on which no request has come yet. An [http.Server]
// that shuts down answers none there any more, but waits for five seconds.
type unused struct {
	conns  sync.Map
	closed atomic.Bool
}

func (u *unused) changed(c net.Conn, state http.ConnState) {
	if state != http.StateNew {
		u.conns.Delete(c)
		return
	}
	u.conns.Store(c, nil)
	if u.closed.Load() {
		u.close()
	}
}

func (u *unused) close() {
	u.closed.Store(true)
	for c := range u.conns.Range {
		_ = c.(net.Conn).Close()
	}
}

// Shutdown stops listening and returns when the requests under way are
// answered. It fails if ctx ends first. The server must still be closed; until
// then its methods and deliveries go on.
func (s *Server) Shutdown(ctx context.Context) error {
	s.env.Changes.Close()
	if s.serve.http == nil {
		return nil
	}
	if err := s.serve.http.Shutdown(ctx); err != nil {
		return err
	}
	_, err := s.env.API.Busy.Wait(ctx) // net/http does not know of those whose connection a fault has reset
	return err
}
