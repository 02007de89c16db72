package webhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
)

const eventBody = `{"id":"e1","event":"SuppressedEmail.Added","created_on":1700000000,` +
	`"data":{"suppressedEmail":{"email":"a@example.com"}}}`

// errFunction is the error of the function. Its text must not be in responses.
var errFunction = errors.New("password of the database")

func succeed(context.Context, *events.Event) error { return nil }

func fail(context.Context, *events.Event) error { return errFunction }

func throw(context.Context, *events.Event) error { panic(errFunction) }

func failsWith(err error) func(context.Context, *events.Event) error {
	return func(context.Context, *events.Event) error { return err }
}

func newRequest(t testing.TB, body string) *http.Request {
	t.Helper()
	req, err := NewRequest(t.Context(), "http://receiver.test/hook", testSecret, []byte(body))
	require.NoError(t, err)
	return req
}

func serve(h http.Handler, req *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

type function = func(context.Context) error

// storeFunc is a Once in one function.
type storeFunc func(ctx context.Context, key string, fn function) (bool, error)

func (f storeFunc) Do(ctx context.Context, key string, fn function) (bool, error) {
	return f(ctx, key, fn)
}

// returns creates a store. Its method Do returns the values ran and err, and does not call fn.
func returns(ran bool, err error) storeFunc {
	return func(context.Context, string, function) (bool, error) { return ran, err }
}

// converts creates a store. Its method Do calls fn, and converts the error from fn with the function result.
func converts(result func(error) (bool, error)) storeFunc {
	return func(ctx context.Context, _ string, fn function) (bool, error) { return result(fn(ctx)) }
}

// newHandler returns a handler that logs nothing, and the outcome of its last delivery.
func newHandler(t testing.TB, handle func(context.Context, *events.Event) error, opts Options) (http.Handler, *Outcome) {
	t.Helper()
	o := new(Outcome)
	opts.Logger = slog.New(slog.DiscardHandler)
	opts.Observe = func(_ context.Context, observed Outcome) { *o = observed }
	return NewHandler(newVerifier(t, testSecret), handle, opts), o
}

var responses = []struct {
	name    string
	handle  func(context.Context, *events.Event) error // succeed if it is nil
	once    storeFunc
	want    int
	invalid bool // the result of the store
}{
	{name: "function succeeds", want: http.StatusNoContent},
	{name: "function fails", handle: fail, want: http.StatusInternalServerError},
	{name: "function panics", handle: throw, want: http.StatusInternalServerError},
	{name: "function returns ErrInFlight", handle: failsWith(ErrInFlight), want: http.StatusInternalServerError},
	{name: "function returns ErrInvalidSignature", handle: failsWith(ErrInvalidSignature), want: http.StatusInternalServerError},
	{name: "handled before", handle: fail, once: returns(false, nil), want: http.StatusNoContent},
	{name: "in flight", once: returns(false, fmt.Errorf("locked: %w", ErrInFlight)), want: http.StatusServiceUnavailable},
	{name: "store is down", once: returns(false, errFunction), want: http.StatusInternalServerError},
	{
		name: "store fails to record",
		once: converts(func(error) (bool, error) { return true, errFunction }),
		want: http.StatusInternalServerError,
	},
	{name: "store panics", once: converts(func(error) (bool, error) { panic(errFunction) }), want: http.StatusInternalServerError},
	{
		name: "store does not call the function, but reports a call",
		once: returns(true, nil), want: http.StatusInternalServerError, invalid: true,
	},
	{
		name: "store calls, returns that it did not",
		once: converts(func(error) (bool, error) { return false, nil }), want: http.StatusInternalServerError, invalid: true,
	},
	{
		name: "store takes a failure for a success", handle: fail,
		once: converts(func(error) (bool, error) { return true, nil }), want: http.StatusInternalServerError, invalid: true,
	},
	{
		name: "store recovers from a panic", handle: throw,
		once: func(ctx context.Context, _ string, fn function) (ran bool, err error) {
			defer func() { ran = recover() != nil }()
			return false, fn(ctx)
		},
		want: http.StatusInternalServerError, invalid: true,
	},
}

// TestHandlerStatus: these failures happen after the event is known. None of them results in a success.
func TestHandlerStatus(t *testing.T) {
	for _, tt := range responses {
		t.Run(tt.name, func(t *testing.T) {
			if tt.handle == nil {
				tt.handle = succeed
			}
			var opts Options
			if tt.once != nil {
				opts.Once = tt.once
			}
			h, o := newHandler(t, tt.handle, opts)
			w := serve(h, newRequest(t, eventBody))
			assert.Equal(t, tt.want, w.Code)
			assert.Equal(t, tt.want, o.Status)
			assert.Equal(t, tt.name == "handled before", o.Duplicate)
			if errors.Is(o.Err, errOnce) != tt.invalid {
				t.Errorf("outcome %+v, want an invalid result: %v", o, tt.invalid)
			}
			if got := w.Header().Get("Retry-After"); (got == "1") != (tt.want == http.StatusServiceUnavailable) {
				t.Errorf("Retry-After %q", got)
			}
			assert.NotContains(t, w.Body.String(), errFunction.Error(), "the response contains the internal error")
		})
	}
}

// TestBodyAlreadyRead: if another handler has already read a part of the body, the platform retries the delivery. The
// error names this cause instead of an invalid signature.
func TestBodyAlreadyRead(t *testing.T) {
	for name, n := range map[string]int64{"a part": 5, "all": int64(len(eventBody))} {
		h, o := newHandler(t, succeed, Options{})
		req := newRequest(t, eventBody)
		_, err := io.CopyN(io.Discard, req.Body, n)
		require.NoError(t, err)
		assert.Equal(t, http.StatusServiceUnavailable, serve(h, req).Code, name)
		require.ErrorIs(t, o.Err, errConsumed, name)
		require.NotErrorIs(t, o.Err, ErrInvalidSignature, name)
	}
}

// TestBodyClosed: if another handler has closed the body, the platform retries.
func TestBodyClosed(t *testing.T) {
	h, o := newHandler(t, succeed, Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.Body.Close()
		h.ServeHTTP(w, r)
	}))
	defer server.Close()
	req := newRequest(t, eventBody)
	sent, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, req.Body)
	require.NoError(t, err)
	sent.Header = req.Header
	resp, err := http.DefaultClient.Do(sent)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.ErrorIs(t, o.Err, errConsumed)
}

