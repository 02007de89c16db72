package mockserver

import (
	"errors"
	"net/http"
)

// RevokeToken revokes an access token, so requests with this token fail with
// 401. RevokeToken returns an error if the token does not exist. The error does
// not contain the token.
func (s *Server) RevokeToken(token string) error {
	if !s.engine.Auth.Revoke(token) {
		return prefixed("revoke the token", errors.New("the token does not exist"))
	}
	return nil
}

// SetTarget sets or replaces the handler for deliveries to a host; see
// [Config].Targets. If handler is nil, deliveries to the host use the network.
// Attempts in progress continue with the previous handler.
func (s *Server) SetTarget(host string, handler http.Handler) {
	s.engine.Deliveries.SetTarget(host, handler)
}

// SetLookupLimit sets the algorithm for the lookup rate limit.
func (s *Server) SetLookupLimit(limit LookupLimit) { s.engine.Platform.SetLookupLimit(limit) }
