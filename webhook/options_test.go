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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
)

// TestDuplicateDelivery: an old signature stays valid, so only the key of an event identifies a duplicate. An id with
// invalid UTF-8 is not used as the key, because different invalid ids are decoded to the same text.
func TestDuplicateDelivery(t *testing.T) {
	withID := func(id string) string { return `{"event":"Email.Error","id":` + id + `,"user":5,"data":{}}` }
	for _, tt := range []struct {
		name, body string
		key        func(Delivery) string
		prefix     string
		want       string // the SHA-256 of the body if it is empty
	}{
		{name: "an id", body: eventBody, want: "e1"},
		{name: "a numeric id", body: withID("3"), want: "3"},
		{name: "an id that is not ASCII", body: withID(`"é"`), want: "é"},
		{name: "no id", body: `{"event":"Email.Opened","timestamp":"2026-01-02T03:04:05Z","data":{"email_id":"1"}}`},
		{name: "the nil UUID", body: withID(`"00000000-0000-0000-0000-000000000000"`)},
		{name: "zero as id", body: withID("0")},
		{name: "a space as id", body: withID(`" "`)},
		{name: "half of a surrogate pair as id", body: withID(`"\ud800"`)},
		{name: "an id that is not UTF-8", body: withID("\"\xff\"")},
		{
			name: "a key of Options.Key", body: eventBody,
			key:  func(d Delivery) string { return fmt.Sprint(d.Key, "/", len(d.Body)) },
			want: fmt.Sprint("e1/", len(eventBody)),
		},
		{name: "no key of Options.Key", body: eventBody, key: func(Delivery) string { return "" }, want: "e1"},
		{name: "a prefix", body: eventBody, key: func(d Delivery) string { return d.Key + "2" }, prefix: "shop/", want: "shop/e12"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls, want := 0, cmp.Or(tt.want, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(tt.body))))
			h, o := newHandler(t, func(ctx context.Context, _ *events.Event) error {
				calls++
				if d, _ := FromContext(ctx); d.Key != want {
					t.Errorf("key %q, want %q", d.Key, want)
				}
				return nil
			}, Options{Key: tt.key, KeyPrefix: tt.prefix})
			for _, duplicate := range []bool{false, true, true} {
				w := serve(h, newRequest(t, tt.body))
				assert.Equal(t, http.StatusNoContent, w.Code, "%+v", duplicate)
				assert.Equal(t, duplicate, o.Duplicate, "%+v", duplicate)
				assert.Equal(t, 1, calls, "%+v", duplicate)
			}
		})
	}
}

// TestKeyPrefix: two handlers with different prefixes share a store. Each receives every event, including events
// without ids.
func TestKeyPrefix(t *testing.T) {
	once := NewMemoryOnce(MemoryOnceOptions{})
	for name, opts := range map[string]Options{
		"a prefix":       {Once: once, KeyPrefix: "a/"},
		"another prefix": {Once: once, KeyPrefix: "b/"},
		"a function":     {Once: once, Key: func(d Delivery) string { return "c/" + d.Key }},
	} {
		calls := 0
		h, _ := newHandler(t, func(context.Context, *events.Event) error { calls++; return nil }, opts)
		for _, id := range []string{"1", "2", "1"} {
			serve(h, newRequest(t, `{"event":"Email.Opened","timestamp":"2026-01-02T03:04:05Z","data":{"email_id":"`+id+`"}}`))
		}
		assert.Equal(t, 2, calls, name)
	}
}