// TestCompressedBody: the reason for an invalid signature can be that a proxy has compressed the body.
func TestCompressedBody(t *testing.T) {
	h, o := newHandler(t, succeed, Options{})
	req := newRequest(t, eventBody)
	req.Header.Set("Content-Encoding", "gzip")
	assert.Equal(t, http.StatusNoContent, serve(h, req).Code, "a valid signature")
	req = newRequest(t, eventBody)
	req.Header.Set("Content-Encoding", "gzip")
	req.Body = io.NopCloser(strings.NewReader(strings.Repeat("x", len(eventBody))))
	assert.Equal(t, http.StatusServiceUnavailable, serve(h, req).Code)
	require.ErrorIs(t, o.Err, errEncoded)
	require.ErrorContains(t, o.Err, `Content-Encoding is "gzip"`)
}

// TestDiagnosis: the error names the likely cause of an invalid signature.
func TestDiagnosis(t *testing.T) {
	for _, row := range []struct {
		name, body string
		length     int64
		header     http.Header
		status     int
		want       string
	}{
		{name: "empty without a length", length: -1, status: 503, want: "already read the body, or the sender sent none"},
		{name: "empty", status: 401, want: "invalid signature: the body is empty"},
		{name: "gzip without a header", body: "\x1f\x8bx", length: 3, status: 503, want: "must not be compressed: the body is in gzip format"},
		{name: "br", body: "x", length: 1, header: http.Header{"content-encoding": {"br"}}, status: 503, want: `Content-Encoding is "br"`},
		{name: "identity", body: "x", length: 1, header: http.Header{"Content-Encoding": {"identity"}}, status: 401, want: "invalid signature"},
		{name: "base64", body: base64.StdEncoding.EncodeToString([]byte(eventBody)), length: -1, status: 503, want: "changed the body: the body is in base64"},
		{name: "other base64", body: "eHl6", length: 4, status: 401, want: "invalid signature"},
		{name: "longer", body: "xyz", length: 2, status: 503, want: "changed the body: Content-Length is 2, but the body has 3 bytes"},
	} {
		h, o := newHandler(t, succeed, Options{})
		req := newRequest(t, eventBody)
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(row.body)), row.length
		maps.Copy(req.Header, row.header)
		assert.Equal(t, row.status, serve(h, req).Code, row.name)
		require.ErrorContains(t, o.Err, row.want, row.name)
	}
}

