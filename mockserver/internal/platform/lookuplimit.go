package platform

import (
	"cmp"
	"fmt"
	"time"
)

// LookupLimit is an algorithm for the lookup rate limit, which allows one lookup per second for each pair of
// user and account. A lookup that is rejected does not count toward the limit.
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
	// LookupUnlimited accepts all lookups.
	LookupUnlimited
)

func lookupNames() map[LookupLimit]string {
	return map[LookupLimit]string{
		LookupMinInterval: "min_interval", LookupTokenBucket: "token_bucket", LookupFixedWindow: "fixed_window", LookupUnlimited: "unlimited",
	}
}

// LookupLimits returns the names of the algorithms.
func LookupLimits() (names []string) {
	for l := LookupMinInterval; lookupNames()[l] != ""; l++ {
		names = append(names, lookupNames()[l])
	}
	return names
}

// String returns min_interval, token_bucket, fixed_window or unlimited.
func (l LookupLimit) String() string { return cmp.Or(lookupNames()[l], "min_interval") }

// MarshalText implements [encoding.TextMarshaler].
func (l LookupLimit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. The valid values are
// min_interval, token_bucket, fixed_window and unlimited.
func (l *LookupLimit) UnmarshalText(text []byte) error {
	for limit, name := range lookupNames() {
		if name == string(text) {
			*l = limit
			return nil
		}
	}
	return fmt.Errorf("lookup limit must be min_interval, token_bucket, fixed_window or unlimited, got %q", text)
}

type lookupState struct {
	last   time.Time // time of the last accepted lookup
	tokens float64   // number of tokens at that time
}

func (a *account) lookupState(userID int64) *lookupState {
	state := a.lookups[userID]
	if state == nil {
		state = &lookupState{}
		a.lookups[userID] = state
	}
	return state
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
	case LookupUnlimited:
	default:
		if since < time.Second {
			return false
		}
	}
	s.last = now
	return true
}
