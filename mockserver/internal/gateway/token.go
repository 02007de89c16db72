package gateway

import (
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/problem"
)

// Bearer returns the secret text of the access token that a request carries, or "".
func Bearer(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return secret
}

// Unauthorized answers whom the access tokens do not know.
func Unauthorized(err error) *problem.Error {
	return problem.New(http.StatusUnauthorized, "unauthorized", err.Error(), "header", "authorization")
}
