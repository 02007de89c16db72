package webhook_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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
	"example.com/emailplatform/webhook"
)

// pipes is a listener in memory: what waits on its connections waits durably,
// as synctest needs it.
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

// receiver serves h with net/http in a bubble, which ends only when all goroutines have ended.
func receiver(t *testing.T, handle func(context.Context, *events.Event) error, test func(p pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := webhook.NewHandler(newVerifier(t, secret), handle, webhook.Options{Logger: slog.New(slog.DiscardHandler)})
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

// TestFailureIsRetried: after any failure of the first attempt, the second attempt handles the event.
func TestFailureIsRetried(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first func(context.Context, *events.Event) error
		want  int
	}{
		{name: "error", first: fail, want: http.StatusInternalServerError},
		{name: "panic", first: func(context.Context, *events.Event) error { panic("boom") }, want: http.StatusInternalServerError},
		{
			name:  "panic with nil",
			first: func(context.Context, *events.Event) error { panic(nil) }, //nolint:govet // on purpose
			want:  http.StatusInternalServerError,
		},
		{name: "panic that cuts the connection", first: func(context.Context, *events.Event) error { panic(http.ErrAbortHandler) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			receiver(t, func(ctx context.Context, ev *events.Event) error {
				if calls++; calls == 1 {
					return tt.first(ctx, ev)
				}
				return nil
			}, func(p pipes) {
				for i, want := range []int{tt.want, http.StatusNoContent, http.StatusNoContent} {
					if got := deliver(t, p, eventBody); got != want {
						t.Errorf("attempt %d: status %d, want %d", i+1, got, want)
					}
				}
			})
			if calls != 2 {
				t.Errorf("%d calls, want 2", calls)
			}
		})
	}
}

// TestConnectionClosedWhileHandling: the context of the function ends, and the next attempt is handled.
func TestConnectionClosedWhileHandling(t *testing.T) {
	started, ended := make(chan struct{}, 2), make(chan error, 2)
	calls := 0
	receiver(t, func(ctx context.Context, _ *events.Event) error {
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

// TestConnectionClosedAfterHandling: the next attempt succeeds without a call.
func TestConnectionClosedAfterHandling(t *testing.T) {
	calls := 0
	receiver(t, func(ctx context.Context, _ *events.Event) error {
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

// TestIncompleteRequest: an incomplete delivery, with and without a length, is never an event.
func TestIncompleteRequest(t *testing.T) {
	signature := sign(secret, []byte(eventBody))
	head := "POST / HTTP/1.1\r\nHost: receiver.test\r\n" + webhook.DefaultSignatureHeader + ": " + signature + "\r\n"
	for _, tt := range []struct{ name, sent string }{
		{name: "in the header", sent: head},
		{name: "before the body", sent: head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(eventBody))},
		{name: "in the body", sent: head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(eventBody), eventBody[:20])},
		{name: "one byte short", sent: head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(eventBody), eventBody[:len(eventBody)-1])},
		{
			name: "chunked, in a chunk",
			sent: head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(eventBody), eventBody[:20]),
		},
		{
			name: "chunked, all but the last chunk",
			sent: head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(eventBody), eventBody),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			receiver(t, func(context.Context, *events.Event) error {
				calls++
				return nil
			}, func(p pipes) {
				conn := p.dial()
				if _, err := io.Copy(conn, strings.NewReader(tt.sent)); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				_ = conn.Close()
				synctest.Wait()
				if calls != 0 {
					t.Error("handled what has not arrived")
				}
				if got := deliver(t, p, eventBody); got != http.StatusNoContent || calls != 1 {
					t.Errorf("whole: status %d, calls %d", got, calls)
				}
			})
		})
	}
}

// TestCanceledBeforeHandling: a canceled delivery is neither handled nor remembered nor logged.
func TestCanceledBeforeHandling(t *testing.T) {
	var log strings.Builder
	calls := 0
	h := webhook.NewHandler(newVerifier(t, secret), func(context.Context, *events.Event) error {
		calls++
		return nil
	}, webhook.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
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
		once webhook.Once
	}{
		{name: "the function gives up", once: nil},
		{name: "the store fails", once: onceFunc(func() (bool, error) { return false, broken })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			h := webhook.NewHandler(newVerifier(t, secret), func(ctx context.Context, _ *events.Event) error {
				cancel()
				return ctx.Err()
			}, webhook.Options{Once: tt.once, Logger: slog.New(slog.DiscardHandler)})
			if tt.once != nil {
				cancel()
			}
			if w := serve(h, newRequest(t, eventBody).WithContext(ctx)); w.Code != http.StatusInternalServerError {
				t.Errorf("status %d, want 500", w.Code)
			}
		})
	}
}

// onceFunc is a store that calls nothing.
type onceFunc func() (bool, error)

func (f onceFunc) Do(context.Context, string, func(context.Context) error) (bool, error) { return f() }
