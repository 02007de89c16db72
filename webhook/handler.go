package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"example.com/emailplatform/events"
)

// Options configures [NewHandler] and [Middleware]. The zero value is a good
// default.
type Options struct {
	// SignatureHeader is the name of the header with the signature. Letter case
	// is ignored. The default is DefaultSignatureHeader.
	SignatureHeader string

	// MaxBodyBytes is the maximum size of a request body. 0 or a negative value means
	// 1 MiB (1 << 20).
	MaxBodyBytes int64

	// MaxAge is the maximum age of events. The handler rejects older events, unless they
	// have already been handled, but accepts events without a readable time. By default
	// there is no limit; see "Maximum age" in the package documentation.
	MaxAge time.Duration

	// Once deduplicates events. The default is a new MemoryOnce, but several processes
	// that receive the same webhook need a shared store. A store can be faulty: if Do
	// returns true and nil without a successful call to the function, the response is 500,
	// so the platform retries.
	Once Once

	// KeyPrefix is the prefix of all deduplication keys. If different handlers share a
	// store, each needs its own prefix, because otherwise only one of them receives each
	// event.
	KeyPrefix string

	// Key returns the deduplication key for a delivery. If Key is nil or returns "", the
	// default key applies, which d.Key contains: the id of the event. If there is no id,
	// or the id contains U+FFFD (the replacement for invalid UTF-8), the default key is
	// "sha256:" followed by the body's SHA-256 in hex. So two events without ids count as
	// one if their bodies are identical.
	Key func(d Delivery) string

	// Timeout limits the duration of the function and of Once: their context expires after
	// Timeout, and the response to a delivery that fails for this reason is 500. Set
	// Timeout if the server does not cancel the context of a request when the client
	// disconnects, as with Fiber. 0 or a negative value means no limit.
	Timeout time.Duration

	// Logger receives one record for each delivery, at one of three levels:
	//
	//   - warn for a rejected delivery, and for a field with an unexpected type (see
	//     [events.Event.Mismatch])
	//   - error for a failure of the function or the store
	//   - debug for all other deliveries.
	//
	// Records never contain a body, a signature or a secret. The default is slog.Default;
	// slog.New(slog.DiscardHandler) disables logging.
	Logger *slog.Logger

	// Observe, if not nil, is called with the outcome of each request before the response
	// is sent. It can record metrics or report panics, and must be safe for concurrent
	// use.
	Observe func(ctx context.Context, o Outcome)
}

// Outcome is the result of one request.
type Outcome struct {
	// Status is the HTTP status of the response, or 0 if the function panicked
	// with [http.ErrAbortHandler]. If a framework recovers from this panic, the
	// status of the response is 500.
	Status int
	// Event is the event, or nil if the request was rejected before the event was
	// decoded.
	Event *events.Event
	// Duplicate reports whether the function was not called because the event had
	// already been handled.
	Duplicate bool
	// Err is the reason for a failure, or nil if Status is 2xx. Err matches
	// ErrMissingSignature, ErrInvalidSignature, ErrTooOld, ErrInFlight, a *PanicError, an
	// *events.ParseError, or an error from the function or Once. Other failures, such as a
	// body that is too large, have no exported error, so Err then contains only a
	// description.
	Err error
	// Duration is the time from the start of the handler to the response.
	Duration time.Duration
}

// PanicError is the error in [Outcome].Err after a panic in the function, and for
// [SourceOptions].OnError after a panic in the function that returns the secrets.
type PanicError struct {
	Value any    // value of the panic
	Stack []byte // stack of the panic, from [debug.Stack]
}

func (e *PanicError) Error() string { return fmt.Sprintf("webhook: panic: %v", e.Value) }

var errOnce = errors.New("webhook: Once.Do returned an invalid result")

type handler struct {
	*receiver
	handle func(context.Context, *events.Event) error
}

// NewHandler returns a handler that verifies, decodes and deduplicates deliveries, and
// calls the function handle for each event. The function must be safe for concurrent
// use. See "Responses" in the package documentation.
//
// If handle returns nil, the event counts as handled. If it returns an error or panics,
// the platform retries the delivery. The context of handle is derived from the
// request's context, which is canceled when the platform closes the connection after 10
// seconds. NewHandler panics if v or handle is nil.
func NewHandler(v *Verifier, handle func(context.Context, *events.Event) error, opts Options) http.Handler {
	if handle == nil {
		panic("webhook: NewHandler needs a function")
	}
	if opts.Once == nil {
		opts.Once = NewMemoryOnce(MemoryOnceOptions{})
	}
	return &handler{newReceiver(v, opts), handle}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	orFail(w, func() {
		start := time.Now()
		o := h.deliver(w, r)
		o.Duration = time.Since(start)
		h.report(r, o)
		respond(w, o)
	})
}

