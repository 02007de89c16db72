package client

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// options are what a context says of the calls that are made with it. They are
// never changed.
type options struct {
	header      http.Header
	maxAttempts int // 0 is what Config says
}

type optionsKey struct{}

// optionsOf returns the options of ctx, or those of nobody. They are kept by
// pointer, because a context that is printed shows the values in it.
func optionsOf(ctx context.Context) options {
	if o, ok := ctx.Value(optionsKey{}).(*options); ok {
		return *o
	}
	return options{}
}

// WithHeader returns a context with which a header is sent with each request of
// the calls that are made with it, retries included. One of the same name that
// ctx had is replaced; no value sends none:
//
//	ctx = client.WithHeader(ctx, "Traceparent", traceparent)
//
// Calls fail with [ErrValidation], before anything is sent, if name is no name
// of a header, if value holds anything but visible ASCII and spaces within, or
// if the header is not the caller's to set: those that the client sets itself,
// such as Authorization and User-Agent, those of the connection, such as Host
// and Content-Length, and those that change how often net/http sends a request,
// what it asks for or what an answer is, such as Idempotency-Key and Range. The
// error does not show the value. Headers do not reach a [TokenSource].
func WithHeader(ctx context.Context, name, value string) context.Context {
	o := optionsOf(ctx)
	if o.header = o.header.Clone(); o.header == nil {
		o.header = http.Header{}
	}
	o.header.Set(name, value)
	return context.WithValue(ctx, optionsKey{}, &o)
}

// WithMaxAttempts returns a context whose calls send each request n times at
// most, in place of [RetryConfig].MaxAttempts, which says what does not count: 1
// turns retries off, and so does a negative n; 0 is what the Config says. What
// creates or sends is not sent again when it may have been done, whatever n is. To
// bound the time of a call use [context.WithTimeout]. A [TokenSource] is asked
// without it.
func WithMaxAttempts(ctx context.Context, n int) context.Context {
	o := optionsOf(ctx)
	o.maxAttempts = n
	return context.WithValue(ctx, optionsKey{}, &o)
}

// withoutOptions returns a context without what is for the calls alone that the
// caller makes.
func withoutOptions(ctx context.Context) context.Context {
	return context.WithValue(ctx, optionsKey{}, nil)
}

// addTo gives a request the header.
func (o options) addTo(h http.Header) {
	for name, values := range o.header {
		if values[0] != "" {
			h[name] = slices.Clone(values)
		}
	}
}

// check returns what is wrong with the header.
func (o options) check() error {
	for _, name := range slices.Sorted(maps.Keys(o.header)) {
		switch v := o.header.Get(name); {
		case !isHeaderName(name):
			return fmt.Errorf("header %.100q: is no name of a header", name)
		case isOwned(name):
			return fmt.Errorf("header %s: is not for a call to set", name)
		case strings.Trim(v, " ") != v || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }):
			return fmt.Errorf("header %s: want visible ASCII characters, and spaces only within", name)
		}
	}
	return nil
}

// isHeaderName reports whether s is a token. (RFC 9110, section 5.6.2.)
func isHeaderName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
	})
}

// isOwned reports whether a header is not the caller's to set.
func isOwned(name string) bool {
	name = http.CanonicalHeaderKey(name)
	return strings.HasPrefix(name, "Content-") || strings.HasPrefix(name, "If-") || strings.HasPrefix(name, "Proxy-") ||
		slices.Contains(ownedHeaders(), name)
}

func ownedHeaders() []string {
	return []string{
		// Set by the client.
		"Accept", "Authorization", "User-Agent",
		// Of the connection and of the message's frame.
		"Connection", "Host", "Http2-Settings", "Keep-Alive", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade",
		// With one of these net/http sends a POST again by itself.
		"Idempotency-Key", "X-Idempotency-Key",
		// With these a request may be taken for another operation than is judged.
		"X-Http-Method", "X-Http-Method-Override", "X-Method-Override",
		"X-Original-Url", "X-Rewrite-Url",
		// With these the answer is another one: compressed, a part, or none yet.
		"A-Im", "Accept-Encoding", "Expect", "Prefer", "Range",
	}
}
