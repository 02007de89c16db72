package client

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"example.com/emailplatform/internal/json/jsonscan"
)

// call is the state of one operation, which one goroutine passes through the layers. Its fields are in groups. The
// comment of each group names the layer that writes these fields. The other layers only read them.
type call struct {
	// The method of the client.
	request
	decode func([]byte) error // reads the body of a 2xx response

	// withObserver
	onRetry []func(ctx context.Context, err error, pause time.Duration)

	// withEncodedBody
	options options  // from the caller's context
	payload *payload // the encoded body, or nil

	// withRetries
	uncounted int           // attempts that do not count toward the maximum
	retryWait time.Duration // the sum of the delays between attempts
	effect    callEffect    // of the failed attempts

	// withLookupLimit
	lookupAttempts int           // attempts of a lookup, which include rejected ones
	limiterWait    time.Duration // how long the call waited for the rate limiter

	// withToken
	token string

	// withRequestLog
	logger *slog.Logger // nil means slog.Default

	// send
	attempts     int
	status       int    // of the last response; 0 without a response
	requestID    string // of the last response
	ignoredValue error  // the first value of the last response that has the wrong type
}

// handler sends a request and reads the response. An error that is not an
// [*Error] means that nothing was sent.
type handler func(context.Context, *call) error

func (c *call) notifyRetry(ctx context.Context, err error, pause time.Duration) {
	c.logRetry(ctx, err, pause)
	for _, f := range c.onRetry {
		f(ctx, err, pause)
	}
}

// call performs an operation and passes the response body, which may be empty, to
// decode. If decode returns an error and the request is retried, call passes the next
// response to decode. If decode is nil, call accepts any 2xx response that does not
// contain an error. Each error from call is an [*Error].
func (h handler) call(ctx context.Context, r request, decode func([]byte) error) error {
	if decode == nil {
		decode = readNothing
	}
	return h.run(ctx, &call{request: r, decode: decode})
}

func (h handler) run(ctx context.Context, c *call) error {
	if ctx == nil {
		return newBadRequest(c.request, errNilContext)
	}
	return h(ctx, c)
}

// Errors of calls with an argument that is nil.
var (
	errNilContext = errors.New("the context must not be nil")
	errNilSource  = errors.New("the source must not be nil")
	errNilUntil   = errors.New("the function until must not be nil")
)

// callJSON performs an operation and calls read to decode the response. If a required
// field is missing or has the wrong type, callJSON returns an error together with the
// other fields.
func callJSON[T any](ctx context.Context, h handler, r request, read func(*jsonscan.Cursor) T) (v T, err error) {
	err = h.call(ctx, r, func(body []byte) (err error) {
		v, err = decode(body, read)
		return err
	})
	return zeroUnlessUsable(v, err)
}

// zeroUnlessUsable replaces v with the zero value if the error makes v unusable.
func zeroUnlessUsable[T any](v T, err error) (T, error) {
	if e, ok := topLevelError(err); err != nil && (!ok || e.result != mismatched && e.result != unqueued) {
		var zero T
		return zero, err
	}
	return v, err
}

// maxRecycled is the maximum size of a buffer that is reused.
const maxRecycled = 1 << 20
