// Package httpapi contains what the platform's API, the control API and the pages for links
// in emails have in common: reading bodies, error responses, and checks of hosts and tokens.
package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"example.com/emailplatform/mockserver/internal/apierror"
)

// Bearer returns the access token in a request, or "" if there is none.
func Bearer(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimLeft(secret, " ") // RFC 9110, section 11.4, allows several spaces
}

// Unauthorized returns the error for a request without a valid access token.
func Unauthorized(err error) *apierror.Error {
	return apierror.New(http.StatusUnauthorized, "unauthorized", err.Error(), "header", "authorization")
}

// CheckHost rejects a request to a loopback address if the Host header is not a
// loopback name. Without this check, the owner of a web page could make its host name
// resolve to a loopback address, and scripts on the page could then read the response.
func CheckHost(r *http.Request) *apierror.Error {
	if OverNetwork(r) && r.Host != "" && !loopbackName(r.Host) { // a request with HTTP/1.0 can have no Host, but browsers send it
		return apierror.New(http.StatusForbidden, "forbidden", "must be a loopback host: localhost, 127.0.0.1 or [::1]", "header", "host")
	}
	return nil
}

// OverNetwork reports whether the request arrived through an [http.Server]
// instead of an in-process call.
func OverNetwork(r *http.Request) bool { return r.Context().Value(http.LocalAddrContextKey) != nil }

// LoopbackAddr reports whether an address is a loopback address.
func LoopbackAddr(addr net.Addr) bool {
	to, err := netip.ParseAddrPort(addr.String())
	return err == nil && to.Addr().Unmap().IsLoopback()
}

// loopbackName reports whether the host in a Host header is a loopback address, localhost, or a
// name below it (RFC 6761, section 6.3). It does not use DNS.
func loopbackName(host string) bool {
	name := strings.ToLower((&url.URL{Host: host}).Hostname())
	addr, err := netip.ParseAddr(name)
	return strings.HasSuffix("."+strings.TrimSuffix(name, "."), ".localhost") || err == nil && addr.Unmap().IsLoopback()
}
