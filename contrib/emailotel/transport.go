package emailotel

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// The semantic conventions require "REDACTED" as the replacement for personal
// data.
const redacted = "REDACTED"

type urlKey struct{}

// Transport returns an instrumented transport that does not record addresses. The
// instrument function, such as otelhttp.NewTransport, receives a base transport whose
// requests have redacted URLs. In redacted URLs, REDACTED replaces addresses in the path,
// and all query values except page, per_page, sort and with_count. A redacted URL does not
// contain a user name or a password. The base transport sends requests with their original
// URLs. If base is nil, Transport uses http.DefaultTransport.
//
// Headers are not redacted, so the instrumentation must not record the
// Authorization header.
func Transport(base http.RoundTripper, instrument func(http.RoundTripper) http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return hide{instrument(restore{base})}
}

type hide struct{ next http.RoundTripper }

// RoundTrip passes a request with a redacted URL to the instrumented transport.
func (t hide) RoundTrip(r *http.Request) (*http.Response, error) {
	hidden := r.WithContext(context.WithValue(r.Context(), urlKey{}, r.URL))
	hidden.URL = redact(r.URL)
	resp, err := t.next.RoundTrip(hidden)
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

func (t hide) CloseIdleConnections() { closeIdle(t.next) }

type restore struct{ next http.RoundTripper }

// RoundTrip restores the URL.
func (t restore) RoundTrip(r *http.Request) (*http.Response, error) {
	if u, ok := r.Context().Value(urlKey{}).(*url.URL); ok {
		r = r.WithContext(r.Context()) // a copy, because a RoundTripper must not change the request
		r.URL = u
	}
	return t.next.RoundTrip(r)
}

func (t restore) CloseIdleConnections() { closeIdle(t.next) }

func closeIdle(t http.RoundTripper) {
	if c, ok := t.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// redact returns a URL without personal data that still identifies the
// operation.
func redact(u *url.URL) *url.URL {
	if u == nil {
		return nil
	}
	segments := strings.Split(u.EscapedPath(), "/")
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		address := i > 0 && segments[i-1] == "suppressed-emails" && s != ""
		if address || err != nil || strings.Contains(plain, "@") {
			segments[i] = redacted
		}
	}
	path := strings.Join(segments, "/")
	clean := &url.URL{Scheme: u.Scheme, Host: u.Host, RawPath: path, RawQuery: redactQuery(u)}
	clean.Path, _ = url.PathUnescape(path) // each segment can be escaped; see above
	return clean
}

func redactQuery(u *url.URL) string {
	query := u.Query()
	for name, values := range query {
		switch name {
		case "page", "per_page", "sort", "with_count":
		default:
			for i := range values {
				values[i] = redacted
			}
		}
	}
	return query.Encode()
}
