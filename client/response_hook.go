package client

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Response is a raw response from the platform, including headers and unknown fields.
// The body may contain the secret of a webhook, so a printed or logged Response omits
// it, unless the Response is in an unexported field (see "Authentication" in the package
// documentation).
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
// The function f must not block. Imports and iterators with Prefetch call f
// concurrently. A nil f removes the hook. The hook does not apply to calls that
// a [TokenSource] makes.
func WithResponseHook(ctx context.Context, f func(Response)) context.Context {
	return context.WithValue(ctx, responseKey{}, f)
}

func callResponseHook(ctx context.Context, c *call, resp *http.Response, body []byte, d time.Duration) {
	if f, _ := ctx.Value(responseKey{}).(func(Response)); f != nil {
		f(Response{
			Op: c.op, Attempt: c.attempts, StatusCode: resp.StatusCode, Header: resp.Header,
			RequestID: shortened(resp.Header.Get("X-Request-Id"), c.token), Duration: d, Body: bytes.Clone(body),
		})
	}
}
