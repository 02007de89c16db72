package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

var secret = parsed("whsec_0123456789", "")

const eventBody = `{"id":"e1","event":"SuppressedEmail.Added","created_on":1700000000,` +
	`"data":{"suppressedEmail":{"email":"a@example.com"}}}`

// errFunction is the error of the function. Its text must not be in responses.
var errFunction = errors.New("password of the database")

func succeed(context.Context, *events.Event) error { return nil }

func fail(context.Context, *events.Event) error { return errFunction }

func newVerifier(t testing.TB, secrets ...webhook.Secret) *webhook.Verifier {
	t.Helper()
	v, err := webhook.NewVerifier(secrets...)
	fatal(t, err)
	return v
}

func parsed(text string, function webhook.HashFunction) webhook.Secret {
	secret, err := webhook.ParseSecret(text, string(function))
	if err != nil {
		panic(err)
	}
	return secret
}

func sign(secret webhook.Secret, body []byte) string {
	signature, err := webhook.Sign(secret, body)
	if err != nil {
		panic(err)
	}
	return signature
}

func newRequest(t testing.TB, body string) *http.Request {
	t.Helper()
	req, err := webhook.NewRequest(t.Context(), "http://receiver.test/hook", secret, []byte(body))
	fatal(t, err)
	return req
}

func serve(h http.Handler, req *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

// storeFunc is a webhook.Once in one function.
type storeFunc func(ctx context.Context, key string, fn func(context.Context) error) (bool, error)

func (f storeFunc) Do(ctx context.Context, key string, fn func(context.Context) error) (bool, error) {
	return f(ctx, key, fn)
}

var answers = []struct {
	name   string
	handle func(context.Context, *events.Event) error
	once   storeFunc
	want   int
}{
	{name: "function succeeds", handle: succeed, want: http.StatusNoContent},
	{name: "function fails", handle: fail, want: http.StatusInternalServerError},
	{
		name:   "function panics",
		handle: func(context.Context, *events.Event) error { panic(errFunction) },
		want:   http.StatusInternalServerError,
	},
	{
		name:   "function returns ErrInFlight itself",
		handle: func(context.Context, *events.Event) error { return webhook.ErrInFlight },
		want:   http.StatusInternalServerError,
	},
	{
		name:   "function returns ErrInvalidSignature itself",
		handle: func(context.Context, *events.Event) error { return webhook.ErrInvalidSignature },
		want:   http.StatusInternalServerError,
	},
	{
		name:   "handled before",
		handle: fail,
		once:   func(context.Context, string, func(context.Context) error) (bool, error) { return false, nil },
		want:   http.StatusNoContent,
	},
	{
		name:   "in flight elsewhere",
		handle: succeed,
		once: func(context.Context, string, func(context.Context) error) (bool, error) {
			return false, fmt.Errorf("row is locked: %w", webhook.ErrInFlight)
		},
		want: http.StatusServiceUnavailable,
	},
	{
		name:   "store is down",
		handle: succeed,
		once:   func(context.Context, string, func(context.Context) error) (bool, error) { return false, errFunction },
		want:   http.StatusInternalServerError,
	},
	{
		name:   "store fails to remember",
		handle: succeed,
		once: func(ctx context.Context, _ string, fn func(context.Context) error) (bool, error) {
			return true, errors.Join(fn(ctx), errFunction)
		},
		want: http.StatusInternalServerError,
	},
	{
		name:   "store panics",
		handle: succeed,
		once:   func(context.Context, string, func(context.Context) error) (bool, error) { panic(errFunction) },
		want:   http.StatusInternalServerError,
	},
}

// TestHandlerStatus: failures after the event is known. No failure results in a success.
func TestHandlerStatus(t *testing.T) {
	for _, tt := range answers {
		t.Run(tt.name, func(t *testing.T) {
			var o webhook.Outcome
			opts := webhook.Options{
				Logger: slog.New(slog.DiscardHandler), Observe: func(_ context.Context, observed webhook.Outcome) { o = observed },
			}
			if tt.once != nil {
				opts.Once = tt.once
			}
			w := serve(webhook.NewHandler(newVerifier(t, secret), tt.handle, opts), newRequest(t, eventBody))
			if w.Code != tt.want || o.Status != tt.want || o.Duplicate != (tt.name == "handled before") {
				t.Errorf("status %d, outcome %+v; want status %d", w.Code, o, tt.want)
			}
			if got := w.Header().Get("Retry-After"); (got == "1") != (tt.want == http.StatusServiceUnavailable) {
				t.Errorf("Retry-After %q", got)
			}
			if strings.Contains(w.Body.String(), errFunction.Error()) {
				t.Errorf("the response contains the internal error: %q", w.Body)
			}
		})
	}
}

func TestHandlerCallsTheFunction(t *testing.T) {
	type contextKey struct{}
	var calls []*events.Event
	h := webhook.NewHandler(newVerifier(t, secret), func(ctx context.Context, ev *events.Event) error {
		calls = append(calls, ev)
		if d, ok := webhook.FromContext(ctx); !ok || d.Event != ev || string(d.Body) != eventBody || d.Key != "e1" {
			t.Errorf("delivery in the context: %+v, %v", d, ok)
		}
		if ctx.Value(contextKey{}) != "value" {
			t.Error("the context is not that of the request")
		}
		return nil
	}, webhook.Options{})
	req := newRequest(t, eventBody)
	req = req.WithContext(context.WithValue(req.Context(), contextKey{}, "value"))
	if w := serve(h, req); w.Code != http.StatusNoContent || w.Body.Len() != 0 {
		t.Errorf("response %d %q", w.Code, w.Body)
	}
	if w := serve(h, newRequest(t, eventBody)); w.Code != http.StatusNoContent {
		t.Errorf("the same again: %d", w.Code)
	}
	if len(calls) != 1 || calls[0].ID != "e1" || calls[0].Name != "SuppressedEmail.Added" {
		t.Errorf("calls: %v", calls)
	}
}

var goodSignature = sign(secret, []byte(eventBody))

// signatures replaces the signature header.
func signatures(values ...string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del(webhook.DefaultSignatureHeader)
		for _, v := range values {
			r.Header.Add(webhook.DefaultSignatureHeader, v)
		}
	}
}

