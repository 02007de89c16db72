package client

import "example.com/emailplatform/internal/json/jsonscan"

// Readers for values of the second response format. The overlay of the
// generator specifies where they are used.

// readOne reads one string instead of a list.
func readOne(c *jsonscan.Cursor) []string {
	if s := c.String(); s != "" {
		return []string{s}
	}
	return nil
}

// readTimes reads a count. true counts as 1.
func readTimes(c *jsonscan.Cursor) int64 {
	if b := c.Peek(); b != 't' && b != 'f' {
		return c.Int()
	}
	if c.Bool() {
		return 1
	}
	return 0
}

func readHardBounce(c *jsonscan.Cursor) *EmailBounce { return readBouncedAs(c, "hard") }

func readSoftBounce(c *jsonscan.Cursor) *EmailBounce { return readBouncedAs(c, "soft") }

// readBouncedAs reads whether an email bounced in this way.
func readBouncedAs(c *jsonscan.Cursor, kind string) *EmailBounce {
	if !c.Bool() {
		return nil
	}
	return &EmailBounce{Type: kind}
}
