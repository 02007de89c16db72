package webhook

import (
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

// Options change how deliveries are received. The zero value is a good default.
type Options struct {
	// SignatureHeader names the header of the signature, DefaultSignatureHeader
	// if empty. Case does not matter.
	SignatureHeader string

	// MaxBodyBytes bounds the body of a request, 1 MiB (1 << 20) if not
	// positive.
	MaxBodyBytes int64

	// MaxAge refuses events that happened longer ago, and those that do not
	// tell their time. It is off if not positive, and better left off: a
	// redelivery is legitimate hours later, and replayed deliveries are what
	// Once is for. An event that was handled before is answered with success,
	// however old it is.
	MaxAge time.Duration

	// Once keeps events from being handled twice; a MemoryOnce with its
	// defaults if nil. Several processes that receive the same webhook need a
	// store that they share. One that says that it called the function, and has
	// not, or that calls a failure a success, is noticed: the delivery is
	// answered with 500, and comes again.
	Once Once

	// Key tells events from one another for Once. If Key is nil or returns "",
	// that is the event's id or, for an event without one, "sha256:" and the
	// SHA-256 of the body in hex: two such events with equal bytes count as
	// one. Handlers with different purposes that share a store need keys of
	// their own, else each event reaches only one.
	Key func(event *events.Event, body []byte) string

	// Logger gets one line for each delivery, at debug level, refusals at warn
	// and failures of the function or the store at error. It never gets a body,
	// a signature or a secret. If nil, it is slog.Default at that moment.
	Logger *slog.Logger

	// Observe, if not nil, is called with the outcome of each request before it
	// is answered: for metrics, or to report panics. It must be safe for
	// concurrent use.
	Observe func(ctx context.Context, o Outcome)
}

// Outcome is what became of one request.
type Outcome struct {
	// Status is the HTTP status that is answered, or 0 when the function
	// panicked with [http.ErrAbortHandler].
	Status int
	// Event is nil when the request was refused before its event was known.
	Event *events.Event
	// Duplicate tells that the event had been handled before, so that the
	// function was not called.
	Duplicate bool
	// Err is why Status is not a success: ErrMissingSignature,
	// ErrInvalidSignature, ErrTooOld, ErrInFlight, a *PanicError, an
	// *events.ParseError, an error of the function or of the Once, or another
	// reason in words.
	Err error
	// Duration is from the call of the handler to its answer.
	Duration time.Duration
}

// PanicError is the [Outcome].Err of a function that panicked.
type PanicError struct {
	Value any    // what it panicked with
	Stack []byte // where, as [debug.Stack] tells it
}

func (e *PanicError) Error() string { return fmt.Sprintf("webhook: panic: %v", e.Value) }

var errOnce = errors.New("webhook: the Once breaks its contract")

type handler struct {
	*receiver
	handle func(context.Context, *events.Event) error
}

// NewHandler returns a handler that verifies deliveries, decodes them and calls
// handle for each event, once ("Answers" in the package documentation lists
// what it answers). It is safe for concurrent use, and so must handle be.
//
// The context of handle is that of the request: it is done when the platform
// hangs up, which it does after 10 seconds. The event is handled when handle
// returns nil. If it returns an error or panics, the platform delivers the
// event again. NewHandler panics if v or handle is nil.
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
	start := time.Now()
	o := h.deliver(w, r)
	o.Duration = time.Since(start)
	h.report(r, o)
	answer(w, o)
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
	ran, err := h.once(context.WithValue(r.Context(), deliveryKey{}, d), d)
	o.Status, o.Duplicate, o.Err = status(ran, err), !ran && err == nil, err
	if gone := r.Context().Err(); !ran && gone != nil && errors.Is(err, gone) {
		o.Status = http.StatusServiceUnavailable // nothing failed here: the sender has hung up
	}
	return o
}

// once believes a store only as far as it can be true: one that calls a
// success what was not called, or failed, would cost the event.
func (h *handler) once(ctx context.Context, d *Delivery) (ran bool, err error) {
	var called, failed atomic.Bool
	ran, err = h.opts.Once.Do(ctx, d.Key, func(ctx context.Context) error {
		called.Store(true)
		failed.Store(true) // unless it returns
		err := h.fresh(d.Event)
		if err == nil {
			err = h.handle(ctx, d.Event)
		}
		failed.Store(err != nil)
		return err
	})
	if err == nil && (ran != called.Load() || failed.Load()) {
		return ran, fmt.Errorf("%w: function called: %t, failed: %t, but Do = %t, nil",
			errOnce, called.Load(), failed.Load(), ran)
	}
	return ran, err
}

// status never answers success for an event that nobody has handled.
func status(ran bool, err error) int {
	var refused *refusal
	switch {
	case err == nil:
		return http.StatusNoContent
	case errors.As(err, &refused):
		return refused.status
	case !ran && errors.Is(err, ErrInFlight):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// answer tells the sender why it was refused, but nothing of what went wrong
// inside.
func answer(w http.ResponseWriter, o Outcome) {
	text := http.StatusText(o.Status)
	if refused := (*refusal)(nil); errors.As(o.Err, &refused) {
		text = refused.reason.Error()
	}
	switch o.Status {
	case 0:
		panic(http.ErrAbortHandler) // the function wants the connection cut: net/http does so, without a word
	case http.StatusNoContent:
		w.WriteHeader(o.Status)
		return
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "HMAC") // HTTP wants a challenge with every 401
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
	logger := rc.opts.Logger
	if logger == nil {
		logger = slog.Default()
	}
	level, message := slog.LevelDebug, "webhook: delivery"
	switch {
	case o.Status == http.StatusInternalServerError:
		level, message = slog.LevelError, "webhook: delivery failed"
	case o.Status/100 == 4:
		level, message = slog.LevelWarn, "webhook: delivery refused"
	}
	if !logger.Enabled(r.Context(), level) {
		return
	}
	logger.LogAttrs(r.Context(), level, message, o.attrs(r)...)
}

func (o Outcome) attrs(r *http.Request) []slog.Attr {
	attrs := []slog.Attr{slog.Int("status", o.Status), slog.Duration("duration", o.Duration)}
	if o.Event != nil {
		attrs = append(attrs,
			slog.String("event", o.Event.Name), slog.String("id", o.Event.ID), slog.Bool("duplicate", o.Duplicate))
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
