package jsonscan

import (
	"encoding/json"
	"iter"
	"strings"
	"unsafe"
)

// Members is like Object, but skips a value of another type without an error.
func (c *Cursor) Members() iter.Seq[string] {
	if c.Peek() != '{' {
		c.Skip()
		return func(func(string) bool) {}
	}
	return c.Object()
}

// Raw reads any value and returns its JSON text.
func (c *Cursor) Raw() json.RawMessage {
	start := c.Offset()
	c.Skip()
	return json.RawMessage(c.Since(start))
}

// SkipFast is like Skip, but only for a cursor that looks ahead. It may skip an object without validation, so another
// cursor must validate the same value.
func (c *Cursor) SkipFast() {
	if n := flat(c.text[c.i:]); n > 0 {
		c.i += n
		return
	}
	c.Skip()
}

// flat returns the length of the object that s begins with, or 0 if it contains
// other objects or escapes.
func flat(s string) int {
	if !strings.HasPrefix(s, "{") {
		return 0
	}
	inside, _, ended := strings.Cut(s[1:], "}")
	if !ended || strings.Contains(inside, "{") || strings.Contains(inside, `\`) || strings.Count(inside, `"`)%2 != 0 {
		return 0
	}
	return len("{}") + len(inside)
}

// Scalar is like [Cursor.String], but returns the JSON text of a number, of true and of false.
func (c *Cursor) Scalar() string {
	switch c.Peek() {
	case '"', 'n', '[', '{':
		return c.String()
	}
	start := c.i
	c.Skip()
	return c.own(c.text[start:c.i])
}

// Text is [Cursor.String] for a string type T.
func Text[T ~string](c *Cursor) T { return T(c.String()) }

// Fold returns the known value that differs from text only in letter case, or text if there is
// none.
func Fold[T ~string](text T, known ...T) T {
	for _, value := range known {
		if strings.EqualFold(string(text), string(value)) {
			return value
		}
	}
	return text
}

// EmptyArray reports whether the next value is an array without elements. Some platforms write an empty object as an
// empty array.
func (c *Cursor) EmptyArray() bool {
	if c.Peek() != '[' {
		return false
	}
	ahead := *c
	ahead.i++
	return ahead.Peek() == ']'
}

// Pointer reads a value with read and returns a pointer to it. It returns nil for null and for an ignored value. It
// also returns nil for an empty array, which is a mismatch.
func Pointer[T any](c *Cursor, read func(*Cursor) T) *T {
	if c.Null() {
		return nil
	}
	if c.EmptyArray() {
		c.Mismatch("an object")
		return nil
	}
	start := c.Offset()
	v := read(c)
	if c.odd != nil && c.last == start {
		return nil
	}
	return &v
}

// Together, the elements of all slices may take at most free + growth*len(text) bytes of memory.
const (
	growth = 8
	free   = 256 << 10
)

// Slice reads an array and calls read for each element. It returns nil for null, and omits ignored
// elements. Slice fails if the cursor's slices would take far more memory than the text. Without this
// limit, a long text such as [{},{},{}] could exhaust the memory.
func Slice[T any](c *Cursor, read func(*Cursor) T) []T {
	if c.Null() {
		return nil
	}
	if c.Tolerant && c.Peek() != '[' {
		c.Mismatch("an array")
		return nil
	}
	var few [8]T // on the stack, so most slices are allocated once, with the right size
	n := 0
	var many []T // a slice of few here would move few to the heap
	for more := c.open('[', ']', "an array"); more; more = c.next(']') {
		start := c.i
		v := read(c)
		switch {
		case c.odd != nil && c.ignored(start):
			continue
		case n < len(few):
			few[n] = v
		case n == len(few):
			many = append(room[T](c, n), few[:]...)
			many = append(many, v)
		case n == cap(many):
			many = append(room[T](c, n), many...)
			many = append(many, v)
		default:
			many = append(many, v)
		}
		n++
	}
	switch {
	case many == nil:
		return append(elements[T](c, n), few[:n]...)
	case n < cap(many)/2:
		return append(elements[T](c, n), many...)
	default:
		return many[:n:n]
	}
}

// Named is like [Slice], but also reads an object whose fields are scalars, and calls pair for each
// field.
func Named[T any](c *Cursor, read func(*Cursor) T, pair func(name, value string) T) []T {
	if c.Peek() != '{' {
		return Slice(c, read)
	}
	ahead, n := *c, 0
	for range ahead.Object() {
		ahead.Skip()
		n++
	}
	pairs, places := elements[T](c, n), map[string]int{}
	for name := range c.Object() {
		start := c.i
		v := pair(c.own(name), c.Scalar())
		if at, again := places[name]; again {
			pairs[at] = v
		} else if c.odd == nil || !c.ignored(start) {
			places[name] = len(pairs)
			pairs = append(pairs, v)
		}
	}
	return pairs
}

// ignored reports whether the value at start was ignored. White space may precede the value.
func (c *Cursor) ignored(start int) bool {
	return c.last >= start && strings.TrimSpace(c.text[start:c.last]) == ""
}

// room returns an empty slice with capacity for the n elements before the current one, the current
// element and all following elements. It counts the following elements first, because a slice that
// grows takes several times the memory.
func room[T any](c *Cursor, n int) []T {
	const large, page = 64, 128
	if unsafe.Sizeof(*new(T)) >= large && n < page {
		return elements[T](c, page) // so a page of 100 large elements is read only once
	}
	n++
	for ahead := *c; ahead.next(']'); n++ {
		ahead.Skip()
	}
	return elements[T](c, n)
}

// elements returns an empty slice with capacity for n elements. If they exceed the limit, it fails.
func elements[T any](c *Cursor, n int) []T {
	c.taken += n * int(unsafe.Sizeof(*new(T)))
	if c.taken > free+growth*len(c.text) {
		c.fail(c.i, "an array of fewer or longer elements")
		return nil
	}
	return make([]T, 0, n)
}
