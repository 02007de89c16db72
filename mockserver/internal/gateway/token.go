package gateway

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// Token is an access token and whose it is. Package mockserver documents its
// fields.
type Token struct {
	Token     string
	UserID    int64
	UserEmail string
	AccountID int64
	ReadOnly  bool
}

// Tokens fills in what is left out; usual is the secret text of a token that
// has none.
func Tokens(given []Token, usual string) []Token {
	if len(given) == 0 {
		given = []Token{{}}
	}
	out := make([]Token, len(given))
	for i, t := range given {
		if t.Token == "" {
			t.Token = usual
		}
		if t.UserID == 0 {
			t.UserID = 1
		}
		if t.UserEmail == "" {
			t.UserEmail = "user@example.com"
		}
		if t.AccountID == 0 {
			t.AccountID = 1
		}
		out[i] = t
	}
	return out
}

// Bearer returns the secret text of the access token that a request carries, or "".
func Bearer(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return secret
}

// TokenOf finds the access token with a secret text, in constant time for each.
func (g *Gateway) TokenOf(secret string) (Token, bool) {
	if secret == "" {
		return Token{}, false
	}
	for _, t := range g.options.Tokens {
		if subtle.ConstantTimeCompare([]byte(t.Token), []byte(secret)) == 1 {
			return t, true
		}
	}
	return Token{}, false
}
