package client

import (
	"fmt"
	"log/slog"
	"time"
)

// maxTokenMargin limits how early the client replaces a token. The client
// replaces a token when a tenth of its lifetime remains, but at most
// maxTokenMargin before the expiry.
const maxTokenMargin = time.Minute

// Token is an access token. A printed, logged or encoded Token does not contain
// its value. However, if a Token is in an unexported field, package fmt prints
// the token's value.
type Token struct {
	Value string `json:"-"` // follows "Bearer " in the Authorization header

	// Expiry is the time at which the platform stops accepting the token. The
	// zero Time means that the expiry is unknown, so the client uses the token
	// until the platform responds with 401.
	Expiry time.Time
}

// Format implements [fmt.Formatter]. Only the verb %p prints the token's value,
// because package fmt does not call Format for %p. The tool go vet rejects %p.
func (t Token) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, t.String()) }

// String returns the expiry.
func (t Token) String() string {
	if t.Expiry.IsZero() {
		return "client.Token{}"
	}
	return "client.Token{Expiry: " + t.Expiry.Format(time.RFC3339) + "}"
}

// MarshalText implements [encoding.TextMarshaler] for encoders such as
// encoding/json and encoding/xml. MarshalText returns the same text as String.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalBinary implements [encoding.BinaryMarshaler] for encoders such as
// encoding/gob. MarshalBinary returns the same text as String.
func (t Token) MarshalBinary() ([]byte, error) { return []byte(t.String()), nil }

// LogValue implements [slog.LogValuer].
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// life contains the times at which a token expires and must be replaced. The
// zero value means that the token does not expire.
type life struct{ refresh, expiry time.Time }

func newLife(now, expiry time.Time) life {
	if expiry.IsZero() {
		return life{}
	}
	return life{refresh: expiry.Add(-min(expiry.Sub(now)/10, maxTokenMargin)), expiry: expiry}
}

// stale reports whether the token must be replaced.
func (l life) stale(now time.Time) bool {
	return !l.expiry.IsZero() && (!now.Before(l.refresh) || l.ended(now))
}

func (l life) ended(now time.Time) bool { return !l.expiry.IsZero() && !now.Before(l.expiry) }

// prolonged returns l with a later refresh time.
func (l life) prolonged(now time.Time) life {
	if !l.expiry.IsZero() {
		l.refresh = now.Add(max(l.expiry.Sub(now)/2, time.Second))
	}
	return l
}
