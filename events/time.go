package events

import (
	"time"

	"example.com/emailplatform/internal/json/jsonscan"
	"example.com/emailplatform/internal/json/jsonwrite"
)

// readUnixTime reads Unix seconds. Null and 0 are the zero time.
func readUnixTime(c *jsonscan.Cursor) time.Time {
	n := c.Int()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// unixSeconds is the inverse of readUnixTime.
func unixSeconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func writeUnixTime(w *jsonwrite.Writer, t time.Time) { w.Int(unixSeconds(t)) }

// writeNullUnixTime writes null for the zero time.
func writeNullUnixTime(w *jsonwrite.Writer, t time.Time) {
	if t.IsZero() {
		w.Null()
		return
	}
	w.Int(t.Unix())
}

// readTime reads an ISO 8601 date and time. Without an offset, the time is UTC. It
// rejects offsets of a day or more, because Go can parse but not write them.
func readTime(c *jsonscan.Cursor) time.Time {
	if c.Null() {
		return time.Time{}
	}
	if c.Peek() == '"' {
		ahead := *c
		text := ahead.String()
		for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05"} {
			t, err := time.Parse(layout, text)
			if _, offset := t.Zone(); err == nil && max(offset, -offset) < 24*60*60 {
				*c = ahead
				return t
			}
		}
	}
	c.Mismatch("a date and time as ISO 8601")
	return time.Time{}
}
