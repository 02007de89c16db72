package control

import (
	"net/http"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/record"
)

// serveAsAccount answers as the API would answer a user of the account. What
// the console looks at is neither disturbed nor logged. A template is rendered
// as HTML, and is as hostile as a mail.
func (c *Control) serveAsAccount(w http.ResponseWriter, r *request) {
	caller, err := c.userOf(r)
	if err != nil {
		gateway.WriteError(w, r.Request, err)
		return
	}
	_, path, _ := strings.Cut(r.URL.EscapedPath(), "/api/")
	inner := r.Clone(r.Context())
	inner.URL.RawPath = "/" + path
	inner.URL.Path = "/" + r.PathValue("path")
	query := inner.URL.Query()
	if query.Has("user_id") {
		query.Del("user_id")
		inner.URL.RawQuery = query.Encode()
	}
	w.Header().Set("Content-Security-Policy", inertPolicy)
	c.API.ServeAs(w, inner, caller)
	if !reads(r.Request) {
		c.Changes.Publish(activity.Records, nil)
	}
}

// userOf finds the user that a path names, or the first one of the account who
// may write.
func (c *Control) userOf(r *request) (record.Token, error) {
	id := r.PathValue("account_id")
	account, _ := strconv.ParseInt(id, 10, 64)              // 0 is nobody's
	user, _ := strconv.ParseInt(r.query["user_id"], 10, 64) // 0 is anybody
	caller, ok := c.Access.Of(account, user)
	if !ok {
		return record.Token{}, problem.NotFound("user of account", id, "path", "account_id")
	}
	return caller, nil
}
