package control

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/changes"
)

// serveAsAccount processes an API request as a user of the account. It treats the HTML
// of a rendered template as untrusted.
func (c *Control) serveAsAccount(w http.ResponseWriter, r *request) (err error) {
	id := r.PathValue("account_id")
	number, _ := strconv.ParseInt(id, 10, 64) // no account has the id 0
	caller, ok := c.Auth.OfUser(number, r.query.id("user_id"))
	if !ok {
		return apierror.NotFound("user of account", id, "path", "account_id")
	}
	inner := r.Clone(r.Context())
	if inner.URL, err = apiURL(r.URL); err != nil {
		return apierror.Invalid(err.Error(), "path", "path")
	}
	if query := inner.URL.Query(); query.Has("user_id") {
		query.Del("user_id")
		inner.URL.RawQuery = query.Encode()
	}
	w.Header().Set("Content-Security-Policy", inertPolicy)
	c.Gateway.ServeAs(w, inner, caller)
	if !reads(r.Request) {
		c.Changes.Publish(changes.Records, nil)
	}
	return nil
}

// apiURL returns the part of the URL after /api. Some clients treat everything after
// /api/ as one path parameter, so they escape its slashes and escape other characters
// twice. apiURL reverses this.
func apiURL(u *url.URL) (*url.URL, error) {
	_, path, _ := strings.Cut(u.EscapedPath(), "/api/")
	if !strings.Contains(path, "/") {
		path, _ = url.PathUnescape(path) // net/http has already parsed the path
	}
	out := *u
	out.RawPath = "/" + path
	var err error
	out.Path, err = url.PathUnescape(out.RawPath)
	return &out, err
}
