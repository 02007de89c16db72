package jsonscan

import (
	"encoding/json"
	"iter"
	"strings"
)

// Members is Object, but a value of another kind is skipped, and no mistake.
func (c *Cursor) Members() iter.Seq[string] {
	if c.Peek() != '{' {
		c.Skip()
		return func(func(string) bool) {}
	}
	return c.Object()
}

// Envelope is Object, but for the object that is the whole text: if it has a
// member of the given name that is an object, then the names in that object are
// yielded in its place. They come last, and without those whose value is null,
// so that they win over members beside it.
func (c *Cursor) Envelope(member string) iter.Seq[string] {
	return func(yield func(string) bool) { c.envelope(member, yield) }
}

func (c *Cursor) envelope(member string, yield func(string) bool) {
	if c.depth > 0 {
		c.Object()(yield)
		return
	}
	inner := -1
	for name := range c.Object() {
		if name == member && c.Peek() == '{' {
			inner = c.i
			c.Skip()
		} else if !yield(name) {
			return
		}
	}
	if inner == -1 || c.err != nil && c.err.Syntax {
		return
	}
	end := c.i
	c.i = inner
	for name := range c.Object() {
		if !c.Null() && !yield(name) {
			return
		}
	}
	c.i = end
}

// Raw reads any value as it is written.
func (c *Cursor) Raw() json.RawMessage {
	start := c.Offset()
	c.Skip()
	return json.RawMessage(c.Since(start))
}

// Leap is Skip for a cursor that looks ahead of one which reads the same value: of
// an object it may look for the end alone.
func (c *Cursor) Leap() {
	if n := flat(c.text[c.i:]); n > 0 {
		c.i += n
		return
	}
	c.Skip()
}

// flat returns the length of the object that s begins with if there are no others
// in it and no escapes, or 0.
func flat(s string) int {
	if !strings.HasPrefix(s, "{") {
		return 0
	}
	inside, _, ended := strings.Cut(s[1:], "}")
	if !ended || strings.Contains(inside, "{") || strings.Contains(inside, `\`) || strings.Count(inside, `"`)%2 > 0 {
		return 0
	}
	return len("{}") + len(inside)
}

// Text reads a string of type T, with the rules of [Cursor.String].
func Text[T ~string](c *Cursor) T { return T(c.String()) }

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
