package auth

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/model"
)

func TestFind(t *testing.T) {
	given := []model.Token{{}, {Value: "reader", UserID: 2, UserEmail: "r@example.com", AccountID: 3, ReadOnly: true}}
	s := New(Complete(given, "usual"), time.Now)
	for secret, want := range map[string]model.Token{
		"usual":  {Value: "usual", UserID: 1, UserEmail: "user@example.com", AccountID: 1},
		"reader": given[1],
	} {
		if got, err := s.Find(secret); err != nil || got != want {
			t.Errorf("Find(%s) returned %+v, %v; want %+v", secret, got, err, want)
		}
	}
	for _, secret := range []string{"", "usua", "usual ", "Usual"} {
		if got, err := s.Find(secret); !errors.Is(err, errUnknown) {
			t.Errorf("Find(%q) returned %+v, %v; want %v", secret, got, err, errUnknown)
		}
	}
	if given[0] != (model.Token{}) {
		t.Error("Complete changed its argument")
	}
	if got := Complete(nil, "usual"); len(got) != 1 || got[0].Value != "usual" {
		t.Errorf("Complete(nil) returned %+v", got)
	}
}

// A token is valid until it expires, and a reset restarts its lifetime. A token with a negative lifetime has
// already expired.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New([]model.Token{{Value: "an hour", AccountID: 1, ExpiresIn: time.Hour}, {Value: "forever", AccountID: 1, ReadOnly: true}, {Value: "old", ExpiresIn: -1}}, time.Now)
		good := func() bool {
			_, err := s.Find("an hour")
			if err != nil && !errors.Is(err, errExpired) {
				t.Errorf("got %v, want %v", err, errExpired)
			}
			return err == nil
		}
		time.Sleep(time.Hour - 1)
		if !good() {
			t.Error("the token expired too early")
		}
		time.Sleep(time.Nanosecond)
		if good() {
			t.Error("the token is valid after its lifetime")
		}
		if n := len(s.All()); n != 3 {
			t.Errorf("got %d tokens, want 3, including the expired ones", n)
		}
		if of, ok := s.OfUser(1, 0); !ok || of.Value != "forever" {
			t.Errorf("OfUser returned %+v, want the token that has not expired", of)
		}
		if _, err := s.Find("old"); !errors.Is(err, errExpired) {
			t.Errorf("got %v, want %v", err, errExpired)
		}
		s.Reset(0)
		time.Sleep(time.Hour - 1)
		if !good() {
			t.Error("a reset did not restart the lifetime")
		}
		time.Sleep(1000 * time.Hour)
		if _, err := s.Find("forever"); err != nil {
			t.Error(err)
		}
	})
}

func TestAddAndRevoke(t *testing.T) {
	s := New(Complete(nil, "usual"), time.Now)
	added := model.Token{Value: "added", UserID: 7, AccountID: 2}
	require.NoError(t, s.Add(added))
	if got, err := s.Find("added"); err != nil || got != added {
		t.Errorf("got %+v, %v; want %+v", got, err, added)
	}
	for _, secret := range []string{"usual", "added"} {
		if !s.Revoke(secret) {
			t.Errorf("%s: Revoke did not find the token", secret)
		}
		if _, err := s.Find(secret); !errors.Is(err, errUnknown) {
			t.Errorf("%s: got %v after it was revoked", secret, err)
		}
		if s.Revoke(secret) {
			t.Errorf("%s: Revoke found a revoked token", secret)
		}
	}
	s.Reset(0)
	if all := s.All(); len(all) != 1 || all[0].Value != "usual" {
		t.Errorf("after a reset there are %d tokens, want only the configured token", len(all))
	}
}

func TestAddInvalid(t *testing.T) {
	tests := []struct {
		name, want string
		token      model.Token
	}{
		{name: "known", token: model.Token{Value: "usual", UserID: 1, AccountID: 1}, want: "token: must be unique"},
		{name: "with a space", token: model.Token{Value: "a b", UserID: 1}, want: "token: must contain only visible ASCII"},
		{name: "with a line", token: model.Token{Value: "a\n", UserID: 1}, want: "token: must contain only visible ASCII"},
		{name: "not ASCII", token: model.Token{Value: "ä", UserID: 1}, want: "token: must contain only visible ASCII"},
		{name: "a user below 1", token: model.Token{Value: "a", UserID: -1}, want: "user_id: must be 1 or more"},
		{name: "an account below 1", token: model.Token{Value: "a", UserID: 1, AccountID: -1}, want: "account_id: must be 1 or more"},
		{name: "a time below 0", token: model.Token{Value: "a", UserID: 1, AccountID: 1, ExpiresIn: -1}, want: "expires_in_ms"},
		{name: "too long", token: model.Token{Value: "a", UserID: 1, AccountID: 1, ExpiresIn: maxExpiry + 1}, want: "expires_in_ms"},
	}
	for _, tt := range tests {
		s := New(Complete(nil, "usual"), time.Now)
		err := s.Add(tt.token)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "usual") {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
		assert.Len(t, s.All(), 1, "%s: the token was added", tt.name)
	}
}
