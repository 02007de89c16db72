package client

import (
	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/json/jsonscan"
)

// The functions in this file read values in the second response format.
// client.overlay.yaml specifies the fields.

func readOne(c *jsonscan.Cursor) []events.Name {
	if name := jsonscan.Text[events.Name](c); name != "" {
		return []events.Name{name}
	}
	return nil
}

// readTimes reads a count. The value true means 1.
func readTimes(c *jsonscan.Cursor) int64 {
	if b := c.Peek(); b != 't' && b != 'f' {
		return c.Int()
	}
	if c.Bool() {
		return 1
	}
	return 0
}

func readHardBounce(c *jsonscan.Cursor) *EmailBounce { return readBouncedAs(c, events.BounceTypeHard) }

func readSoftBounce(c *jsonscan.Cursor) *EmailBounce { return readBouncedAs(c, events.BounceTypeSoft) }

// readBouncedAs reads a boolean, and returns a bounce of the given type if the
// value is true.
func readBouncedAs(c *jsonscan.Cursor, kind events.BounceType) *EmailBounce {
	if !c.Bool() {
		return nil
	}
	return &EmailBounce{Type: kind}
}