// orFail calls f. If f panics, orFail sets the status 500, because a framework's
// middleware may recover from the panic, and the default status is 200.
func orFail(w http.ResponseWriter, f func()) {
	returned := false
	defer func() {
		if !returned {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}()
	f()
	returned = true
}

func (h *handler) deliver(w http.ResponseWriter, r *http.Request) (o Outcome) {
	defer func() {
		if v := recover(); v != nil {
			o.Status, o.Err = http.StatusInternalServerError, &PanicError{v, debug.Stack()}
			if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
				o.Status = 0
			}
		}
	}()
	d, err := h.receive(w, r)
	if err != nil {
		return Outcome{Status: status(false, err), Err: err}
	}
	o.Event = d.Event
	ctx, cancel := h.context(r, d)
	defer cancel()
	ran, err := h.once(ctx, d)
	o.Status, o.Duplicate, o.Err = status(ran, err), !ran && err == nil, err
	if gone := r.Context().Err(); !ran && gone != nil && errors.Is(err, gone) {
		o.Status = http.StatusServiceUnavailable // not a failure of this handler: the sender has closed the connection
	}
	return o
}

// once calls the store and checks its result, because an event would be lost if the
// store reported success without a successful call to the function.
func (h *handler) once(ctx context.Context, d *Delivery) (ran bool, err error) {
	var called, failed atomic.Bool
	ran, err = h.opts.Once.Do(ctx, d.Key, func(ctx context.Context) error {
		called.Store(true)
		failed.Store(true) // in case of a panic
		err := h.fresh(d.Event)
		if err == nil {
			err = h.handle(ctx, d.Event)
		}
		failed.Store(err != nil)
		return err
	})
	if err == nil && (ran != called.Load() || failed.Load()) {
		return ran, fmt.Errorf("%w: function called = %t, function failed = %t, but Do = %t, nil",
			errOnce, called.Load(), failed.Load(), ran)
	}
	return ran, err
}

// status returns the HTTP status for the result of the store. It never returns
// success for an event that was not handled.
func status(ran bool, err error) int {
	var rejected *rejection
	switch {
	case err == nil:
		return http.StatusNoContent
	case errors.As(err, &rejected):
		return rejected.status
	case !ran && errors.Is(err, ErrInFlight):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// respond sends the response, without details of internal errors.
func respond(w http.ResponseWriter, o Outcome) {
	text := http.StatusText(o.Status)
	if rejected := (*rejection)(nil); errors.As(o.Err, &rejected) {
		text = rejected.reason.Error()
	}
	switch o.Status {
	case 0:
		panic(http.ErrAbortHandler) // net/http closes the connection without a log record
	case http.StatusNoContent:
		w.WriteHeader(o.Status)
		return
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "HMAC") // HTTP requires a challenge in every 401 response
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1") // seconds
	}
	http.Error(w, text, o.Status)
}

func newReceiver(v *Verifier, opts Options) *receiver {
	if v == nil {
		panic("webhook: a Verifier is needed")
	}
	if opts.SignatureHeader == "" {
		opts.SignatureHeader = DefaultSignatureHeader
	}
	if opts.MaxBodyBytes <= 0 {
		opts.MaxBodyBytes = 1 << 20
	}
	return &receiver{v, opts}
}

func (rc *receiver) report(r *http.Request, o Outcome) {
	if rc.opts.Observe != nil {
		rc.opts.Observe(r.Context(), o)
	}
	level, message, rejected := slog.LevelDebug, "webhook: delivery", (*rejection)(nil)
	switch {
	case o.Status == http.StatusInternalServerError, errors.Is(o.Err, errConsumed):
		level, message = slog.LevelError, "webhook: delivery failed"
	case errors.As(o.Err, &rejected):
		level, message = slog.LevelWarn, "webhook: delivery rejected"
	case o.Event != nil && o.Event.Mismatch() != nil:
		level = slog.LevelWarn
	}
	if rc.logger().Enabled(r.Context(), level) {
		rc.log(r, level, message, o.attrs(r)...)
	}
}

func (rc *receiver) logger() *slog.Logger { return cmp.Or(rc.opts.Logger, slog.Default()) }

func (rc *receiver) log(r *http.Request, level slog.Level, message string, attrs ...slog.Attr) {
	rc.logger().LogAttrs(r.Context(), level, message, attrs...)
}

// describe returns the attributes of an event.
func describe(e *events.Event) []slog.Attr {
	attrs := []slog.Attr{slog.String("event", string(e.Name)), slog.String("id", e.ID)}
	if err := e.Mismatch(); err != nil {
		attrs = append(attrs, slog.String("mismatch", err.Error()))
	}
	return attrs
}

func (o Outcome) attrs(r *http.Request) []slog.Attr {
	attrs := []slog.Attr{slog.Int("status", o.Status), slog.Duration("duration", o.Duration)}
	if o.Event != nil {
		attrs = append(append(attrs, describe(o.Event)...), slog.Bool("duplicate", o.Duplicate))
	} else {
		attrs = append(attrs, slog.String("remote", r.RemoteAddr))
	}
	if o.Err != nil {
		attrs = append(attrs, slog.String("error", o.Err.Error()))
	}
	if panicked := (*PanicError)(nil); errors.As(o.Err, &panicked) {
		attrs = append(attrs, slog.String("stack", string(panicked.Stack)))
	}
	return attrs
}