// TestTimeout: the context of the function and the store expires, even if the server never cancels the request.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _ *events.Event) error {
			<-ctx.Done()
			return ctx.Err()
		}
		opts := Options{Timeout: 5 * time.Second}
		slow, o := newHandler(t, hang, opts)
		opts.Once = storeFunc(func(ctx context.Context, _ string, _ function) (bool, error) { return false, hang(ctx, nil) })
		store, o2 := newHandler(t, succeed, opts)
		opts.Once = nil
		next := Middleware(newVerifier(t, testSecret), opts)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, hang(r.Context(), nil).Error(), http.StatusInternalServerError)
		}))
		for name, h := range map[string]http.Handler{"function": slow, "store": store, "middleware": next} {
			start := time.Now()
			w := serve(h, newRequest(t, eventBody))
			assert.Equal(t, []any{http.StatusInternalServerError, 5 * time.Second}, []any{w.Code, time.Since(start)}, name)
		}
		assert.ErrorIs(t, o.Err, context.DeadlineExceeded)
		assert.ErrorIs(t, o2.Err, context.DeadlineExceeded)
	})
}

func TestMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, o := newHandler(t, succeed, Options{MaxAge: time.Hour})
		now := time.Now().Unix()
		for _, tt := range []struct {
			name, id string
			time     any
			want     int
			after    time.Duration
		}{
			{name: "just in time", id: "1", time: now - 3600, want: http.StatusNoContent},
			{name: "too old", id: "2", time: now - 3601, want: http.StatusBadRequest},
			{name: "clock ahead", id: "3", time: now + 60, want: http.StatusNoContent},
			{name: "without a time", id: "4", time: "null", want: http.StatusNoContent},
			{name: "without a readable time", id: "5", time: `"soon"`, want: http.StatusNoContent},
			{name: "as text", id: "6", time: fmt.Sprintf("%q", fmt.Sprint(now)), want: http.StatusNoContent},
			{name: "too old, as text", id: "7", time: fmt.Sprintf("%q", fmt.Sprint(now-3601)), want: http.StatusBadRequest},
			{name: "with a fraction", id: "8", time: fmt.Sprint(now, ".0"), want: http.StatusNoContent},
			{name: "too old, in milliseconds", id: "9", time: fmt.Sprint(now-3601, "000"), want: http.StatusBadRequest},
			{name: "too old, as ISO 8601", id: "10", time: `"1999-01-01 12:00:00"`, want: http.StatusBadRequest},
			{name: "as ISO 8601", id: "11", time: `"` + time.Unix(now, 0).UTC().Format(time.RFC3339) + `"`, want: http.StatusNoContent},
			{name: "handled in time, delivered again late", id: "1", time: now - 3600, after: 24 * time.Hour, want: http.StatusNoContent},
		} {
			time.Sleep(tt.after)
			w := serve(h, newRequest(t, fmt.Sprintf(`{"id":%q,"event":"Email.Error","created_on":%v,"data":{}}`, tt.id, tt.time)))
			assert.Equal(t, tt.want, w.Code, tt.name)
			assert.Equal(t, tt.want == http.StatusBadRequest, errors.Is(o.Err, ErrTooOld), tt.name)
		}
	})
}

