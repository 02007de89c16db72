package mockserver

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// tokenCookie carries an access token to the control routes of a server that
// does not listen on loopback.
const tokenCookie = "mock_token"

// inertPolicy is for what somebody else wrote, should a browser show it as a
// page: its scripts do not run, and its origin is not that of the control routes,
// which they could otherwise call.
const inertPolicy = "sandbox; default-src 'none'"

// guarded lets those through to the control routes who may call them; see
// control.go for the rules.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if p := s.refuse(r); p != nil {
			writeProblem(w, p)
			return
		}
		if given := r.URL.Query().Get("token"); given != "" && s.needsToken(r) && r.Method == http.MethodGet {
			keepToken(w, r, given)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse says why a request may not use the control routes, or nil.
func (s *Server) refuse(r *http.Request) *problem {
	if foreign(r) {
		return fail(http.StatusForbidden, "forbidden", "the request comes from a page of another site", "header", "origin")
	}
	if !s.needsToken(r) {
		return misnamed(r)
	}
	if r.URL.Path == controlPrefix+"health" {
		return nil
	}
	caller, ok := s.tokenOf(controlToken(r))
	switch {
	case !ok:
		return fail(http.StatusUnauthorized, "unauthorized", "the access token is missing or unknown", "header", "authorization")
	case caller.ReadOnly && !reads(r):
		return fail(http.StatusForbidden, "forbidden", "the access token may only read", "header", "authorization")
	}
	return nil
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// controlToken returns the token of a request, from the first place that has one.
func controlToken(r *http.Request) string {
	if token := bearer(r); token != "" {
		return token
	}
	if token := r.URL.Query().Get("token"); token != "" && r.Method == http.MethodGet {
		return token
	}
	if cookie, err := r.Cookie(tokenCookie); err == nil {
		token, _ := url.QueryUnescape(cookie.Value)
		return token
	}
	return ""
}

// keepToken moves a token out of the address, where it would end up in the
// history, into a cookie that no script and no other site can use.
func keepToken(w http.ResponseWriter, r *http.Request, token string) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever the server itself speaks TLS
		Name:     tokenCookie,
		Value:    url.QueryEscape(token),
		Path:     controlPrefix,
		HttpOnly: true,
		Secure:   r.TLS != nil,
		SameSite: http.SameSiteStrictMode,
	})
	query := r.URL.Query()
	query.Del("token")
	to := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

// needsToken reports whether a token is needed: not while the server listens on
// loopback alone, and not in process.
func (s *Server) needsToken(r *http.Request) bool {
	if s.serve.http != nil {
		return !s.serve.loopback && overNetwork(r)
	}
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && !loopbackAddr(addr)
}

// overNetwork tells requests of an [http.Server] from those of the same process.
func overNetwork(r *http.Request) bool { return r.Context().Value(http.LocalAddrContextKey) != nil }

// misnamed refuses a request to a loopback address by a name of another: a page
// can make its own name point here, and its scripts could then read what they get.
func misnamed(r *http.Request) *problem {
	if overNetwork(r) && !loopbackName(r.Host) {
		return fail(http.StatusForbidden, "forbidden", "want a loopback name: localhost, 127.0.0.1 or [::1]", "header", "host")
	}
	return nil
}

func loopbackAddr(addr net.Addr) bool {
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

// foreign reports whether a browser sent the request for a page of another
// site. Following a link to a page here is nothing to worry about.
func foreign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		from, err := url.Parse(origin)
		return err != nil || from.Host == "" || !strings.EqualFold(from.Host, r.Host)
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate"
}