func withMethod(m string) func(*http.Request) { return func(r *http.Request) { r.Method = m } }

func chunked(r *http.Request) { r.ContentLength = -1 }

var refusals = []struct {
	name   string
	body   string
	change func(*http.Request)
	want   int
	reason error
}{
	{name: "GET", body: eventBody, change: withMethod(http.MethodGet), want: http.StatusMethodNotAllowed},
	{name: "HEAD", body: eventBody, change: withMethod(http.MethodHead), want: http.StatusMethodNotAllowed},
	{name: "PUT", body: eventBody, change: withMethod(http.MethodPut), want: http.StatusMethodNotAllowed},
	{name: "missing header", body: eventBody, change: signatures(), want: http.StatusUnauthorized, reason: webhook.ErrMissingSignature},
	{name: "empty header", body: eventBody, change: signatures(""), want: http.StatusUnauthorized, reason: webhook.ErrMissingSignature},
	{
		name: "doubled header, both good",
		body: eventBody, change: signatures(goodSignature, goodSignature), want: http.StatusUnauthorized,
		reason: webhook.ErrInvalidSignature,
	},
	{
		name: "doubled header, one good",
		body: eventBody, change: signatures("x", goodSignature), want: http.StatusUnauthorized,
		reason: webhook.ErrInvalidSignature,
	},
	{
		name: "doubled header, one empty",
		body: eventBody, change: signatures("", goodSignature), want: http.StatusUnauthorized,
		reason: webhook.ErrInvalidSignature,
	},
	{
		name: "two signatures in one header",
		body: eventBody, change: signatures(goodSignature + ", " + goodSignature), want: http.StatusUnauthorized,
		reason: webhook.ErrInvalidSignature,
	},
	{
		name: "signature of another body",
		body: eventBody, change: signatures(sign(secret, []byte("{}"))), want: http.StatusUnauthorized,
		reason: webhook.ErrInvalidSignature,
	},
	{
		name: "signature of another secret",
		body: eventBody, change: signatures(sign(parsed("whsec_9876543210", ""), []byte(eventBody))),
		want: http.StatusUnauthorized, reason: webhook.ErrInvalidSignature,
	},
	{
		name:   "signature of another function",
		body:   eventBody,
		change: signatures(sign(parsed(secret.Reveal(), webhook.SHA512), []byte(eventBody))),
		want:   http.StatusUnauthorized, reason: webhook.ErrInvalidSignature,
	},
	{
		name: "signature in the query alone",
		body: eventBody,
		change: func(r *http.Request) {
			signatures()(r)
			r.URL.RawQuery = webhook.DefaultSignatureHeader + "=" + goodSignature
		},
		want: http.StatusUnauthorized, reason: webhook.ErrMissingSignature,
	},
	{name: "unsigned and no event", body: "}", change: signatures("x"), want: http.StatusUnauthorized, reason: webhook.ErrInvalidSignature},
	{name: "signed, empty", want: http.StatusBadRequest},
	{name: "signed, no body at all", change: func(r *http.Request) { r.Body = nil }, want: http.StatusBadRequest},
	{name: "signed, not JSON", body: "event=Email.Bounced", want: http.StatusBadRequest},
	{name: "signed, JSON cut off", body: eventBody[:len(eventBody)-1], want: http.StatusBadRequest},
	{name: "signed, two values", body: eventBody + eventBody, want: http.StatusBadRequest},
	{name: "signed, an array", body: "[" + eventBody + "]", want: http.StatusBadRequest},
	{name: "signed, no event's name", body: `{"id":"e1","data":{}}`, want: http.StatusBadRequest},
	{name: "too large", body: padded(1<<20 + 1), want: http.StatusRequestEntityTooLarge},
	{
		name: "too large by its own account, read no further",
		body: eventBody,
		change: func(r *http.Request) {
			r.ContentLength = 1<<20 + 1
			r.Body = io.NopCloser(iotest.ErrReader(errors.New("read")))
		},
		want: http.StatusRequestEntityTooLarge,
	},
	{name: "too large, chunked", body: padded(1<<20 + 1), change: chunked, want: http.StatusRequestEntityTooLarge},
	{
		name:   "too large for a handler in front",
		body:   eventBody,
		change: func(r *http.Request) { r.Body = http.MaxBytesReader(nil, r.Body, 10) },
		want:   http.StatusRequestEntityTooLarge,
	},
	{
		name: "breaks off",
		body: eventBody,
		change: func(r *http.Request) {
			r.Body = io.NopCloser(io.MultiReader(r.Body, iotest.ErrReader(io.ErrUnexpectedEOF)))
		},
		want: http.StatusBadRequest,
	},
}