func TestLog(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	handle := succeed
	h := NewHandler(newVerifier(t, testSecret),
		func(ctx context.Context, ev *events.Event) error { return handle(ctx, ev) }, Options{Logger: logger})
	for _, tt := range []struct {
		name   string
		handle func(context.Context, *events.Event) error
		change func(*http.Request)
		want   string // space-separated
	}{
		{name: "failure", handle: fail, want: "level=ERROR status=500 id=e1 database"},
		{name: "panic", handle: throw, want: "level=ERROR status=500 panic: database handler_test.go"},
		{name: "success", handle: succeed, want: "level=DEBUG status=204 event=SuppressedEmail.Added id=e1 duplicate=false"},
		{name: "duplicate", handle: fail, want: "level=DEBUG status=204 duplicate=true"},
		{name: "invalid signature", change: signatures("x"), want: "level=WARN status=401 remote=192.0.2.7 signature"},
		{name: "not an event", change: func(r *http.Request) { *r = *newRequest(t, "{}") }, want: "level=WARN status=400 not"},
		{name: "body read", change: func(r *http.Request) { r.Body = http.NoBody }, want: "level=ERROR status=503 already"},
		{name: "empty chunked body", change: func(r *http.Request) { r.Body, r.ContentLength = http.NoBody, -1 }, want: "level=WARN status=503 sender sent none"},
		{name: "compressed", change: func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(strings.Repeat("x", len(eventBody))))
			r.Header.Set("Content-Encoding", "br")
		}, want: "level=WARN status=503 compressed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out.Reset()
			handle = tt.handle
			req := newRequest(t, eventBody)
			if tt.change != nil {
				tt.change(req)
			}
			req.RemoteAddr = "192.0.2.7:1234"
			serve(h, req)
			line := out.String()
			assert.Equal(t, 1, strings.Count(line, "\n"), "one line: %q", line)
			for text := range strings.FieldsSeq(tt.want) {
				if !strings.Contains(line, text) {
					t.Errorf("no %q in %s", text, line)
				}
			}
			for _, leak := range []string{goodSignature, testSecret.Reveal(), "a@example.com"} {
				if strings.Contains(line, leak) {
					t.Errorf("%q is logged: %s", leak, line)
				}
			}
		})
	}
}

// TestLogWithoutSecrets: the log shows each delivery that fails because there are no secrets yet.
func TestLogWithoutSecrets(t *testing.T) {
	var out bytes.Buffer
	v, err := NewVerifierFunc(t.Context(), func(context.Context) ([]Secret, error) { return nil, errFunction },
		SourceOptions{Lazy: true, OnError: func(error) {}})
	require.NoError(t, err)
	h := NewHandler(v, succeed, Options{Logger: slog.New(slog.NewTextHandler(&out, nil))})
	assert.Equal(t, http.StatusServiceUnavailable, serve(h, newRequest(t, eventBody)).Code)
	assert.Contains(t, out.String(), "level=WARN")
	assert.Contains(t, out.String(), ErrNoSecrets.Error())
}

func TestPanicsOnMisuse(t *testing.T) {
	v := newVerifier(t, testSecret)
	for name, misuse := range map[string]func(){
		"no verifier":         func() { NewHandler(nil, succeed, Options{}) },
		"no function":         func() { NewHandler(v, nil, Options{}) },
		"middleware, no one":  func() { Middleware(nil, Options{}) },
		"middleware, no next": func() { Middleware(v, Options{})(nil) },
		"middleware, once":    func() { Middleware(v, Options{Once: NewMemoryOnce(MemoryOnceOptions{})}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "webhook: ") {
					t.Errorf("panic %q, want a message that names the missing option", text)
				}
			}()
			misuse()
		})
	}
}

// TestMiddleware: the next handler receives each valid delivery, including duplicates, and responds to it. It does not
// receive rejected requests.
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
		body, err := io.ReadAll(r.Body)
		if !ok || d.Event.ID != "e1" || string(d.Body) != eventBody || d.Key != "e1" || string(body) != eventBody || err != nil {
			t.Errorf("delivery %+v, %v; body %q, %v", d, ok, body, err)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	for _, tt := range []struct {
		name, body          string
		want, calls, failed int
	}{
		{"valid", eventBody, http.StatusAccepted, 1, 0},
		{"duplicate", eventBody, http.StatusAccepted, 2, 0},
		{"not an event", "{", http.StatusBadRequest, 2, 1},
		{"too old", strings.Replace(eventBody, "1700000000", "1600000000", 1), http.StatusBadRequest, 2, 2},
	} {
		w := serve(h, newRequest(t, tt.body))
		assert.Equal(t, tt.want, w.Code, tt.name)
		assert.Equal(t, tt.calls, calls, tt.name)
		assert.Len(t, outcomes, tt.failed, tt.name)
	}
	last := outcomes[1]
	assert.Equal(t, http.StatusBadRequest, last.Status)
	assert.ErrorIs(t, last.Err, ErrTooOld)
}
