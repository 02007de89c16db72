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

// Slice reads an array, each element by read; null is nil.
func Slice[T any](c *Cursor, read func(*Cursor) T) []T {
	if c.Null() {
		return nil
	}
	var few [16]T // so that most slices are allocated once, in their size
	s := few[:0]
	for range c.Array() {
		s = append(s, read(c))
	}
	return append(make([]T, 0, len(s)), s...)
}