// TestHeaderLetterCase: a signature is found in each letter case of its header, and must appear once.
func TestHeaderLetterCase(t *testing.T) {
	for _, row := range []struct {
		names []string
		want  int
	}{
		{[]string{"x-service-signature"}, 204},
		{[]string{"X-SERVICE-SIGNATURE"}, 204},
		{[]string{"x-service-signature", "X-SERVICE-SIGNATURE"}, 401},
		{[]string{"x-signature"}, 401},
	} {
		h, _ := newHandler(t, succeed, Options{})
		req := newRequest(t, eventBody)
		signature := req.Header[DefaultSignatureHeader]
		delete(req.Header, DefaultSignatureHeader)
		for _, name := range row.names {
			req.Header[name] = signature
		}
		assert.Equal(t, row.want, serve(h, req).Code, row.names)
	}
}

// TestMismatchIsLogged: the log names the fields with unexpected types.
func TestMismatchIsLogged(t *testing.T) {
	for body, want := range map[string]string{
		`{"id":"1","event":"Email.Error","ip":7,"data":{"event_time":"soon"}}`: "level=WARN",
		`{"id":"1","event":"Email.Error","ip":"","data":{"event_time":1}}`:     "",
	} {
		var log bytes.Buffer
		v, opts := newVerifier(t, testSecret), Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
		own := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
		for _, h := range []http.Handler{NewHandler(v, succeed, opts), Middleware(v, opts)(own)} {
			log.Reset()
			assert.Equal(t, http.StatusNoContent, serve(h, newRequest(t, body)).Code)
			assert.Contains(t, log.String(), want)
			assert.Equal(t, want != "", strings.Contains(log.String(), "events: ip: expected") &&
				strings.Contains(log.String(), "events: data.event_time: expected"), log.String())
		}
	}
}

// TestPanicContinues: if a panic leaves a handler, and a framework recovers from it, the response is not a success.
func TestPanicContinues(t *testing.T) {
	v := newVerifier(t, testSecret)
	abort := func(context.Context, *events.Event) error { panic(http.ErrAbortHandler) }
	observe := Options{Observe: func(context.Context, Outcome) { panic(errFunction) }}
	for name, h := range map[string]http.Handler{
		"function aborts":                  NewHandler(v, abort, Options{}),
		"function exits":                   NewHandler(v, func(context.Context, *events.Event) error { runtime.Goexit(); return nil }, Options{}),
		"Observe panics":                   NewHandler(v, succeed, observe),
		"Key panics in Middleware":         Middleware(v, Options{Key: func(Delivery) string { panic(errFunction) }})(http.NotFoundHandler()),
		"next handler aborts":              Middleware(v, Options{})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })),
		"next handler panics":              Middleware(v, Options{})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(errFunction) })),
		"Observe panics after a rejection": Middleware(newVerifier(t, oldSecret), observe)(http.NotFoundHandler()),
	} {
		t.Run(name, func(t *testing.T) {
			framework := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				recovered := make(chan any) // from another goroutine, because runtime.Goexit ends it
				go func() {
					defer func() { recovered <- recover() }()
					h.ServeHTTP(w, r)
				}()
				assert.Equal(t, name == "function exits", <-recovered == nil, "the panic does not continue")
			})
			assert.Equal(t, http.StatusInternalServerError, serve(framework, newRequest(t, eventBody)).Code)
		})
	}
}

