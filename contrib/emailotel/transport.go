package emailotel

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"example.com/emailplatform/client"
)

// The semantic conventions require "REDACTED" as the replacement for personal
// data.
const redacted = "REDACTED"

type urlKey struct{}

// Transport returns an instrumented transport that sends requests with base. The
// function instrument, for example otelhttp.NewTransport, adds the instrumentation. The
// instrumentation sees only redacted URLs, so it does not record the addresses of
// recipients. However, base sends the requests with their original URLs. If base is nil,
// Transport uses client.NewTransport(). Transport panics if instrument is nil.
//
// In a redacted URL, REDACTED replaces addresses in the path, and all query values except
// page, per_page, sort and with_count. A redacted URL does not contain a user name or a
// password.
//
// Headers are not redacted, so the instrumentation must not record the
// Authorization header.
func Transport(base http.RoundTripper, instrument func(http.RoundTripper) http.RoundTripper) http.RoundTripper {
	if instrument == nil {
		panic("emailotel: Transport needs a function")
	}
	if base == nil {
		base = client.NewTransport()
	}
	return transport{hide, instrument(transport{restore, base})}
}

// transport sends changed copies of requests.
type transport struct {
	change func(*http.Request) *http.Request
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(t.change(r))
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

// CloseIdleConnections is called by http.Client.
func (t transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func hide(r *http.Request) *http.Request {
	hidden := r.WithContext(context.WithValue(r.Context(), urlKey{}, r.URL))
	hidden.URL = redact(r.URL)
	return hidden
}

func restore(hidden *http.Request) *http.Request {
	u, ok := hidden.Context().Value(urlKey{}).(*url.URL)
	if !ok {
		return hidden
	}
	r := hidden.WithContext(hidden.Context())
	r.URL = u
	return r
}

// redact returns a URL that contains no personal data but still
// identifies the operation.
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
