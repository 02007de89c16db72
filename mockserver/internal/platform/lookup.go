package platform

import (
	"fmt"
	"time"
)

// LookupLimit is an algorithm for the lookup rate limit, which allows one
// lookup per second for each user and account. Rejected lookups do not count
// toward the limit.
type LookupLimit int

// The algorithms for the lookup rate limit.
const (
	// LookupMinInterval accepts a lookup if the last accepted lookup was at least one
	// second ago.
	LookupMinInterval LookupLimit = iota
	// LookupTokenBucket adds a token every second, up to two tokens, and each lookup
	// removes a token.
	LookupTokenBucket
	// LookupFixedWindow accepts one lookup in each second of the clock.
	LookupFixedWindow
)

// String returns min_interval, token_bucket or fixed_window.
func (l LookupLimit) String() string {
	switch l {
	case LookupTokenBucket:
		return "token_bucket"
	case LookupFixedWindow:
		return "fixed_window"
	}
	return "min_interval"
}

// MarshalText implements [encoding.TextMarshaler].
func (l LookupLimit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. The valid values are
// min_interval, token_bucket and fixed_window.
func (l *LookupLimit) UnmarshalText(text []byte) error {
	for _, known := range []LookupLimit{LookupMinInterval, LookupTokenBucket, LookupFixedWindow} {
		if known.String() == string(text) {
			*l = known
			return nil
		}
	}
	return fmt.Errorf("mockserver: lookup limit: must be min_interval, token_bucket or fixed_window, got %q", text)
}

type lookupState struct {
	last   time.Time // time of the last accepted lookup
	tokens float64   // number of tokens at that time
}

// accept reports whether a lookup is allowed now, and counts an allowed lookup.
func (s *lookupState) accept(limit LookupLimit, now time.Time) bool {
	if now.Before(s.last) { // the clock was set back
		*s = lookupState{}
	}
	since := now.Sub(s.last)
	switch limit {
	case LookupTokenBucket:
		tokens := min(2, s.tokens+since.Seconds())
		if tokens < 1 {
			return false
		}
		s.tokens = tokens - 1
	case LookupFixedWindow:
		if now.Unix() == s.last.Unix() {
			return false
		}
	default:
		if since < time.Second {
			return false
		}
	}
	s.last = now
	return true
}
