package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// TestDuplicateDelivery: an old signature stays valid, so only Once detects a duplicate.
func TestDuplicateDelivery(t *testing.T) {
	const general = `{"event":"Email.Opened","timestamp":"2026-01-02T03:04:05Z","data":{"email_id":"1"}}`
	for _, tt := range []struct{ name, body, key string }{
		{"with an id", eventBody, "e1"},
		{"without an id", general, "sha256:792d7d67cf4c6e2024fed3c6854252139377380082b0c42e6039c7d3c385a0ea"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls, outcomes := 0, []webhook.Outcome(nil)
			h := webhook.NewHandler(newVerifier(t, secret), func(ctx context.Context, _ *events.Event) error {
				calls++
				if d, _ := webhook.FromContext(ctx); d.Key != tt.key {
					t.Errorf("key %q, want %q", d.Key, tt.key)
				}
				return nil
			}, webhook.Options{Observe: func(_ context.Context, o webhook.Outcome) { outcomes = append(outcomes, o) }})
			for range 3 {
				if w := serve(h, newRequest(t, tt.body)); w.Code != http.StatusNoContent {
					t.Errorf("status %d", w.Code)
				}
			}
			if calls != 1 {
				t.Errorf("handled %d times", calls)
			}
			if outcomes[0].Duplicate || !outcomes[1].Duplicate || !outcomes[2].Duplicate {
				t.Errorf("outcomes %+v", outcomes)
			}
		})
	}
}

func TestOptionsKey(t *testing.T) {
	once := webhook.NewMemoryOnce(webhook.MemoryOnceOptions{})
	var calls []string
	receiver := func(name string, key func(*events.Event, []byte) string) http.Handler {
		return webhook.NewHandler(newVerifier(t, secret), func(ctx context.Context, _ *events.Event) error {
			d, _ := webhook.FromContext(ctx)
			calls = append(calls, name+" "+d.Key)
			return nil
		}, webhook.Options{Once: once, Key: key})
	}
	handlers := []http.Handler{
		receiver("a", func(ev *events.Event, _ []byte) string { return "a/" + ev.ID }),
		receiver("b", func(_ *events.Event, body []byte) string { return fmt.Sprint("b/", len(body)) }),
		receiver("c", func(*events.Event, []byte) string { return "" }), // must not make all events one
	}
	for _, h := range append(handlers, handlers...) {
		serve(h, newRequest(t, eventBody))
	}
	want := []string{"a a/e1", fmt.Sprint("b b/", len(eventBody)), "c e1"}
	if fmt.Sprint(calls) != fmt.Sprint(want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
}

// TestKeyOfInvalidID: different invalid ids are decoded to the same text. They are different events.
func TestKeyOfInvalidID(t *testing.T) {
	var keys []string
	h := webhook.NewHandler(newVerifier(t, secret), func(ctx context.Context, _ *events.Event) error {
		d, _ := webhook.FromContext(ctx)
		keys = append(keys, d.Key)
		return nil
	}, webhook.Options{})
	for _, id := range []string{`\ud800`, `\udbff`, "e\xff", "e\xfe", "\uFFFD", "é"} {
		body := strings.Replace(eventBody, `"e1"`, `"`+id+`"`, 1)
		serve(h, newRequest(t, body))
		serve(h, newRequest(t, body))
	}
	if len(keys) != 6 || keys[5] != "é" || !strings.HasPrefix(keys[0], "sha256:") {
		t.Errorf("keys %q", keys)
	}
}

func TestMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := webhook.NewHandler(newVerifier(t, secret), succeed, webhook.Options{MaxAge: time.Hour, Logger: slog.New(slog.DiscardHandler)})
		deliver := func(id string, createdOn int64) int {
			return serve(h, newRequest(t, fmt.Sprintf(`{"id":%q,"event":"Email.Error","created_on":%d,"data":{}}`, id, createdOn))).Code
		}
		now := time.Now().Unix()
		for _, tt := range []struct {
			id        string
			createdOn int64
			want      int
		}{
			{"just in time", now - 3600, http.StatusNoContent},
			{"too old", now - 3601, http.StatusBadRequest},
			{"clock ahead", now + 60, http.StatusNoContent},
		} {
			if got := deliver(tt.id, tt.createdOn); got != tt.want {
				t.Errorf("%s: status %d, want %d", tt.id, got, tt.want)
			}
		}
		time.Sleep(24 * time.Hour)
		if got := deliver("just in time", now-3600); got != http.StatusNoContent {
			t.Errorf("handled in time, delivered again late: status %d, want success", got)
		}
		w := serve(h, newRequest(t, `{"event":"Email.Opened","data":{}}`))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), webhook.ErrTooOld.Error()) {
			t.Errorf("without a time: %d %q, want 400 and the reason", w.Code, w.Body)
		}
	})
}

