package client

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Contexts share their options, so WithHeader must copy the header.
type options struct {
	header      http.Header
	maxAttempts int // 0 means the value in Config
}

type optionsKey struct{}

// The context stores a pointer, because package fmt prints a pointer in a
// context as an address.
func optionsOf(ctx context.Context) options {
	if o, ok := ctx.Value(optionsKey{}).(*options); ok {
		return *o
	}
	return options{}
}

// WithHeader returns a copy of ctx that adds a header to each request,
// including retries:
//
//	ctx = client.WithHeader(ctx, "Traceparent", traceparent)
//
// The new header replaces any header with the same name in ctx. An empty value
// removes the header.
//
// If the name is invalid or reserved, or the value contains characters other than visible
// ASCII and inner spaces, a call with this context fails with [ErrValidation] and sends
// nothing. The error does not contain the value. Three groups of headers are reserved:
//
//   - headers that the client sets, such as Authorization and User-Agent
//   - headers that the transport sets, such as Host and Content-Length
//   - headers that would interfere with retries or with the decoding of responses, such
//     as Idempotency-Key and Range.
//
// The headers do not apply to calls that a [TokenSource] makes.
func WithHeader(ctx context.Context, name, value string) context.Context {
	o := optionsOf(ctx)
	if o.header = o.header.Clone(); o.header == nil {
		o.header = http.Header{}
	}
	o.header.Set(name, value)
	return context.WithValue(ctx, optionsKey{}, &o)
}

// WithMaxAttempts returns a copy of ctx that limits each call to n attempts. If n is
// 1 or negative, the client does not retry. If n is 0, [RetryConfig.MaxAttempts]
// applies.
//
// An attempt with a 429 response always counts toward n, even for a lookup. Such
// an attempt often does not count toward MaxAttempts. WithMaxAttempts does not apply
// to calls that a [TokenSource] makes. To limit the duration of a call, use
// [context.WithTimeout].
func WithMaxAttempts(ctx context.Context, n int) context.Context {
	o := optionsOf(ctx)
	o.maxAttempts = n
	return context.WithValue(ctx, optionsKey{}, &o)
}

// withoutOptions returns a copy of ctx without the options and the response hook of the call. The source of a token
// uses the values of one call, but several calls use the token, and the source can outlive the call.
func withoutOptions(ctx context.Context) context.Context {
	return WithResponseHook(context.WithValue(ctx, optionsKey{}, nil), nil)
}

func (o options) addTo(h http.Header) {
	for name, values := range o.header {
		if values[0] != "" {
			h[name] = slices.Clone(values)
		}
	}
}

func (o options) check() error {
	for _, name := range slices.Sorted(maps.Keys(o.header)) {
		switch v := o.header.Get(name); {
		case !isHeaderName(name):
			return fmt.Errorf("invalid header name %.100q", name)
		case isReserved(name):
			return fmt.Errorf("header %s is reserved", name)
		case strings.Trim(v, " ") != v || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }):
			return fmt.Errorf("header %s must contain only printable ASCII characters and must not begin or end with a space", name)
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

// isReserved reports whether a header is reserved. The name must be in canonical form.
func isReserved(name string) bool {
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
		// net/http resends a POST request that contains an idempotency key.
		"Idempotency-Key", "X-Idempotency-Key",
		// An override header may make the platform perform another operation.
		"X-Http-Method", "X-Http-Method-Override", "X-Method-Override",
		"X-Original-Url", "X-Rewrite-Url",
		// Each of the following headers may cause a compressed, partial or
		// provisional response.
		"A-Im", "Accept-Encoding", "Expect", "Prefer", "Range",
	}
}
