package client

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// How long before its end a token is replaced: a tenth of its life, at most this.
const maxTokenMargin = time.Minute

// Token is an access token that may end. It prints and logs nothing of its value.
type Token struct {
	Value string `json:"-"` // what stands behind "Bearer " in the header Authorization

	// Expiry is when the platform stops accepting it; the zero Time is never.
	Expiry time.Time
}

// Format implements [fmt.Formatter]: no verb prints the value.
func (t Token) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, t.String()) }

// String returns when the token ends.
func (t Token) String() string {
	if t.Expiry.IsZero() {
		return "client.Token{}"
	}
	return "client.Token{Expiry: " + t.Expiry.Format(time.RFC3339) + "}"
}

// LogValue implements [slog.LogValuer].
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// FreshTokens returns a source for [Config.TokenSource] of tokens that end. The
// client calls fetch before the first request, again when a tenth of the token's
// life is left, at most a minute, and after a 401, for a platform may revoke a
// token early: so fetch must get a new token each time, and keep none.
//
//	cfg.TokenSource = client.FreshTokens(func(ctx context.Context) (client.Token, error) {
//		t, err := credentials.Token(ctx) // a *clientcredentials.Config of golang.org/x/oauth2
//		if err != nil {
//			return client.Token{}, err
//		}
//		return client.Token{Value: t.AccessToken, Expiry: t.Expiry}, nil
//	})
//
// All that [TokenSource] says holds: fetch is never called twice at a time, and
// calls that need the token wait for it together. If it fails while the token is
// still good, that is used on, and fetch is called again when half of what is left
// has passed, but not within a second; once the token has ended, calls fail with
// what fetch says. A token that has ended when it comes is used for the calls that
// waited for it, because this machine's clock may be wrong, and for no other.
//
// The client learns of the end through the context: a source that wraps this one
// must call it with the context that it got, or one that comes from it.
func FreshTokens(fetch func(ctx context.Context) (Token, error)) TokenSource {
	return func(ctx context.Context) (string, error) {
		t, err := fetch(ctx)
		if at, ok := ctx.Value(expiryKey{}).(*atomic.Pointer[time.Time]); ok && err == nil {
			at.Store(&t.Expiry)
		}
		return t.Value, err
	}
}

// expiryKey is the key of where a source leaves when its token ends.
type expiryKey struct{}

// life is when a token ends and when to ask for another. The zero life has no end.
type life struct{ refresh, expiry time.Time }

func newLife(now time.Time, expiry *time.Time) life {
	if expiry == nil || expiry.IsZero() {
		return life{}
	}
	return life{refresh: expiry.Add(-min(expiry.Sub(now)/10, maxTokenMargin)), expiry: *expiry}
}

// stale reports whether it is time to ask for another token.
func (l life) stale(now time.Time) bool {
	return !l.expiry.IsZero() && (!now.Before(l.refresh) || l.ended(now))
}

func (l life) ended(now time.Time) bool { return !l.expiry.IsZero() && !now.Before(l.expiry) }

// prolonged returns l with the next try to replace the token later.
func (l life) prolonged(now time.Time) life {
	if !l.expiry.IsZero() {
		l.refresh = now.Add(max(l.expiry.Sub(now)/2, time.Second))
	}
	return l
}
