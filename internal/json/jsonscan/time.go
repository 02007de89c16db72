package jsonscan

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// These are the first and the last Unix time of the years 0 to 9999. Package time cannot encode other years as JSON.
const minUnix, maxUnix = -62_167_219_200, 253_402_300_799

// Time reads a time in Unix seconds or as ISO 8601. Seconds can be a string and have a fraction. A number that is too
// large for seconds is read as milliseconds. ISO 8601 can be in the extended or basic format, or have a space instead
// of T. Without an offset, the time is UTC.
//
// For null and 0, Time returns the zero time. Years from 0 to 9999 and offsets of less than a day are valid. Other
// years and offsets are mismatches, because package time cannot encode them as JSON.
func (c *Cursor) Time() time.Time {
	if n, length := c.shortInt(); length > 0 && n <= maxUnix {
		c.i += length
		return unixTime(n, 0)
	}
	return c.anyTime()
}

// anyTime is Time without the fast path.
func (c *Cursor) anyTime() time.Time {
	const want = "a time in Unix seconds or as ISO 8601"
	start := c.Offset()
	var text string
	switch b := c.Peek(); {
	case b == 'n':
		c.Null()
		return time.Time{}
	case b == '"':
		text = c.quoted()
	case b == '-', '0' <= b && b <= '9':
		text = c.number()
	default:
		c.Mismatch(want)
		return time.Time{}
	}
	t, ok := parseISO(text)
	if !ok {
		t, ok = parseUnix(text)
	}
	if !ok {
		c.mismatch(start, want)
	}
	return t
}

func unixTime(seconds, nanoseconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, nanoseconds).UTC()
}

// parseUnix parses a JSON number of seconds or milliseconds. The result is exact to the microsecond.
func parseUnix(text string) (time.Time, bool) {
	if text == "" || numberLen(text) != len(text) {
		return time.Time{}, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if f > maxUnix {
		f /= 1000
	}
	if err != nil || f < minUnix || f > maxUnix {
		return time.Time{}, false
	}
	seconds, fraction := math.Modf(f)
	return unixTime(int64(seconds), int64(math.Round(fraction*1e6))*1000), true
}

// parseISO parses a date and time. Each form can have a fraction of a second.
func parseISO(text string) (time.Time, bool) {
	const longest = 40 // bytes, with a fraction and an offset
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return encodable(t)
	}
	if len(text) < len("2006-01-02") || len(text) > longest {
		return time.Time{}, false
	}
	text = strings.ToUpper(strings.Replace(text, " ", "T", 1))
	for _, layout := range [...]string{"2006-01-02T15:04:05", "20060102T150405", "2006-01-02T15:04", "2006-01-02"} {
		for _, zone := range [...]string{"", "Z07:00", "Z0700", "Z07"} {
			if t, err := time.Parse(layout+zone, text); err == nil {
				return encodable(t)
			}
		}
	}
	return time.Time{}, false
}

// encodable reports whether package time can encode t as JSON, in its time zone and in UTC.
func encodable(t time.Time) (time.Time, bool) {
	const day = 24 * 60 * 60
	if _, offset := t.Zone(); max(offset, -offset) >= day || t.Unix() < minUnix || t.Unix() > maxUnix {
		return time.Time{}, false
	}
	return t, true
}
