package control

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/httpapi"
)

// Only servers on non-loopback addresses use tokenCookie.
const tokenCookie = "mock_token"

// checkAccess rejects requests that must not access the control routes, by the rules in
// docs/control-api.md.
func (c *Control) checkAccess(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if p := c.accessProblem(r); p != nil {
			httpapi.WriteProblem(w, p)
			return
		}
		if given := r.URL.Query().Get("token"); given != "" && c.options.NeedsToken(r) && r.Method == http.MethodGet {
			keepToken(w, r, given)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (c *Control) accessProblem(r *http.Request) *apierror.Error {
	if crossSite(r) {
		return apierror.New(http.StatusForbidden, "forbidden", "cross-site requests are not allowed", "header", "origin")
	}
	if !c.options.NeedsToken(r) {
		return httpapi.CheckHost(r)
	}
	if r.URL.Path == Prefix+"health" {
		return nil
	}
	caller, err := c.Auth.Find(tokenOf(r))
	switch {
	case err != nil:
		return httpapi.Unauthorized(err)
	case caller.ReadOnly && !reads(r):
		return apierror.New(http.StatusForbidden, "forbidden", "the access token is read-only", "header", "authorization")
	}
	return nil
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// tokenOf checks the Authorization header, then the query, then the cookie.
func tokenOf(r *http.Request) string {
	if token := httpapi.Bearer(r); token != "" {
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

// keepToken moves a token from the URL to a cookie, because browsers store URLs in
// their history. The cookie is not available to scripts and other sites.
func keepToken(w http.ResponseWriter, r *http.Request, token string) {
	cookiePath := Prefix
	if r.URL.Path == Prefix {
		cookiePath = "" // the default is the requested path, which a proxy may have changed
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever the server itself speaks TLS
		Name:     tokenCookie,
		Value:    url.QueryEscape(token),
		Path:     cookiePath,
		HttpOnly: true,
		Secure:   r.TLS != nil,
		SameSite: http.SameSiteStrictMode,
	})
	query := r.URL.Query()
	query.Del("token")
	w.Header().Set("Referrer-Policy", "no-referrer")
	_, last := path.Split(r.URL.Path)
	httpapi.Redirect(w, http.StatusSeeOther, "./"+last, query.Encode())
}

// crossSite reports whether a page from another site sent the request. If the user
// followed a link, crossSite returns false. It does not use
// [http.CrossOriginProtection], because that type allows all GET requests.
//
// Browsers send Sec-Fetch-Site only over TLS and to loopback hosts. If it is missing,
// the Origin header must match the Host header. This is only a fallback, because some
// proxies replace the value of the Host header.
func crossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return false
	case "":
		origin := r.Header.Get("Origin")
		from, err := url.Parse(origin)
		return origin != "" && (err != nil || from.Host == "" || !strings.EqualFold(from.Host, r.Host))
	}
	return r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate"
}
