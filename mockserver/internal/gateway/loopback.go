package gateway

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"example.com/emailplatform/mockserver/internal/problem"
)

// Misnamed refuses a request to a loopback address by a name of another: a page
// can make its own name point here, and its scripts could then read what they get.
func Misnamed(r *http.Request) *problem.Error {
	if OverNetwork(r) && !loopbackName(r.Host) {
		return problem.New(http.StatusForbidden, "forbidden", "want a loopback name: localhost, 127.0.0.1 or [::1]", "header", "host")
	}
	return nil
}

// OverNetwork tells requests of an [http.Server] from those of the same process.
func OverNetwork(r *http.Request) bool { return r.Context().Value(http.LocalAddrContextKey) != nil }

// LoopbackAddr reports whether nobody but this machine can reach an address.
func LoopbackAddr(addr net.Addr) bool {
	to, err := netip.ParseAddrPort(addr.String())
	return err == nil && to.Addr().Unmap().IsLoopback()
}

// loopbackName reports whether a Host means this machine whatever a name server
// says: a page whose name was made to point here has another.
func loopbackName(host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}