// TestHandlerRejects: requests that must not reach the function.
func TestHandlerRejects(t *testing.T) {
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			var outcome webhook.Outcome
			h := webhook.NewHandler(newVerifier(t, secret), func(context.Context, *events.Event) error {
				t.Error("the function is called")
				return nil
			}, webhook.Options{Logger: slog.New(slog.DiscardHandler), Observe: func(_ context.Context, o webhook.Outcome) { outcome = o }})
			req := newRequest(t, tt.body)
			if tt.change != nil {
				tt.change(req)
			}
			w := serve(h, req)
			if w.Code != tt.want || outcome.Status != tt.want || outcome.Err == nil || outcome.Event != nil {
				t.Errorf("status %d, want %d; outcome %+v", w.Code, tt.want, outcome)
			}
			if tt.reason != nil &&
				(!errors.Is(outcome.Err, tt.reason) || !strings.Contains(w.Body.String(), tt.reason.Error())) {
				t.Errorf("reason %v, response %q; want %v", outcome.Err, w.Body, tt.reason)
			}
			if (w.Header().Get("Allow") == http.MethodPost) != (tt.want == http.StatusMethodNotAllowed) {
				t.Errorf("Allow: %q", w.Header().Get("Allow"))
			}
			if strings.Contains(outcome.Err.Error()+w.Body.String(), goodSignature) {
				t.Error("a signature comes out")
			}
		})
	}
}

func TestUnsignedBodyIsNotRead(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"missing": signatures(), "empty": signatures(""), "doubled": signatures(goodSignature, goodSignature),
	} {
		h := webhook.NewHandler(newVerifier(t, secret), succeed, webhook.Options{Logger: slog.New(slog.DiscardHandler)})
		req := newRequest(t, eventBody)
		change(req)
		req.Body = io.NopCloser(iotest.ErrReader(errors.New("read")))
		if w := serve(h, req); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: status %d, want 401 before anything is read", name, w.Code)
		}
	}
}

// padded returns an event of size bytes.
func padded(size int) string { return eventBody + strings.Repeat(" ", size-len(eventBody)) }

