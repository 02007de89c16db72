package client

import (
	"context"
	"log/slog"
	"time"
)

// call is the state of one operation, which the client's layers read and
// update.
type call struct {
	request
	options  options            // from the caller's context
	payload  *payload           // the encoded body, or nil
	decode   func([]byte) error // reads the body of a 2xx response
	token    string
	attempts int

	status    int           // of the last response; 0 without a response
	requestID string        // of the last response
	queued    time.Duration // how long the call waited for the rate limiter
	maybeDone bool          // a failed attempt may have been processed

	logger  *slog.Logger // nil means slog.Default
	onRetry []func(ctx context.Context, err error, pause time.Duration)
}

// exchange sends a call and reads its response. An error that is not an
// [*Error] means that nothing was sent.
type exchange func(context.Context, *call) error

// retries logs the next retry with its delay and cause, and notifies the
// observer.
func (c *call) retries(ctx context.Context, err error, pause time.Duration) {
	c.logRetry(ctx, err, pause)
	for _, f := range c.onRetry {
		f(ctx, err, pause)
	}
}

func newError(r request, cause error) *Error {
	return &Error{Op: r.op, Method: r.method, Path: r.path, cause: cause}
}

func (c *call) newError(cause error) *Error {
	e := newError(c.request, redactError(cause, c.token))
	e.Attempts = c.attempts
	return e
}

// asError returns err as an [*Error]. If err is not an [*Error], nothing was
// sent, and a retry would not help.
func (c *call) asError(err error) *Error {
	e, ok := ownError(err)
	if !ok {
		e = c.newError(err)
		e.final = true
	}
	e.Attempts = c.attempts
	return e
}

// ownError returns err if its type is [*Error], and ignores wrapped errors. A
// wrapped [*Error] may come from another call, because a token source can use
// its own client.
func ownError(err error) (*Error, bool) {
	e, ok := err.(*Error) //nolint:errorlint // see above
	return e, ok
}
