package platform

import "fmt"

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