// TestHandlerAccepts: properties of a request that must not matter.
func TestHandlerAccepts(t *testing.T) {
	old := parsed("whsec_of_last_year", webhook.SHA512)
	for _, tt := range []struct {
		name   string
		body   string
		opts   webhook.Options
		change func(*http.Request)
	}{
		{name: "1 MiB", body: padded(1 << 20), opts: webhook.Options{}},
		{name: "1 MiB, chunked", body: padded(1 << 20), opts: webhook.Options{}, change: func(r *http.Request) { r.ContentLength = -1 }},
		{name: "2 MiB, if allowed", body: padded(2 << 20), opts: webhook.Options{MaxBodyBytes: 2 << 20}},
		{
			name: "a byte at a time",
			body: eventBody, opts: webhook.Options{},
			change: func(r *http.Request) { r.Body = io.NopCloser(iotest.OneByteReader(r.Body)) },
		},
		{
			name: "data and end at once",
			body: eventBody, opts: webhook.Options{},
			change: func(r *http.Request) { r.Body = io.NopCloser(iotest.DataErrReader(r.Body)) },
		},
		{name: "no content type", body: eventBody, opts: webhook.Options{}, change: func(r *http.Request) { r.Header.Del("Content-Type") }},
		{
			name: "another content type",
			body: eventBody, opts: webhook.Options{},
			change: func(r *http.Request) { r.Header.Set("Content-Type", "text/plain; charset=latin1") },
		},
		{
			name: "another header, in other case",
			body: eventBody, opts: webhook.Options{SignatureHeader: "x-hub-signature"},
			change: func(r *http.Request) {
				r.Header["X-Hub-Signature"] = r.Header[webhook.DefaultSignatureHeader]
				r.Header.Del(webhook.DefaultSignatureHeader)
			},
		},
		{
			name: "another secret, another function",
			body: eventBody, opts: webhook.Options{},
			change: func(r *http.Request) { r.Header.Set(webhook.DefaultSignatureHeader, sign(old, []byte(eventBody))) },
		},
		{name: "an event of unknown name", body: `{"id":"e1","event":"Moon.Landed","data":{}}`, opts: webhook.Options{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			h := webhook.NewHandler(newVerifier(t, secret, old), func(context.Context, *events.Event) error {
				calls++
				return nil
			}, tt.opts)
			req := newRequest(t, tt.body)
			if tt.change != nil {
				tt.change(req)
			}
			if w := serve(h, req); w.Code != http.StatusNoContent || calls != 1 {
				t.Errorf("status %d %q, calls %d", w.Code, w.Body, calls)
			}
		})
	}
}

// fatal ends the test if there is an error.
func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

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
			if broken := strings.Contains(log.String(), "the Once returned an invalid result"); broken != (tt.want >= 500) {
				t.Errorf("log: %s", log.String())
			}
		})
	}
}

// FuzzHandler compares the handler with an HMAC that was computed without this package.
func FuzzHandler(f *testing.F) {
	body := []byte(eventBody)
	good := sign(secret, body)
	f.Add(http.MethodPost, body, good, "", false, true)
	f.Add(http.MethodPost, body, good, good, true, false)
	f.Add(http.MethodPost, body, "", "", false, false)
	f.Add(http.MethodPost, body, good[:43], "", false, false)
	f.Add(http.MethodPost, []byte(`{"event":"Email.Bounced","data":{"email":{"id":[]}}}`), "", "", false, true)
	f.Add(http.MethodPost, []byte(`{"event":"Email.ReportedAsSpam","id":"\u0000","created_on":1e99}`), "", "", false, true)
	f.Add(http.MethodGet, []byte("{}"), good, "", false, true)
	f.Fuzz(func(t *testing.T, method string, body []byte, first, second string, two, sign bool) {
		mac := hmac.New(sha256.New, []byte(secret.Reveal()))
		mac.Write(body)
		genuine := base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if sign {
			first = genuine
		}
		mayCall := method == http.MethodPost && !two && first == genuine
		calls := 0
		h := webhook.NewHandler(newVerifier(t, secret), func(ctx context.Context, ev *events.Event) error {
			calls++
			if d, ok := webhook.FromContext(ctx); !ok || !bytes.Equal(d.Body, body) || d.Key == "" || ev.Name == "" {
				t.Errorf("delivery %+v, event %+v", d, ev)
			}
			return nil
		}, webhook.Options{Logger: slog.New(slog.DiscardHandler)})

		var code int
		for range 2 { // the second time it is a duplicate
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", io.NopCloser(bytes.NewReader(body)))
			req.Method = method
			req.Header[webhook.DefaultSignatureHeader] = []string{first, second}[:1]
			if two {
				req.Header[webhook.DefaultSignatureHeader] = []string{first, second}
			}
			code = serve(h, req).Code
		}
		switch {
		case calls > 1:
			t.Errorf("called %d times", calls)
		case calls == 1 && !mayCall:
			t.Error("a forgery is accepted")
		case calls == 1 && code != http.StatusNoContent, calls == 0 && code < 400:
			t.Errorf("%d calls, status %d", calls, code)
		case mayCall && calls == 0 && !slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge}, code):
			t.Errorf("status %d for a valid delivery", code)
		}
	})
}
