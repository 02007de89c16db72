package webhook

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
)

// TestConnectionClosed: if the connection closes during the first call to the function, the result of the function
// alone determines whether the next attempt calls it again.
func TestConnectionClosed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first func(ctx context.Context) error
		waits bool // until the sender closes the connection
		calls int32
	}{
		{name: "the function aborts", first: func(context.Context) error { panic(http.ErrAbortHandler) }, calls: 2},
		{name: "the function fails", first: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, waits: true, calls: 2},
		{name: "the function succeeds", first: func(ctx context.Context) error { <-ctx.Done(); return nil }, waits: true, calls: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			started := make(chan struct{}, 1)
			var calls atomic.Int32
			h := NewHandler(newVerifier(t, testSecret), func(ctx context.Context, _ *events.Event) error {
				if calls.Add(1) > 1 {
					return nil
				}
				started <- struct{}{}
				return tt.first(ctx)
			}, Options{Logger: slog.New(slog.DiscardHandler)})
			server := httptest.NewServer(h)
			defer server.Close()
			attempt := func(ctx context.Context) (status int) {
				req, err := NewRequest(ctx, server.URL, testSecret, []byte(eventBody))
				require.NoError(t, err)
				resp, err := server.Client().Do(req)
				if err != nil {
					return 0
				}
				_ = resp.Body.Close()
				return resp.StatusCode
			}
			ctx, closeConnection := context.WithCancel(t.Context())
			defer closeConnection()
			first := make(chan int, 1)
			go func() { first <- attempt(ctx) }()
			select {
			case <-started:
			case status := <-first:
				if calls.Load() == 0 {
					t.Fatalf("status %d without a call to the function", status)
				}
				first <- status
			}
			if tt.waits {
				if got := attempt(t.Context()); got != http.StatusServiceUnavailable {
					t.Errorf("while the first is in flight: status %d, want 503", got)
				}
				closeConnection()
			}
			if got := <-first; got != 0 {
				t.Errorf("the first attempt: status %d, want a closed connection", got)
			}
			next := attempt(t.Context())
			for range 10_000 {
				if next != http.StatusServiceUnavailable { // the function has returned
					break
				}
				next = attempt(t.Context())
			}
			assert.Equal(t, http.StatusNoContent, next, "the next attempt")
			assert.Equal(t, tt.calls, calls.Load(), "the next attempt")
		})
	}
}

// TestCanceledRequest: if a delivery is canceled before the function is called, the handler does not log this. It
// reports other failures even if the request was canceled.
func TestCanceledRequest(t *testing.T) {
	for _, tt := range []struct {
		name  string
		once  Once
		early bool // canceled before the function could be called
		want  int
	}{
		{name: "before the function is called", early: true, want: http.StatusServiceUnavailable},
		{name: "while the function runs", want: http.StatusInternalServerError},
		{name: "before the store fails", once: returns(false, errFunction), early: true, want: http.StatusInternalServerError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log strings.Builder
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.early {
				cancel()
			}
			called := false
			h := NewHandler(newVerifier(t, testSecret), func(ctx context.Context, _ *events.Event) error {
				called = true
				cancel()
				return ctx.Err()
			}, Options{Once: tt.once, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			w := serve(h, newRequest(t, eventBody).WithContext(ctx))
			if logged := log.Len() > 0; w.Code != tt.want || called == tt.early || logged != (tt.want == http.StatusInternalServerError) {
				t.Errorf("status %d, want %d; called %v, log %q", w.Code, tt.want, called, log.String())
			}
		})
	}
}
