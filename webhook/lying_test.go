package webhook_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// TestInvalidOnce: if the store returns a wrong result, the event must be delivered again.
func TestInvalidOnce(t *testing.T) {
	type function = func(context.Context) error
	panics := func(context.Context, *events.Event) error { panic("boom") }
	for _, tt := range []struct {
		name   string
		handle func(context.Context, *events.Event) error
		once   storeFunc
		want   int
	}{
		{
			name:   "never calls, says it did",
			handle: succeed, once: func(context.Context, string, function) (bool, error) { return true, nil },
			want: http.StatusInternalServerError,
		},
		{
			name:   "calls, says it did not",
			handle: succeed,
			once:   func(ctx context.Context, _ string, fn function) (bool, error) { return false, fn(ctx) },
			want:   http.StatusInternalServerError,
		},
		{
			name:   "calls a failure a success",
			handle: fail,
			once:   func(ctx context.Context, _ string, fn function) (bool, error) { _ = fn(ctx); return true, nil },
			want:   http.StatusInternalServerError,
		},
		{
			name:   "calls a failure a duplicate",
			handle: fail,
			once:   func(ctx context.Context, _ string, fn function) (bool, error) { _ = fn(ctx); return false, nil },
			want:   http.StatusInternalServerError,
		},
		{
			name:   "swallows a panic",
			handle: panics,
			once: func(ctx context.Context, _ string, fn function) (bool, error) {
				defer func() { _ = recover() }()
				_ = fn(ctx)
				return true, nil
			},
			want: http.StatusInternalServerError,
		},
		{
			name:   "tells the truth",
			handle: succeed,
			once:   func(ctx context.Context, _ string, fn function) (bool, error) { return true, fn(ctx) },
			want:   http.StatusNoContent,
		},
		{
			name:   "knows the event",
			handle: succeed, once: func(context.Context, string, function) (bool, error) { return false, nil },
			want: http.StatusNoContent,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log strings.Builder
			h := webhook.NewHandler(newVerifier(t, secret), tt.handle,
				webhook.Options{Once: tt.once, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			w := serve(h, newRequest(t, eventBody))
			if w.Code != tt.want {
				t.Errorf("status %d, want %d", w.Code, tt.want)
			}
			if broken := strings.Contains(log.String(), "the Once breaks its contract"); broken != (tt.want >= 500) {
				t.Errorf("log: %s", log.String())
			}
		})
	}
}
