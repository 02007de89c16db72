package client

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"example.com/emailplatform/internal/json/jsonscan"
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
	lookups  int // attempts of a lookup, which include rejected ones

	status         int           // of the last response; 0 without a response
	requestID      string        // of the last response
	queued         time.Duration // how long the call waited for the rate limiter
	maybeProcessed bool          // a failed attempt may have been processed

	logger  *slog.Logger // set by logged; nil means slog.Default
	onRetry []func(ctx context.Context, err error, pause time.Duration)
}

// exchange sends a request and reads the response. An error that is not an
// [*Error] means that nothing was sent.
type exchange func(context.Context, *call) error

func (c *call) retries(ctx context.Context, err error, pause time.Duration) {
	c.logRetry(ctx, err, pause)
	for _, f := range c.onRetry {
		f(ctx, err, pause)
	}
}

func newError(r request, cause error) *Error {
	return &Error{Op: r.op, Method: r.method, Path: r.path, cause: cause}
}

// newBadRequest returns the error for a call whose arguments are invalid.
// The client does not send such a call.
func newBadRequest(r request, cause error) *Error {
	e := newError(r, cause)
	e.badRequest = true
	return e
}

// newConclusion returns an error that the client derives from a successful
// response.
func newConclusion(r request, cause error) *Error {
	e := newError(r, cause)
	e.StatusCode = http.StatusOK
	return e
}

func (c *call) newError(cause error) *Error {
	e := newError(c.request, redactError(cause, c.token))
	e.Path = redact(e.Path, c.token) // the application may have passed the token as an id
	e.Attempts = c.attempts
	return e
}

// If err is not an [*Error], nothing was sent, and a retry would not help.
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

// do performs an operation and calls read to decode the response. If a required field is
// missing or has the wrong type, do returns an error together with the other fields.
func do[T any](ctx context.Context, x exchange, r request, read func(*jsonscan.Cursor) T) (v T, err error) {
	err = perform(ctx, x, r, func(body []byte) (err error) {
		v, err = decode(body, read)
		return err
	})
	return zeroUnlessUsable(v, err)
}

// zeroUnlessUsable replaces v with the zero value if the error makes v unusable.
func zeroUnlessUsable[T any](v T, err error) (T, error) {
	if e, ok := ownError(err); err != nil && (!ok || !e.mismatch && !e.notQueued) {
		var zero T
		return zero, err
	}
	return v, err
}

// decode treats an empty body as null, so all required fields are missing.
func decode[T any](body []byte, read func(*jsonscan.Cursor) T) (v T, err error) {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("null")
	}
	c := jsonscan.Borrow(body) // the buffer will be reused
	c.QuotedInts = true
	v = read(c)
	if err := c.End(); err != nil { // err is a pointer, so returning it directly would return a non-nil error
		return v, err
	}
	return v, nil
}

// perform performs an operation and passes the response body, which may be
// empty, to decode. If decode returns an error and the request is retried,
// perform calls decode again with the next response. If decode is nil, perform
// accepts any 2xx response that does not contain an error. Each error from
// perform is an [*Error].
func perform(ctx context.Context, x exchange, r request, decode func([]byte) error) error {
	if decode == nil {
		decode = readNothing
	}
	return x(ctx, &call{request: r, decode: decode})
}

// readNothing reads a response that has no required fields. It fails only if the
// response contains an error.
func readNothing(body []byte) error {
	c := jsonscan.New(string(body))
	failed := false
	for name := range c.Members() {
		failed = isErrorField(c, name) || failed
	}
	if failed && c.End() == nil {
		return errErrorInSuccess
	}
	return nil
}

// isErrorField reads a field and reports whether the field indicates an error.
// A non-empty array "detail" or a non-empty field "error" indicates an error.
func isErrorField(c *jsonscan.Cursor, name string) bool {
	b, start := c.Peek(), c.Offset()
	c.Skip()
	if name == "detail" && b == '[' || name == "error" && (b == '"' || b == '{' || b == '[') {
		return strings.Trim(c.Since(start), "\"{[]} \t\r\n") != ""
	}
	return false
}

// readErrorField reads a field from a response, and records a mismatch if the
// field indicates an error.
func readErrorField(c *jsonscan.Cursor, name string) {
	if ahead := *c; isErrorField(&ahead, name) {
		c.Mismatch("no error of the platform")
		return
	}
	c.Skip()
}
