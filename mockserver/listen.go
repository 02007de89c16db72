package mockserver

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"example.com/emailplatform/mockserver/internal/httpapi"
)

// listening is the network part of a server. It is zero if the server does not
// listen.
type listening struct {
	url      string
	loopback bool // only this machine can reach the address
	http     *http.Server
	waiting  *idleConns
	running  *running
	done     chan struct{}
}

// Start returns a server that listens on a free port of 127.0.0.1, or of ::1 if the machine has
// no IPv4. If it can listen on neither, it panics. Clients must use a loopback name, such as
// localhost.
func Start(cfg Config) *Server {
	listener, err := listenLoopback(new(net.ListenConfig).Listen)
	if err != nil {
		panic("mockserver: " + err.Error())
	}
	return StartOn(listener, cfg)
}

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

// StartOn returns a server that accepts connections from listener. Its Close method closes
// listener. If the address of listener is not a loopback address, the control routes require
// an access token, so set Config.Tokens to secret values.
//
// Slow clients cannot exhaust the server, because it limits their connections:
//
//   - At most 1,000 connections can wait for a request, each for up to 10 minutes. If more
//     connections wait, the server closes the connection that has waited longest.
//   - A request body must arrive within 30 s, plus 1 s for each 64 KiB.
//   - A client must accept each part of a response within 30 s.
func StartOn(listener net.Listener, cfg Config) *Server {
	s := New(cfg)
	s.serve = listening{
		url:      "http://" + listener.Addr().String(),
		loopback: httpapi.LoopbackAddr(listener.Addr()),
		waiting:  &idleConns{elements: map[net.Conn]*list.Element{}},
		running:  &running{},
		done:     make(chan struct{}),
	}
	s.serve.http = &http.Server{
		Handler:           s.serve.running.track(withDeadlines(s)),
		ReadHeaderTimeout: waitTimeout,
		IdleTimeout:       waitTimeout,
		ConnState:         s.serve.waiting.changed,
	}
	s.engine.Gateway.Loopback = s.serve.loopback
	s.serve.http.RegisterOnShutdown(s.engine.Changes.Close)
	s.serve.http.RegisterOnShutdown(s.serve.waiting.close)
	go func() {
		defer close(s.serve.done)
		if err := s.serve.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.cfg.Logger.Error("the server does not accept connections", "error", err)
		}
	}()
	return s
}

// Shutdown stops listening and waits for the requests in flight. Therefore a [Server.Snapshot]
// after Shutdown contains the changes of each request whose response a client has received.
// Shutdown ends the delays of fault rules, and closes the connections of requests that a rule
// leaves hanging. Otherwise, it would wait for them.
//
// If ctx is canceled or expires, Shutdown closes the connections of the unfinished requests
// and returns an error that lists these requests. Shutdown does not stop deliveries, so call
// [Server.Close] afterwards.
func (s *Server) Shutdown(ctx context.Context) error {
	s.engine.Faults.Close()
	s.engine.Changes.Close()
	if s.serve.http == nil {
		return nil
	}
	err := s.serve.http.Shutdown(ctx)
	if err == nil {
		_, err = s.engine.Gateway.Busy.Wait(ctx, 0) // net/http does not track connections that a fault has reset
	}
	if err != nil {
		err = fmt.Errorf("mockserver: shutdown: still running: %s: %w", s.serve.running, err)
		_ = s.serve.http.Close()
	}
	return err
}

// running contains the requests in progress.
type running struct{ requests sync.Map }

func (r *running) track(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.requests.Store(req, nil)
		defer r.requests.Delete(req)
		next.ServeHTTP(w, req)
	})
}

// maxRunning is the maximum number of method and path pairs that String lists.
const maxRunning = 10

// String returns the number of requests for each method and path. It omits the query, which may
// contain a token.
func (r *running) String() string {
	counts := map[string]int{}
	for key := range r.requests.Range {
		req := key.(*http.Request)
		counts[req.Method+" "+req.URL.EscapedPath()]++
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[name], name))
	}
	if more := len(out) - maxRunning; more > 0 {
		out = append(out[:maxRunning], fmt.Sprintf("%d others", more))
	}
	return cmp.Or(strings.Join(out, ", "), "connections without a complete request")
}
