package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
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
)

// TestDuplicateDelivery: an old signature stays valid, so only the key of an event identifies a duplicate. Different
// invalid ids are decoded to the same text, so they are not keys.
func TestDuplicateDelivery(t *testing.T) {
	withID := func(id string) string { return `{"event":"Email.Error","id":` + id + `,"user":5,"data":{}}` }
	for _, tt := range []struct {
		name, body string
		key        func(*events.Event, []byte) string
		want       string // the SHA-256 of the body if it is empty
	}{
		{name: "an id", body: eventBody, want: "e1"},
		{name: "a numeric id", body: withID("3"), want: "3"},
		{name: "an id that is not ASCII", body: withID(`"é"`), want: "é"},
		{name: "no id", body: `{"event":"Email.Opened","timestamp":"2026-01-02T03:04:05Z","data":{"email_id":"1"}}`},
		{name: "half of a surrogate pair as id", body: withID(`"\ud800"`)},
		{name: "an id that is not UTF-8", body: withID("\"\xff\"")},
		{
			name: "a key of Options.Key", body: eventBody,
			key:  func(ev *events.Event, body []byte) string { return fmt.Sprint(ev.ID, "/", len(body)) },
			want: fmt.Sprint("e1/", len(eventBody)),
		},
		{name: "no key of Options.Key", body: eventBody, key: func(*events.Event, []byte) string { return "" }, want: "e1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls, want := 0, cmp.Or(tt.want, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(tt.body))))
			h, o := newHandler(t, func(ctx context.Context, _ *events.Event) error {
				calls++
				if d, _ := FromContext(ctx); d.Key != want {
					t.Errorf("key %q, want %q", d.Key, want)
				}
				return nil
			}, Options{Key: tt.key})
			for _, duplicate := range []bool{false, true, true} {
				w := serve(h, newRequest(t, tt.body))
				if w.Code != http.StatusNoContent || o.Duplicate != duplicate || calls != 1 {
					t.Errorf("status %d, outcome %+v, %d calls; want duplicate %v, 1 call", w.Code, o, calls, duplicate)
				}
			}
		})
	}
}

func TestMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := newHandler(t, succeed, Options{MaxAge: time.Hour})
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
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), ErrTooOld.Error()) {
			t.Errorf("without a time: %d %q, want 400 and the reason", w.Code, w.Body)
		}
	})
}

func TestLog(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	handle := succeed
	h := NewHandler(newVerifier(t, testSecret),
		func(ctx context.Context, ev *events.Event) error { return handle(ctx, ev) }, Options{Logger: logger})
	good := newRequest(t, eventBody).Header.Get(DefaultSignatureHeader)
	for _, tt := range []struct {
		name   string
		handle func(context.Context, *events.Event) error
		body   string
		forged bool
		want   []string
	}{
		{name: "failure", handle: fail, body: eventBody, want: []string{"level=ERROR", "status=500", "id=e1", errFunction.Error()}},
		{name: "panic", handle: throw, body: eventBody, want: []string{"level=ERROR", "status=500", "panic: password", "handler_test.go"}},
		{
			name: "success", handle: succeed, body: eventBody,
			want: []string{"level=DEBUG", "status=204", "event=SuppressedEmail.Added", "id=e1", "duplicate=false"},
		},
		{name: "duplicate", handle: fail, body: eventBody, want: []string{"level=DEBUG", "status=204", "duplicate=true"}},
		{
			name: "invalid signature", handle: succeed, body: eventBody, forged: true,
			want: []string{"level=WARN", "status=401", "remote=192.0.2.7", "invalid signature"},
		},
		{name: "not an event", handle: succeed, body: "{}", want: []string{"level=WARN", "status=400", "remote=192.0.2.7"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out.Reset()
			handle = tt.handle
			req := newRequest(t, tt.body)
			if tt.forged {
				req.Body = io.NopCloser(strings.NewReader(tt.body + " "))
			}
			req.RemoteAddr = "192.0.2.7:1234"
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
			for _, leak := range []string{good, testSecret.Reveal(), "a@example.com"} {
				if strings.Contains(line, leak) {
					t.Errorf("%q is logged: %s", leak, line)
				}
			}
		})
	}
}

func TestPanicsOnMisuse(t *testing.T) {
	v := newVerifier(t, testSecret)
	for name, misuse := range map[string]func(){
		"no verifier":        func() { NewHandler(nil, succeed, Options{}) },
		"no function":        func() { NewHandler(v, nil, Options{}) },
		"middleware, no one": func() { Middleware(nil, Options{}) },
		"middleware, once":   func() { Middleware(v, Options{Once: NewMemoryOnce(MemoryOnceOptions{})}) },
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
	var outcomes []Outcome
	layer := Middleware(newVerifier(t, testSecret), Options{
		MaxAge:  time.Since(time.Unix(1_650_000_000, 0)),
		Logger:  slog.New(slog.DiscardHandler),
		Observe: func(_ context.Context, o Outcome) { outcomes = append(outcomes, o) },
	})
	calls := 0
	h := layer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		d, ok := FromContext(r.Context())
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
	if w := serve(h, newRequest(t, "{")); w.Code != http.StatusBadRequest {
		t.Errorf("not an event: status %d, want 400", w.Code)
	}
	if w := serve(h, newRequest(t, strings.Replace(eventBody, "1700000000", "1600000000", 1))); w.Code != http.StatusBadRequest {
		t.Errorf("too old: status %d, want 400", w.Code)
	}
	if calls != 2 || len(outcomes) != 2 || outcomes[1].Status != http.StatusBadRequest || !errors.Is(outcomes[1].Err, ErrTooOld) {
		t.Errorf("after rejections: %d calls, outcomes %+v", calls, outcomes)
	}
}