// TestHandlerCallsTheFunction: the function receives the event and the delivery in a context derived from the request's.
func TestHandlerCallsTheFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type contextKey struct{}
		calls := 0
		h, o := newHandler(t, func(ctx context.Context, ev *events.Event) error {
			calls++
			time.Sleep(time.Second)
			d, ok := FromContext(ctx)
			if !ok || d.Event != ev || string(d.Body) != eventBody || d.Key != "e1" || ev.Name != "SuppressedEmail.Added" {
				t.Errorf("delivery in the context: %+v, %v", d, ok)
			}
			if ctx.Value(contextKey{}) != "value" {
				t.Error("the context is not derived from the context of the request")
			}
			return nil
		}, Options{})
		req := newRequest(t, eventBody)
		w := serve(h, req.WithContext(context.WithValue(req.Context(), contextKey{}, "value")))
		assert.Equal(t, http.StatusNoContent, w.Code)
		assert.Zero(t, w.Body.Len())
		assert.Equal(t, 1, calls)
		assert.Equal(t, time.Second, o.Duration)
		d, ok := FromContext(t.Context())
		assert.False(t, ok, "delivery in a context without a delivery")
		assert.Nil(t, d.Event, "delivery in a context without a delivery")
	})
}

var goodSignature = mustSign(testSecret, []byte(eventBody))

// signatures replaces the signature header with the given values. Unless there is exactly one value and it is not
// empty, the handler must not read the body.
func signatures(values ...string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header[DefaultSignatureHeader] = values
		if len(values) != 1 || values[0] == "" {
			unreadable(r)
		}
	}
}

func unreadable(r *http.Request) { r.Body = io.NopCloser(iotest.ErrReader(errors.New("read"))) }

func chunked(r *http.Request) { r.ContentLength = -1 }

var rejections = []struct {
	name   string
	body   string
	change func(*http.Request)
	want   int
	reason error
}{
	{name: "GET", body: eventBody, change: func(r *http.Request) { r.Method = http.MethodGet }, want: 405, reason: errMethod},
	{name: "missing header", body: eventBody, change: signatures(), want: 401, reason: ErrMissingSignature},
	{name: "empty header", body: eventBody, change: signatures(""), want: 401, reason: ErrMissingSignature},
	{name: "two headers", body: eventBody, change: signatures(goodSignature, goodSignature), want: 401, reason: ErrInvalidSignature},
	{name: "two headers, one empty", body: eventBody, change: signatures("", goodSignature), want: 401, reason: ErrInvalidSignature},
	{
		name: "signature in the query alone",
		body: eventBody,
		change: func(r *http.Request) {
			signatures()(r)
			r.URL.RawQuery = DefaultSignatureHeader + "=" + goodSignature
		},
		want: 401, reason: ErrMissingSignature,
	},
	{name: "unsigned and no event", body: "}", change: signatures("x"), want: 401, reason: ErrInvalidSignature},
	{name: "signed, no body at all", change: func(r *http.Request) { r.Body = nil }, want: 400, reason: errNoEvent},
	{name: "signed, not JSON", body: "event=Email.Bounced", want: 400, reason: errNoEvent},
	{name: "signed, no event's name", body: `{"id":"e1","data":{}}`, want: 400, reason: errNoEvent},
	{name: "too large", body: padded(1<<20 + 1), want: 413, reason: errTooLarge},
	{
		name:   "too large by its own account, read no further",
		body:   eventBody,
		change: func(r *http.Request) { r.ContentLength = 1<<20 + 1; unreadable(r) },
		want:   413, reason: errTooLarge,
	},
	{name: "too large, chunked", body: padded(1<<20 + 1), change: chunked, want: 413, reason: errTooLarge},
	{
		name:   "too large for a handler in front",
		body:   eventBody,
		change: func(r *http.Request) { r.Body = http.MaxBytesReader(nil, r.Body, 10) },
		want:   413, reason: errTooLarge,
	},
	{
		name: "breaks off",
		body: eventBody,
		change: func(r *http.Request) {
			r.Body = io.NopCloser(io.MultiReader(r.Body, iotest.ErrReader(io.ErrUnexpectedEOF)))
		},
		want: 400, reason: errBrokenOff,
	},
}

