package jsonscan

import (
	"encoding/json"
	"slices"
)

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
		if len(s) == len(few) {
			s = slices.Grow(s, 7*len(few)) // a page of 100 at once
		}
		s = append(s, read(c))
	}
	if len(s) > len(few) && len(s) >= cap(s)/2 {
		return slices.Clip(s)
	}
	return append(make([]T, 0, len(s)), s...)
}
