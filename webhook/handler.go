package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"example.com/emailplatform/events"
)

var errOnce = errors.New("webhook: Once.Do returned an invalid result")

type handler struct {
	*receiver
	handle func(context.Context, *events.Event) error
}

// NewHandler returns a handler that verifies, decodes and deduplicates deliveries, and
// calls the function handle for each event. The function must be safe for concurrent
// use. See "Responses" in the package documentation.
//
// If handle returns nil, the event counts as handled. If handle returns an error or
// panics, the platform retries the delivery. The context of handle is derived from the
// request's context. If handle takes longer than 10 seconds, the platform closes the
// connection, and net/http cancels this context. NewHandler panics if v or handle is
// nil.
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
