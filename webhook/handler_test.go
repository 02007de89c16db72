package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

var secret = webhook.Secret{Key: "whsec_test"}

const eventBody = `{"id":"e1","event":"SuppressedEmail.Added","created_on":1700000000,"data":{"suppressedEmail":{"email":"a@example.com"}}}`

// errFunction is what the function fails with: a text that must not leave the process.
var errFunction = errors.New("password of the database")

func succeed(context.Context, *events.Event) error { return nil }

func fail(context.Context, *events.Event) error { return errFunction }

func newVerifier(t testing.TB, secrets ...webhook.Secret) *webhook.Verifier {
	t.Helper()
	v, err := webhook.NewVerifier(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func newRequest(t testing.TB, body string) *http.Request {
	t.Helper()
	req, err := webhook.NewRequest(t.Context(), "http://receiver.test/hook", secret, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
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

// TestHandlerAnswersTheEvent covers what can go wrong once the event is known. None of it may be answered with success.
func TestHandlerAnswersTheEvent(t *testing.T) {
	for _, tt := range []struct {
		name   string
		handle func(context.Context, *events.Event) error
		once   storeFunc
		want   int
	}{
		{"function succeeds", succeed, nil, http.StatusNoContent},
		{"function fails", fail, nil, http.StatusInternalServerError},
		{"function panics", func(context.Context, *events.Event) error { panic(errFunction) }, nil, http.StatusInternalServerError},
		{"function returns ErrInFlight itself", func(context.Context, *events.Event) error { return webhook.ErrInFlight }, nil, http.StatusInternalServerError},
		{"function returns ErrInvalidSignature itself", func(context.Context, *events.Event) error { return webhook.ErrInvalidSignature }, nil, http.StatusInternalServerError},
		{"handled before", fail, func(context.Context, string, func(context.Context) error) (bool, error) {
			return false, nil
		}, http.StatusNoContent},
		{"in flight elsewhere", succeed, func(context.Context, string, func(context.Context) error) (bool, error) {
			return false, fmt.Errorf("row is locked: %w", webhook.ErrInFlight)
		}, http.StatusServiceUnavailable},
		{"store is down", succeed, func(context.Context, string, func(context.Context) error) (bool, error) {
			return false, errFunction
		}, http.StatusInternalServerError},
		{"store fails to remember", succeed, func(ctx context.Context, _ string, fn func(context.Context) error) (bool, error) {
			return true, errors.Join(fn(ctx), errFunction)
		}, http.StatusInternalServerError},
		{"store panics", succeed, func(context.Context, string, func(context.Context) error) (bool, error) {
			panic(errFunction)
		}, http.StatusInternalServerError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := webhook.Options{Logger: slog.New(slog.DiscardHandler)}
			if tt.once != nil {
				opts.Once = tt.once
			}
			w := serve(webhook.NewHandler(newVerifier(t, secret), tt.handle, opts), newRequest(t, eventBody))
			if w.Code != tt.want {
				t.Errorf("status %d, want %d", w.Code, tt.want)
			}
			if got := w.Header().Get("Retry-After"); (got == "1") != (tt.want == http.StatusServiceUnavailable) {
				t.Errorf("Retry-After %q", got)
			}
			if strings.Contains(w.Body.String(), errFunction.Error()) {
				t.Errorf("the answer tells what went wrong inside: %q", w.Body)
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
		t.Errorf("answer %d %q", w.Code, w.Body)
	}
	if w := serve(h, newRequest(t, eventBody)); w.Code != http.StatusNoContent {
		t.Errorf("the same again: %d", w.Code)
	}
	if len(calls) != 1 || calls[0].ID != "e1" || calls[0].Name != "SuppressedEmail.Added" {
		t.Errorf("calls: %v", calls)
	}
}

// TestHandlerRefuses covers what must never reach the function.
func TestHandlerRefuses(t *testing.T) {
	good := webhook.Sign(secret, []byte(eventBody))
	header := func(values ...string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del(webhook.DefaultSignatureHeader)
			for _, v := range values {
				r.Header.Add(webhook.DefaultSignatureHeader, v)
			}
		}
	}
	method := func(m string) func(*http.Request) { return func(r *http.Request) { r.Method = m } }
	chunked := func(r *http.Request) { r.ContentLength = -1 }
	for _, tt := range []struct {
		name   string
		body   string
		change func(*http.Request)
		want   int
		reason error
	}{
		{"GET", eventBody, method(http.MethodGet), http.StatusMethodNotAllowed, nil},
		{"HEAD", eventBody, method(http.MethodHead), http.StatusMethodNotAllowed, nil},
		{"PUT", eventBody, method(http.MethodPut), http.StatusMethodNotAllowed, nil},
		{"missing header", eventBody, header(), http.StatusUnauthorized, webhook.ErrMissingSignature},
		{"empty header", eventBody, header(""), http.StatusUnauthorized, webhook.ErrMissingSignature},
		{"doubled header, both good", eventBody, header(good, good), http.StatusUnauthorized, webhook.ErrInvalidSignature},
		{"doubled header, one good", eventBody, header("x", good), http.StatusUnauthorized, webhook.ErrInvalidSignature},
		{"doubled header, one empty", eventBody, header("", good), http.StatusUnauthorized, webhook.ErrInvalidSignature},
		{"two signatures in one header", eventBody, header(good + ", " + good), http.StatusUnauthorized, webhook.ErrInvalidSignature},
		{"signature of another body", eventBody, header(webhook.Sign(secret, []byte("{}"))), http.StatusUnauthorized, webhook.ErrInvalidSignature},
		{"signature of another secret", eventBody, header(webhook.Sign(webhook.Secret{Key: "x"}, []byte(eventBody))), http.StatusUnauthorized, webhook.ErrInvalidSignature},
		{"signature of another function", eventBody, header(webhook.Sign(webhook.Secret{Key: secret.Key, Hash: webhook.SHA512}, []byte(eventBody))), http.StatusUnauthorized, webhook.ErrInvalidSignature},
		{"signature in the query alone", eventBody, func(r *http.Request) {
			header()(r)
			r.URL.RawQuery = webhook.DefaultSignatureHeader + "=" + good
		}, http.StatusUnauthorized, webhook.ErrMissingSignature},
		{"unsigned and no event", "}", header("x"), http.StatusUnauthorized, webhook.ErrInvalidSignature},
		{"signed, empty", "", nil, http.StatusBadRequest, nil},
		{"signed, no body at all", "", func(r *http.Request) { r.Body = nil }, http.StatusBadRequest, nil},
		{"signed, not JSON", "event=Email.Bounced", nil, http.StatusBadRequest, nil},
		{"signed, JSON cut off", eventBody[:len(eventBody)-1], nil, http.StatusBadRequest, nil},
		{"signed, two values", eventBody + eventBody, nil, http.StatusBadRequest, nil},
		{"signed, an array", "[" + eventBody + "]", nil, http.StatusBadRequest, nil},
		{"signed, no event's name", `{"id":"e1","data":{}}`, nil, http.StatusBadRequest, nil},
		{"too large", padded(1<<20 + 1), nil, http.StatusRequestEntityTooLarge, nil},
		{"too large by its own account, read no further", eventBody, func(r *http.Request) {
			r.ContentLength = 1<<20 + 1
			r.Body = io.NopCloser(iotest.ErrReader(errors.New("read")))
		}, http.StatusRequestEntityTooLarge, nil},
		{"too large, chunked", padded(1<<20 + 1), chunked, http.StatusRequestEntityTooLarge, nil},
		{"too large for a handler in front", eventBody, func(r *http.Request) {
			r.Body = http.MaxBytesReader(nil, r.Body, 10)
		}, http.StatusRequestEntityTooLarge, nil},
		{"breaks off", eventBody, func(r *http.Request) {
			r.Body = io.NopCloser(io.MultiReader(r.Body, iotest.ErrReader(io.ErrUnexpectedEOF)))
		}, http.StatusBadRequest, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var outcome webhook.Outcome
			h := webhook.NewHandler(newVerifier(t, secret), func(context.Context, *events.Event) error {
				t.Error("the function is called")
				return nil
			}, webhook.Options{
				Logger:  slog.New(slog.DiscardHandler),
				Observe: func(_ context.Context, o webhook.Outcome) { outcome = o },
			})
			req := newRequest(t, tt.body)
			if tt.change != nil {
				tt.change(req)
			}
			w := serve(h, req)
			if w.Code != tt.want || outcome.Status != tt.want || outcome.Err == nil || outcome.Event != nil {
				t.Errorf("status %d, want %d; outcome %+v", w.Code, tt.want, outcome)
			}
			if tt.reason != nil && (!errors.Is(outcome.Err, tt.reason) || !strings.Contains(w.Body.String(), tt.reason.Error())) {
				t.Errorf("reason %v, answer %q; want %v", outcome.Err, w.Body, tt.reason)
			}
			if (w.Header().Get("Allow") == http.MethodPost) != (tt.want == http.StatusMethodNotAllowed) {
				t.Errorf("Allow: %q", w.Header().Get("Allow"))
			}
			if strings.Contains(outcome.Err.Error()+w.Body.String(), good) {
				t.Error("a signature comes out")
			}
		})
	}
}

// padded returns an event of so many bytes.
func padded(size int) string { return eventBody + strings.Repeat(" ", size-len(eventBody)) }

// TestHandlerAccepts covers what must not matter.
func TestHandlerAccepts(t *testing.T) {
	old := webhook.Secret{Key: "old", Hash: webhook.SHA512}
	for _, tt := range []struct {
		name   string
		body   string
		opts   webhook.Options
		change func(*http.Request)
	}{
		{"1 MiB", padded(1 << 20), webhook.Options{}, nil},
		{"1 MiB, chunked", padded(1 << 20), webhook.Options{}, func(r *http.Request) { r.ContentLength = -1 }},
		{"2 MiB, if allowed", padded(2 << 20), webhook.Options{MaxBodyBytes: 2 << 20}, nil},
		{"a byte at a time", eventBody, webhook.Options{}, func(r *http.Request) {
			r.Body = io.NopCloser(iotest.OneByteReader(r.Body))
		}},
		{"data and end at once", eventBody, webhook.Options{}, func(r *http.Request) {
			r.Body = io.NopCloser(iotest.DataErrReader(r.Body))
		}},
		{"no content type", eventBody, webhook.Options{}, func(r *http.Request) { r.Header.Del("Content-Type") }},
		{"another content type", eventBody, webhook.Options{}, func(r *http.Request) {
			r.Header.Set("Content-Type", "text/plain; charset=latin1")
		}},
		{"another header, in other case", eventBody, webhook.Options{SignatureHeader: "x-hub-signature"}, func(r *http.Request) {
			r.Header["X-Hub-Signature"] = r.Header[webhook.DefaultSignatureHeader]
			r.Header.Del(webhook.DefaultSignatureHeader)
		}},
		{"another secret, another function", eventBody, webhook.Options{}, func(r *http.Request) {
			r.Header.Set(webhook.DefaultSignatureHeader, webhook.Sign(old, []byte(eventBody)))
		}},
		{"an event of unknown name", `{"id":"e1","event":"Moon.Landed","data":{}}`, webhook.Options{}, nil},
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
