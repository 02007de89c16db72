package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"example.com/emailplatform/events"
)

// Outcome is the result of one request.
type Outcome struct {
	// Status is the HTTP status of the response, or 0 if the function panicked
	// with [http.ErrAbortHandler]. If a framework recovers from this panic, the
	// status of the response is 500.
	Status int
	// Event is the event, or nil if the request was rejected before the event was
	// decoded.
	Event *events.Event
	// Duplicate is true if the event had already been handled, so the function
	// was not called.
	Duplicate bool
	// Err is the reason for a failure, or nil if Status is 2xx. Most failures have an
	// exported error or type. For these, Err matches ErrMissingSignature,
	// ErrInvalidSignature, ErrTooOld, ErrInFlight, a *PanicError, an *events.ParseError,
	// or the error that the function or Once returned. For other failures, such as a
	// body that is too large, Err contains only a description.
	Err error
	// Duration is the time from the start of the handler to the response.
	Duration time.Duration
}

// PanicError describes a panic. [Outcome].Err contains it after a panic in the
// function that handles events. [SourceOptions].OnError receives it after a panic
// in the function that returns the secrets.
type PanicError struct {
	Value any    // value of the panic
	Stack []byte // stack of the panic, from [debug.Stack]
}

func (e *PanicError) Error() string { return fmt.Sprintf("webhook: panic: %v", e.Value) }

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
