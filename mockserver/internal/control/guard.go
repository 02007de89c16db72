package control

import (
	"net/http"
	"net/url"
	"strings"

	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/problem"
)

// tokenCookie carries an access token to the control routes of a server that
// does not listen on loopback.
const tokenCookie = "mock_token"

// inertPolicy is for what somebody else wrote, should a browser show it as a
// page: its scripts do not run, and its origin is not that of the control routes,
// which they could otherwise call.
const inertPolicy = "sandbox; default-src 'none'"

// guarded lets those through to the control routes who may call them, by the
// rules of docs/control-api.md.
func (c *Control) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if p := c.refuse(r); p != nil {
			gateway.WriteProblem(w, p)
			return
		}
		if given := r.URL.Query().Get("token"); given != "" && c.options.NeedsToken(r) && r.Method == http.MethodGet {
			keepToken(w, r, given)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse says why a request may not use the control routes, or nil.
func (c *Control) refuse(r *http.Request) *problem.Error {
	if foreign(r) {
		return problem.New(http.StatusForbidden, "forbidden", "the request comes from a page of another site", "header", "origin")
	}
	if !c.options.NeedsToken(r) {
		return gateway.CheckHost(r)
	}
	if r.URL.Path == Prefix+"health" {
		return nil
	}
	caller, err := c.Access.Find(tokenOf(r))
	switch {
	case err != nil:
		return gateway.Unauthorized(err)
	case caller.ReadOnly && !reads(r):
		return problem.New(http.StatusForbidden, "forbidden", "the access token may only read", "header", "authorization")
	}
	return nil
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// tokenOf returns the token of a request, from the first place that has one.
func tokenOf(r *http.Request) string {
	if token := gateway.Bearer(r); token != "" {
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
		Path:     Prefix,
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
