package webhook

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/events"
)

// pipes is an in-memory listener. Goroutines that wait for its connections are durably blocked, as synctest requires.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error { close(p); return nil }

func (pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (p pipes) dial() net.Conn {
	client, server := net.Pipe()
	p <- server
	return client
}

// serveInMemory serves deliveries with net/http in a bubble, which ends only when all goroutines have ended.
func serveInMemory(t *testing.T, handle func(context.Context, *events.Event) error, test func(p pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(newVerifier(t, testSecret), handle, Options{Logger: slog.New(slog.DiscardHandler)})
		p, srv := make(pipes), &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
		stopped := make(chan error, 1)
		go func() { stopped <- srv.Serve(p) }()
		test(p)
		if err := errors.Join(srv.Shutdown(t.Context()), <-stopped); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// deliver sends body over its own connection. It returns the status, or 0 if the connection was closed.
func deliver(t *testing.T, p pipes, body string) int {
	t.Helper()
	conn := p.dial()
	defer func() { _ = conn.Close() }()
	go func() { _ = newRequest(t, body).Write(conn) }()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// TestAbort: a panic that cuts the connection is a failure, and the next attempt handles the event.
func TestAbort(t *testing.T) {
	calls := 0
	serveInMemory(t, func(context.Context, *events.Event) error {
		if calls++; calls == 1 {
			panic(http.ErrAbortHandler)
		}
		return nil
	}, func(p pipes) {
		for i, want := range []int{0, http.StatusNoContent, http.StatusNoContent} {
			if got := deliver(t, p, eventBody); got != want {
				t.Errorf("attempt %d: status %d, want %d", i+1, got, want)
			}
		}
	})
	if calls != 2 {
		t.Errorf("%d calls, want 2", calls)
	}
}

// TestConnectionClosedWhileHandling: if the connection closes while the function runs, its context is canceled, and the
// next attempt calls the function again.
func TestConnectionClosedWhileHandling(t *testing.T) {
	started, ended := make(chan struct{}, 2), make(chan error, 2)
	calls := 0
	serveInMemory(t, func(ctx context.Context, _ *events.Event) error {
		if calls++; calls > 1 {
			return nil
		}
		started <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}, func(p pipes) {
		conn := p.dial()
		fatal(t, newRequest(t, eventBody).Write(conn))
		<-started
		if got := deliver(t, p, eventBody); got != http.StatusServiceUnavailable {
			t.Errorf("while the first is in flight: status %d, want 503", got)
		}
		_ = conn.Close()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the function's context: %v", err)
		}
		synctest.Wait()
		if got := deliver(t, p, eventBody); got != http.StatusNoContent {
			t.Errorf("after it: status %d, want success", got)
		}
	})
	if calls != 2 {
		t.Errorf("%d calls, want 2", calls)
	}
}

// TestConnectionClosedAfterHandling: if the function succeeds after the connection closed, the next attempt does not
// call it.
func TestConnectionClosedAfterHandling(t *testing.T) {
	calls := 0
	serveInMemory(t, func(ctx context.Context, _ *events.Event) error {
		calls++
		<-ctx.Done()
		return nil
	}, func(p pipes) {
		conn := p.dial()
		fatal(t, newRequest(t, eventBody).Write(conn))
		synctest.Wait() // until it is being handled
		_ = conn.Close()
		synctest.Wait()
		if got := deliver(t, p, eventBody); got != http.StatusNoContent {
			t.Errorf("status %d, want success", got)
		}
	})
	if calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
}

// TestCanceledBeforeHandling: a canceled delivery is neither handled nor remembered nor logged.
func TestCanceledBeforeHandling(t *testing.T) {
	var log strings.Builder
	calls := 0
	h := NewHandler(newVerifier(t, testSecret), func(context.Context, *events.Event) error {
		calls++
		return nil
	}, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if w := serve(h, newRequest(t, eventBody).WithContext(ctx)); w.Code != http.StatusServiceUnavailable || calls != 0 ||
		log.Len() > 0 {
		t.Errorf("status %d, calls %d, log %q; want 503 and none", w.Code, calls, log.String())
	}
	if w := serve(h, newRequest(t, eventBody)); w.Code != http.StatusNoContent || calls != 1 {
		t.Errorf("again: status %d, calls %d", w.Code, calls)
	}
}

// TestFailureAfterCancellation: other failures are reported even if the request was canceled.
func TestFailureAfterCancellation(t *testing.T) {
	broken := errors.New("the store is broken")
	for _, tt := range []struct {
		name string
		once Once
	}{
		{name: "the function gives up", once: nil},
		{name: "the store fails", once: storeFunc(func(context.Context, string, function) (bool, error) { return false, broken })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			h := NewHandler(newVerifier(t, testSecret), func(ctx context.Context, _ *events.Event) error {
				cancel()
				return ctx.Err()
			}, Options{Once: tt.once, Logger: slog.New(slog.DiscardHandler)})
			if tt.once != nil {
				cancel()
			}
			if w := serve(h, newRequest(t, eventBody).WithContext(ctx)); w.Code != http.StatusInternalServerError {
				t.Errorf("status %d, want 500", w.Code)
			}
		})
	}
}
