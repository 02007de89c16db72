package client

import (
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/internal/json/jsonscan"
)

// readAnyID reads an id that may be encoded as a string or a number. The number 42.0 is
// the id "42".
func readAnyID(c *jsonscan.Cursor) string {
	if b := c.Peek(); b != '-' && (b < '0' || b > '9') {
		return c.String()
	}
	ahead := *c
	text := strings.Clone(c.Number())
	if ahead.Tolerant = false; strings.ContainsAny(text, ".eE") {
		if n, ok := ahead.NullInt(); ok {
			return strconv.FormatInt(n, 10)
		}
	}
	return text
}

func readTime(c *jsonscan.Cursor) time.Time { return c.Time().UTC() }

// readItems reads an array. Null is an empty array, and any other value is an error.
func readItems[T any](c *jsonscan.Cursor, read func(*jsonscan.Cursor) T) []T {
	switch {
	case c.Peek() == '[':
		return jsonscan.Slice(c, read)
	case c.Null():
		return []T{}
	}
	c.Reject("an array")
	return nil
}
