package jsonscan

import "encoding/json"

// Raw reads any value as it is written.
func (c *Cursor) Raw() json.RawMessage {
	start := c.Offset()
	c.Skip()
	return json.RawMessage(c.Since(start))
}

// Pointer reads a value by read; null is nil.
func Pointer[T any](c *Cursor, read func(*Cursor) T) *T {
	if c.Null() {
		return nil
	}
	v := read(c)
	return &v
}

// Optional reads a value by read that may as well be absent: if the value, or
// one in it, is of another kind than wanted, that is no mistake, and the result
// is the zero value.
func Optional[T any](c *Cursor, read func(*Cursor) T) T {
	before := c.err
	if before != nil && before.Syntax {
		return read(c)
	}
	c.err = nil
	v := read(c)
	switch {
	case c.err == nil:
		c.err = before
	case !c.err.Syntax:
		c.err = before
		var zero T
		return zero
	}
	return v
}
