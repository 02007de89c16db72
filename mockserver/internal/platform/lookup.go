package platform

import (
	"fmt"
	"time"
)

// LookupLimit says how the limit of one lookup a second per user and account
// is counted. A lookup that is refused does not count.
type LookupLimit int

// The ways of counting.
const (
	// LookupGap accepts a lookup one second or more after the last accepted one.
	LookupGap LookupLimit = iota
	// LookupBucket adds a token every second, up to two, and each lookup takes one.
	LookupBucket
	// LookupCalendar accepts one lookup in each second of the clock.
	LookupCalendar
)

// String returns gap, bucket or calendar.
func (l LookupLimit) String() string {
	switch l {
	case LookupBucket:
		return "bucket"
	case LookupCalendar:
		return "calendar"
	}
	return "gap"
}

// MarshalText implements [encoding.TextMarshaler].
func (l LookupLimit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] for gap, bucket and
// calendar.
func (l *LookupLimit) UnmarshalText(text []byte) error {
	for _, known := range []LookupLimit{LookupGap, LookupBucket, LookupCalendar} {
		if known.String() == string(text) {
			*l = known
			return nil
		}
	}
	return fmt.Errorf("mockserver: lookup limit: want gap, bucket or calendar, not %q", text)
}

type lookupState struct {
	last   time.Time // the last accepted one
	tokens float64   // left at last
}

// accept reports whether a lookup may be answered now.
func (s *lookupState) accept(limit LookupLimit, now time.Time) bool {
	if now.Before(s.last) { // the clock was set back since
		*s = lookupState{}
	}
	since := now.Sub(s.last)
	switch limit {
	case LookupBucket:
		tokens := min(2, s.tokens+since.Seconds())
		if tokens < 1 {
			return false
		}
		s.tokens = tokens - 1
	case LookupCalendar:
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