func TestLog(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	handle := succeed
	h := webhook.NewHandler(newVerifier(t, secret),
		func(ctx context.Context, ev *events.Event) error { return handle(ctx, ev) }, webhook.Options{Logger: logger})
	good := newRequest(t, eventBody).Header.Get(webhook.DefaultSignatureHeader)
	for _, tt := range []struct {
		name   string
		handle func(context.Context, *events.Event) error
		change func(*http.Request)
		want   []string
	}{
		{name: "failure", handle: fail, want: []string{"level=ERROR", "status=500", "id=e1", errFunction.Error()}},
		{
			name:   "panic",
			handle: func(context.Context, *events.Event) error { panic("boom") },
			want:   []string{"level=ERROR", "status=500", "panic: boom", "handler_test.go"},
		},
		{
			name:   "success",
			handle: succeed,
			want:   []string{"level=DEBUG", "status=204", "event=SuppressedEmail.Added", "id=e1", "duplicate=false"},
		},
		{name: "duplicate", handle: fail, want: []string{"level=DEBUG", "status=204", "duplicate=true"}},
		{
			name:   "refusal",
			handle: succeed,
			change: func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(eventBody + " ")) },
			want:   []string{"level=WARN", "status=401", "remote=192.0.2.7", "invalid signature"},
		},
		{
			name:   "no event",
			handle: succeed,
			change: func(r *http.Request) {
				r.Body = io.NopCloser(strings.NewReader("{}"))
				r.Header.Set(webhook.DefaultSignatureHeader, sign(secret, []byte("{}")))
			},
			want: []string{"level=WARN", "status=400", "remote=192.0.2.7"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out.Reset()
			handle = tt.handle
			req := newRequest(t, eventBody)
			req.RemoteAddr = "192.0.2.7:1234"
			if tt.change != nil {
				tt.change(req)
			}
			serve(h, req)
			line := out.String()
			if strings.Count(line, "\n") != 1 {
				t.Errorf("want one line: %q", line)
			}
			for _, text := range tt.want {
				if !strings.Contains(line, text) {
					t.Errorf("no %q in %s", text, line)
				}
			}
			for _, leak := range []string{good, secret.Reveal(), "a@example.com"} {
				if strings.Contains(line, leak) {
					t.Errorf("%q is logged: %s", leak, line)
				}
			}
		})
	}
}

func TestObserveParseError(t *testing.T) {
	var outcome webhook.Outcome
	h := webhook.NewHandler(newVerifier(t, secret), succeed, webhook.Options{
		Logger:  slog.New(slog.DiscardHandler),
		Observe: func(_ context.Context, o webhook.Outcome) { outcome = o },
	})
	serve(h, newRequest(t, `{"id":"e1","event":{},"data":{}}`))
	var parseErr *events.ParseError
	if !errors.As(outcome.Err, &parseErr) || parseErr.Path != "event" || parseErr.Event.ID != "e1" {
		t.Errorf("outcome %+v, want the *events.ParseError of event", outcome)
	}
}

// TestIllTypedEnvelopeIsHandled: a signed event is handled even if other envelope fields are invalid.
func TestIllTypedEnvelopeIsHandled(t *testing.T) {
	for _, tt := range []struct {
		member, key string
		fits        bool
	}{
		{`"id":"e1","account_id":"5"`, "e1", true},
		{`"id":"e1","user":{"id":"5"}`, "e1", true},
		{`"id":3`, "3", true},
		{`"id":"e1","ip":["192.0.2.1"]`, "e1", false},
		{`"id":"e1","user":5`, "e1", false},
		{`"id":"e1","timestamp":1700000000`, "e1", false},
		{`"id":"e1","created_on":1700000000.5`, "e1", false},
	} {
		t.Run(tt.member, func(t *testing.T) {
			calls := 0
			h := webhook.NewHandler(newVerifier(t, secret), func(ctx context.Context, ev *events.Event) error {
				calls++
				d, _ := webhook.FromContext(ctx)
				if d.Key != tt.key || (ev.Mismatch() == nil) != tt.fits {
					t.Errorf("key %q, mismatch %v", d.Key, ev.Mismatch())
				}
				return nil
			}, webhook.Options{})
			for range 2 {
				if w := serve(h, newRequest(t, `{"event":"Email.Error",`+tt.member+`,"data":{}}`)); w.Code != http.StatusNoContent {
					t.Errorf("status %d", w.Code)
				}
			}
			if calls != 1 {
				t.Errorf("handled %d times", calls)
			}
		})
	}
}

func TestPanicsOnMisuse(t *testing.T) {
	v := newVerifier(t, secret)
	for name, misuse := range map[string]func(){
		"no verifier":        func() { webhook.NewHandler(nil, succeed, webhook.Options{}) },
		"no function":        func() { webhook.NewHandler(v, nil, webhook.Options{}) },
		"middleware, no one": func() { webhook.Middleware(nil, webhook.Options{}) },
		"middleware, once": func() {
			webhook.Middleware(v, webhook.Options{Once: webhook.NewMemoryOnce(webhook.MemoryOnceOptions{})})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "webhook: ") {
					t.Errorf("panic %q, want one that says what is missing", text)
				}
			}()
			misuse()
		})
	}
}

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
