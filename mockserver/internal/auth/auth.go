// Package auth stores the access tokens of the platform.
package auth

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/model"
)

// Complete returns the tokens with defaults for their empty fields. The default for Value
// is defaultValue. If the list is empty, Complete returns one token.
func Complete(given []model.Token, defaultValue string) []model.Token {
	if len(given) == 0 {
		given = []model.Token{{}}
	}
	out := make([]model.Token, len(given))
	for i, t := range given {
		t.Value = cmp.Or(t.Value, defaultValue)
		t.UserID, t.AccountID = cmp.Or(t.UserID, 1), cmp.Or(t.AccountID, 1)
		t.UserEmail = cmp.Or(t.UserEmail, "user@example.com")
		out[i] = t
	}
	return out
}

// Errors from [Set.Find] do not contain the token.
var (
	errUnknown = errors.New("the access token is missing or unknown")
	errExpired = errors.New("the access token has expired")
)

// Set contains the configured tokens and the added tokens. [Set.Reset]
// restores the configured tokens. It is safe for concurrent use.
type Set struct {
	now        func() time.Time
	configured []model.Token

	mu    sync.RWMutex
	known []known
}

type known struct {
	model.Token
	added   bool
	expires time.Time // zero means never
}

// New returns a set with the configured tokens, which must be the result of
// [Complete].
func New(configured []model.Token, now func() time.Time) *Set {
	s := &Set{now: now, configured: configured}
	s.Reset(0)
	return s
}

// Reset restores the configured tokens of an account, and replaces its added tokens with
// the given tokens. The lifetime of each token starts again. Account 0 means all
// accounts.
func (s *Set) Reset(account int64, added ...model.Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	concerned := func(t model.Token) bool { return account == 0 || t.AccountID == account }
	s.known = slices.DeleteFunc(s.known, func(k known) bool { return concerned(k.Token) })
	for i, t := range slices.Concat(s.configured, added) {
		if concerned(t) {
			s.known = append(s.known, s.begin(t, i >= len(s.configured)))
		}
	}
}

func (s *Set) begin(t model.Token, added bool) known {
	k := known{Token: t, added: added}
	if t.ExpiresIn != 0 {
		k.expires = s.now().Add(t.ExpiresIn)
	}
	return k
}

// Find returns the token whose value equals secret. It compares each token in
// constant time.
func (s *Set) Find(secret string) (model.Token, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i := s.findLocked(secret)
	if i < 0 {
		return model.Token{}, errUnknown
	}
	if k := s.known[i]; s.validLocked(k) {
		return k.Token, nil
	}
	return model.Token{}, errExpired
}

func (s *Set) validLocked(k known) bool { return k.expires.IsZero() || s.now().Before(k.expires) }

func (s *Set) findLocked(secret string) int {
	return slices.IndexFunc(s.known, func(k known) bool {
		return secret != "" && subtle.ConstantTimeCompare([]byte(k.Value), []byte(secret)) == 1
	})
}

// Added returns the added tokens.
func (s *Set) Added() []model.Token { return s.tokens(func(k known) bool { return k.added }) }

// All returns all tokens, including expired tokens.
func (s *Set) All() []model.Token { return s.tokens(func(known) bool { return true }) }

func (s *Set) tokens(wanted func(known) bool) (out []model.Token) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, k := range s.known {
		if wanted(k) {
			out = append(out, k.Token)
		}
	}
	return out
}

// OfUser returns a token for an account. If user is not 0, OfUser considers only tokens of
// that user. Among several tokens, it prefers the first valid token with write access, then
// a valid token, and then an expired one.
func (s *Set) OfUser(account, user int64) (out model.Token, ok bool) {
	return s.best(func(t model.Token) bool { return t.AccountID == account && (user == 0 || t.UserID == user) })
}

// WithRights returns a token with the account, the user and the permissions of a request.
// It prefers a valid token.
func (s *Set) WithRights(r model.Request) (out model.Token, ok bool) {
	return s.best(func(t model.Token) bool {
		return t.AccountID == r.AccountID && t.UserID == r.UserID && t.ReadOnly == r.ReadOnly
	})
}

func (s *Set) best(wanted func(model.Token) bool) (out model.Token, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	most := -1
	for _, k := range s.known {
		rank := 0
		if s.validLocked(k) {
			rank += 2
		}
		if !k.ReadOnly {
			rank++
		}
		if wanted(k.Token) && rank > most {
			out, most = k.Token, rank
		}
	}
	return out, most >= 0
}

// HasAccount reports whether an account has a token, or would have a token
// after a reset.
func (s *Set) HasAccount(account int64) bool {
	of := func(t model.Token) bool { return t.AccountID == account }
	return slices.ContainsFunc(s.configured, of) || slices.ContainsFunc(s.All(), of)
}

// Add adds a complete token. It returns an error if the token is invalid.
func (s *Set) Add(t model.Token) error {
	switch {
	case strings.ContainsFunc(t.Value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return apierror.Invalid("must contain only visible ASCII characters", "body", "token")
	case t.UserID < 1:
		return apierror.Invalid("must be 1 or more", "body", "user_id")
	case t.AccountID < 1:
		return apierror.Invalid("must be 1 or more", "body", "account_id")
	case t.ExpiresIn < 0 || t.ExpiresIn > maxExpiry:
		return apierror.Invalid(fmt.Sprintf("must be between 0 and %d (10 years)", maxExpiry.Milliseconds()), "body", "expires_in_ms")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.findLocked(t.Value) >= 0 {
		return apierror.Invalid("must be unique", "body", "token")
	}
	s.known = append(s.known, s.begin(t, true))
	return nil
}

// maxExpiry is the maximum lifetime of a token that expires.
const maxExpiry = 10 * 365 * 24 * time.Hour

// Revoke removes the token whose value equals secret, and reports whether the
// token existed.
func (s *Set) Revoke(secret string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.findLocked(secret)
	if i >= 0 {
		s.known = slices.Delete(s.known, i, i+1)
	}
	return i >= 0
}
