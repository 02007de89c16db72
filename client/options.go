package client

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// options contains the options that a call's context carries. It is immutable.
type options struct {
	header      http.Header
	maxAttempts int // 0 means the value in Config
}

type optionsKey struct{}

// optionsOf returns the options in ctx. The context stores a pointer, because printing
// a context prints its values.
func optionsOf(ctx context.Context) options {
	if o, ok := ctx.Value(optionsKey{}).(*options); ok {
		return *o
	}
	return options{}
}

// WithHeader returns a context whose calls send a header with each request, including
// retries. It replaces a header of the same name in ctx. An empty value removes the
// header:
//
//	ctx = client.WithHeader(ctx, "Traceparent", traceparent)
//
// A call fails with [ErrValidation] and sends nothing if the name is invalid, if the
// value contains anything but visible ASCII and inner spaces, or if the header is
// reserved. Three groups of headers are reserved: headers that the client sets, such
// as Authorization and User-Agent; headers of the connection, such as Host and
// Content-Length; and headers that change retries or responses, such as
// Idempotency-Key and Range. The error does not contain the value. The headers do not
// apply to a [TokenSource].
func WithHeader(ctx context.Context, name, value string) context.Context {
	o := optionsOf(ctx)
	if o.header = o.header.Clone(); o.header == nil {
		o.header = http.Header{}
	}
	o.header.Set(name, value)
	return context.WithValue(ctx, optionsKey{}, &o)
}

// WithMaxAttempts returns a context whose calls use n instead of
// [RetryConfig].MaxAttempts. 1 or a negative value turns retries off. 0 uses the
// Config. WithMaxAttempts does not apply to a [TokenSource]. To limit the duration of
// a call, use [context.WithTimeout].
func WithMaxAttempts(ctx context.Context, n int) context.Context {
	o := optionsOf(ctx)
	o.maxAttempts = n
	return context.WithValue(ctx, optionsKey{}, &o)
}

// withoutOptions returns a context without the caller's options.
func withoutOptions(ctx context.Context) context.Context {
	return context.WithValue(ctx, optionsKey{}, nil)
}

// addTo adds the headers to a request.
func (o options) addTo(h http.Header) {
	for name, values := range o.header {
		if values[0] != "" {
			h[name] = slices.Clone(values)
		}
	}
}

// check returns an error for the first invalid header.
func (o options) check() error {
	for _, name := range slices.Sorted(maps.Keys(o.header)) {
		switch v := o.header.Get(name); {
		case !isHeaderName(name):
			return fmt.Errorf("header %.100q: is not a valid name", name)
		case isReserved(name):
			return fmt.Errorf("header %s: is reserved", name)
		case strings.Trim(v, " ") != v || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }):
			return fmt.Errorf("header %s: must contain only visible ASCII characters and inner spaces", name)
		}
	}
	return nil
}

// isHeaderName reports whether s is a valid header name. (RFC 9110, section 5.6.2.)
func isHeaderName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
	})
}

// isReserved reports whether callers must not set a header.
func isReserved(name string) bool {
	name = http.CanonicalHeaderKey(name)
	return strings.HasPrefix(name, "Content-") || strings.HasPrefix(name, "If-") || strings.HasPrefix(name, "Proxy-") ||
		slices.Contains(reservedHeaders(), name)
}

func reservedHeaders() []string {
	return []string{
		// Set by the client.
		"Accept", "Authorization", "User-Agent",
		// Headers of the connection.
		"Connection", "Host", "Http2-Settings", "Keep-Alive", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade",
		// With one of these, net/http resends a POST.
		"Idempotency-Key", "X-Idempotency-Key",
		// With these, the platform may perform another operation.
		"X-Http-Method", "X-Http-Method-Override", "X-Method-Override",
		"X-Original-Url", "X-Rewrite-Url",
		// With these, the response is compressed, partial or provisional.
		"A-Im", "Accept-Encoding", "Expect", "Prefer", "Range",
	}
}
