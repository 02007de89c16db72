package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/mockserver"
)

// The credentials that the token endpoint knows.
const (
	clientID     = "shop"
	clientSecret = "demo-only"
)

// endpoint issues tokens for the mock server, like an authorization server with
// the client credentials grant. (RFC 6749, section 4.4.)
type endpoint struct {
	platform *mockserver.Server
	life     time.Duration // of a token

	mu     sync.Mutex
	issued []string
}

// ServeHTTP implements http.Handler.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if id != clientID || secret != clientSecret || r.FormValue("grant_type") != "client_credentials" {
		http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
		return
	}
	token, err := e.issue()
	if err != nil {
		http.Error(w, `{"error":"server_error"}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // who asked may have gone
		"access_token": token, "token_type": "Bearer", "expires_in": int(e.life.Seconds()),
	})
}

// issue makes a token that the platform knows until it ends.
func (e *endpoint) issue() (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	token := fmt.Sprintf("token-%d", len(e.issued)+1)
	seed := fmt.Sprintf(`{"tokens": [{"token": %q, "expires_in_ms": %d}]}`, token, e.life.Milliseconds())
	if err := e.platform.Seed(strings.NewReader(seed)); err != nil {
		return "", err
	}
	e.issued = append(e.issued, token)
	return token, nil
}

// count returns how many tokens there were so far.
func (e *endpoint) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.issued)
}

// revoke ends the last token early.
func (e *endpoint) revoke() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.platform.RevokeToken(e.issued[len(e.issued)-1])
}
