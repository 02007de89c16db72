package client

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Response is an answer of the platform as it came, for what the typed results
// leave out: headers, and members that this package does not know. It prints
// and logs without its body, which may hold a webhook's secret.
type Response struct {
	Op         string        // the operation, such as "getEmail"
	Attempt    int           // which request of the call it answers, from 1
	StatusCode int           // the HTTP status
	Header     http.Header   // as it came
	RequestID  string        // names the exchange in the platform's logs
	Duration   time.Duration // from sending the request to the last byte of the answer
	Body       []byte        `json:"-"` // the answer, or what came of it
}

// Format implements [fmt.Formatter].
func (r Response) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "client.Response{%s: %d, attempt %d, request %s}", r.Op, r.StatusCode, r.Attempt, r.RequestID)
}

// LogValue implements [slog.LogValuer].
func (r Response) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(r)) }

type responseKey struct{}

// WithResponseHook returns a context with which f is called for each answer to the
// calls that are made with it, also those that are errors and are tried again:
//
//	var last client.Response
//	ctx = client.WithResponseHook(ctx, func(r client.Response) { last = r })
//
// f must not block. An import or an iterator with Prefetch calls it from
// several goroutines at once.
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