// TestHandlerRejects: invalid requests do not reach the function.
func TestHandlerRejects(t *testing.T) {
	for _, tt := range rejections {
		t.Run(tt.name, func(t *testing.T) {
			h, outcome := newHandler(t, func(context.Context, *events.Event) error {
				t.Error("the function was called")
				return nil
			}, Options{})
			req := newRequest(t, tt.body)
			if tt.change != nil {
				tt.change(req)
			}
			w := serve(h, req)
			assert.Equal(t, tt.want, w.Code)
			assert.Equal(t, tt.want, outcome.Status)
			assert.Nil(t, outcome.Event)
			assert.ErrorIs(t, outcome.Err, tt.reason)
			assert.Equal(t, tt.reason.Error()+"\n", w.Body.String())
			if _, ok := errors.AsType[*events.ParseError](outcome.Err); ok != (tt.reason == errNoEvent) {
				t.Errorf("reason %v, want an *events.ParseError: %v", outcome.Err, !ok)
			}
			assert.Equal(t, tt.want == http.StatusMethodNotAllowed, w.Header().Get("Allow") == http.MethodPost, "Allow: %q", w.Header().Get("Allow"))
			assert.NotContains(t, outcome.Err.Error()+w.Body.String(), goodSignature, "the output contains the signature")
		})
	}
}

// padded returns an event of size bytes.
func padded(size int) string { return eventBody + strings.Repeat(" ", size-len(eventBody)) }

// TestHandlerAccepts: the handler accepts valid requests with unusual properties, such as a chunked body.
func TestHandlerAccepts(t *testing.T) {
	old := secretOf("whsec_of_last_year", SHA512)
	for _, tt := range []struct {
		name   string
		body   string // eventBody if it is empty
		opts   Options
		change func(*http.Request)
	}{
		{name: "1 MiB", body: padded(1 << 20)},
		{name: "1 MiB, chunked", body: padded(1 << 20), change: chunked},
		{name: "2 MiB, if allowed", body: padded(2 << 20), opts: Options{MaxBodyBytes: 2 << 20}},
		{name: "a byte at a time", change: func(r *http.Request) { r.Body = io.NopCloser(iotest.OneByteReader(r.Body)) }},
		{name: "another content type", change: func(r *http.Request) { r.Header.Set("Content-Type", "text/plain; charset=latin1") }},
		{
			name: "another header, in other case",
			opts: Options{SignatureHeader: "x-hub-signature"},
			change: func(r *http.Request) {
				r.Header["X-Hub-Signature"] = r.Header[DefaultSignatureHeader]
				r.Header.Del(DefaultSignatureHeader)
			},
		},
		{
			name:   "another secret, another function",
			change: func(r *http.Request) { r.Header.Set(DefaultSignatureHeader, mustSign(old, []byte(eventBody))) },
		},
		{name: "an event of unknown name", body: `{"id":"e1","event":"Moon.Landed","data":{}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			h := NewHandler(newVerifier(t, testSecret, old), func(context.Context, *events.Event) error {
				calls++
				return nil
			}, tt.opts)
			req := newRequest(t, cmp.Or(tt.body, eventBody))
			if tt.change != nil {
				tt.change(req)
			}
			w := serve(h, req)
			assert.Equal(t, http.StatusNoContent, w.Code)
			assert.Equal(t, 1, calls)
		})
	}
}
