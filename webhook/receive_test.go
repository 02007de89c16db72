package webhook_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/webhook"
)

func TestMiddleware(t *testing.T) {
	var outcomes []webhook.Outcome
	layer := webhook.Middleware(newVerifier(t, secret), webhook.Options{
		Logger:  slog.New(slog.DiscardHandler),
		Observe: func(_ context.Context, o webhook.Outcome) { outcomes = append(outcomes, o) },
	})
	calls := 0
	h := layer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		d, ok := webhook.FromContext(r.Context())
		if !ok || d.Event.ID != "e1" || string(d.Body) != eventBody || d.Key != "e1" {
			t.Errorf("delivery %+v, %v", d, ok)
		}
		if again, err := io.ReadAll(r.Body); string(again) != eventBody || err != nil {
			t.Errorf("the body read again: %q, %v", again, err)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	for range 2 {
		if w := serve(h, newRequest(t, eventBody)); w.Code != http.StatusAccepted {
			t.Errorf("status %d, want that of the next handler", w.Code)
		}
	}
	if calls != 2 || len(outcomes) != 0 {
		t.Errorf("%d calls, want 2; outcomes %v, want none", calls, outcomes)
	}
	forged := newRequest(t, eventBody)
	forged.Body = io.NopCloser(strings.NewReader(eventBody + " "))
	for name, tt := range map[string]struct {
		req  *http.Request
		want int
	}{
		"forged":       {forged, http.StatusUnauthorized},
		"not an event": {newRequest(t, "{"), http.StatusBadRequest},
		"too large":    {newRequest(t, padded(1<<20+1)), http.StatusRequestEntityTooLarge},
	} {
		if w := serve(h, tt.req); w.Code != tt.want || outcomes[len(outcomes)-1].Status != tt.want {
			t.Errorf("%s: status %d, outcome %+v; want %d", name, w.Code, outcomes[len(outcomes)-1], tt.want)
		}
	}
	if calls != 2 || len(outcomes) != 3 {
		t.Errorf("after rejections: %d calls, %d outcomes; want 2 and 3", calls, len(outcomes))
	}
}

func TestMiddlewareMaxAge(t *testing.T) {
	layer := webhook.Middleware(newVerifier(t, secret), webhook.Options{MaxAge: 1, Logger: slog.New(slog.DiscardHandler)})
	h := layer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the next handler is called") }))
	if w := serve(h, newRequest(t, eventBody)); w.Code != http.StatusBadRequest {
		t.Errorf("status %d, want 400", w.Code)
	}
}

func TestFromContextWithoutADelivery(t *testing.T) {
	if d, ok := webhook.FromContext(t.Context()); ok || d.Event != nil {
		t.Errorf("%+v, %v", d, ok)
	}
}

func TestVerifyAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("under the race detector sync.Pool drops states at random")
	}
	body := make([]byte, 1024)
	for _, hash := range []webhook.HashFunction{webhook.SHA256, webhook.SHA512} {
		s := parsed("whsec_of_this_year", hash)
		v, signature := newVerifier(t, parsed("whsec_of_last_year", hash), s), sign(s, body)
		allocs := testing.AllocsPerRun(1000, func() {
			if v.Verify(body, signature) != nil {
				t.Fatal("refused")
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations, want 0", hash, allocs)
		}
	}
}
