package client

import (
	"strings"
	"time"

	"example.com/emailplatform/internal/json/jsonscan"
)

// readAnyID reads an id that the platform may write as a string or as a number.
func readAnyID(c *jsonscan.Cursor) string {
	if b := c.Peek(); b == '-' || '0' <= b && b <= '9' {
		return strings.Clone(c.Number())
	}
	return c.String()
}

// readTime reads Unix seconds. Null and 0 are the zero time.
func readTime(c *jsonscan.Cursor) time.Time {
	n := c.Int()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}
