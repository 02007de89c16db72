package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Call describes a call to the platform for [Config.Observe].
type Call struct {
	Op string // operation, such as "getEmail"
}

// Observer contains the callbacks for one call; see [Config.Observe]. Retry and
// End can be nil, and must not block, because the call waits for them.
type Observer struct {
	// Retry is called before each delay between two attempts.
	Retry func(Observation)

	// End is called once at the end of the call, even if the call sent no
	// request or a callback panicked.
	End func(Observation)
}

// Observation describes the state of a call before a retry or when the call
// ends. The text of Err can contain the address of a recipient. No field
// contains a token.
type Observation struct {
	Op         string        // operation, such as "getEmail"
	Attempts   int           // number of requests so far
	StatusCode int           // status of the last response; 0 if the last request received no response
	RequestID  string        // request id of the last response
	Queued     time.Duration // time that a lookup waited for the rate limiter
	Duration   time.Duration // time since the call began
	Pause      time.Duration // delay before the next request; 0 at the end
	Err        error         // error of the last request or of the call: nil, an [*Error], or a panic
}

// Outcome is the result of a call.
type Outcome string

// The values of [Outcome].
const (
	OutcomeSuccess   Outcome = "success"    // no error
	OutcomeNotQueued Outcome = "not_queued" // ErrNotQueued
	OutcomeUnknown   Outcome = "unknown"    // ErrOutcomeUnknown
	OutcomeFailed    Outcome = "failed"     // any other error
)

// Outcome returns the outcome of the call, or of the last request before a retry.
func (o Observation) Outcome() Outcome {
	switch {
	case o.Err == nil:
		return OutcomeSuccess
	case errors.Is(o.Err, ErrNotQueued):
		return OutcomeNotQueued
	case errors.Is(o.Err, ErrOutcomeUnknown):
		return OutcomeUnknown
	}
	return OutcomeFailed
}

// errAbandoned is the Observation.Err for a call that ended with a panic or
// a call to runtime.Goexit.
var errAbandoned = errors.New("a callback panicked or called runtime.Goexit")

func observed(observe func(context.Context, Call) (context.Context, Observer), next exchange) exchange {
	if observe == nil {
		return next
	}
	return func(ctx context.Context, c *call) error {
		started := time.Now()
		ctx, o := observe(ctx, Call{Op: c.op})
		notify := func(f func(Observation), err error, pause time.Duration) {
			if f != nil {
				f(Observation{
					Op: c.op, Attempts: c.attempts, StatusCode: c.status, RequestID: c.requestID,
					Queued: c.queued, Duration: time.Since(started), Pause: pause, Err: err,
				})
			}
		}
		c.onRetry = append(c.onRetry, func(_ context.Context, err error, pause time.Duration) { notify(o.Retry, err, pause) })
		err := errAbandoned
		defer func() { notify(o.End, err, 0) }()
		err = next(ctx, c)
		return err
	}
}

// Response is a raw response from the platform, including headers and unknown
// fields. A printed or logged Response does not contain the body, which may
// contain the secret of a webhook.
type Response struct {
	Op         string        // operation, such as "getEmail"
	Attempt    int           // number of the attempt, from 1
	StatusCode int           // HTTP status
	Header     http.Header   // response header
	RequestID  string        // id of the request in the platform's logs
	Duration   time.Duration // from sending the request to the last byte of the response
	Body       []byte        `json:"-"` // response body, possibly truncated
}

// Format implements [fmt.Formatter].
func (r Response) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "client.Response{%s: %d, attempt %d, request %s}", r.Op, r.StatusCode, r.Attempt, r.RequestID)
}

// LogValue implements [slog.LogValuer].
func (r Response) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(r)) }

type responseKey struct{}

// WithResponseHook returns a copy of ctx whose calls pass each response to f,
// including error responses that the client retries:
//
//	var last client.Response
//	ctx = client.WithResponseHook(ctx, func(r client.Response) { last = r })
//
// The function f must not block. An import or an iterator with Prefetch calls f
// concurrently.
func WithResponseHook(ctx context.Context, f func(Response)) context.Context {
	return context.WithValue(ctx, responseKey{}, f)
}

func report(ctx context.Context, c *call, resp *http.Response, body []byte, d time.Duration) {
	if f, ok := ctx.Value(responseKey{}).(func(Response)); ok {
		f(Response{
			Op: c.op, Attempt: c.attempts, StatusCode: resp.StatusCode, Header: resp.Header,
			RequestID: redact(resp.Header.Get("X-Request-Id"), c.token), Duration: d, Body: bytes.Clone(body),
		})
	}
}

func logged(l *slog.Logger, next exchange) exchange {
	return func(ctx context.Context, c *call) error {
		c.logger = cmp.Or(l, slog.Default()) // logRetry uses it too, after a request
		if !c.logger.Enabled(ctx, slog.LevelDebug) {
			return next(ctx, c)
		}
		started := time.Now()
		err := next(ctx, c)
		attrs := append(c.attrs(), slog.Duration("duration", time.Since(started)))
		if e, ok := ownError(err); ok {
			now := *e // a copy, because the outer layers change e later
			attrs = append(attrs, slog.Any("error", &now))
		} else if err != nil {
			attrs = append(attrs, slog.Any("error", err))
		}
		c.logger.LogAttrs(ctx, slog.LevelDebug, "platform request", attrs...)
		return err
	}
}

func (c *call) logRetry(ctx context.Context, err error, delay time.Duration) {
	l := cmp.Or(c.logger, slog.Default())
	if !l.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := append(c.attrs(), slog.Duration("delay", delay), slog.Any("error", err))
	l.LogAttrs(ctx, slog.LevelInfo, "retrying platform request", attrs...)
}

func (c *call) attrs() []slog.Attr {
	attrs := []slog.Attr{
		slog.String("op", c.op),
		slog.String("method", c.method),
		slog.String("path", redact(c.path, c.token)),
		slog.Int("attempt", c.attempts),
		slog.Int("status", c.status),
	}
	if c.requestID != "" {
		attrs = append(attrs, slog.String("request_id", c.requestID))
	}
	return attrs
}
