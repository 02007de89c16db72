package jsonscan

import "unsafe"

// The memory limit for the elements of all slices is free bytes, plus growth times
// the length of the text.
const (
	growth = 8
	free   = 256 << 10
)

// Slice reads an array and calls read for each element. It returns nil for null. It
// fails if the cursor's slices take far more memory than the text, which can happen
// for a text such as [{},{},{}].
func Slice[T any](c *Cursor, read func(*Cursor) T) []T {
	if c.Null() {
		return nil
	}
	var few [8]T // on the stack, so most slices are allocated once, with the right size
	n := 0
	var many []T // a slice of few here would move few to the heap
	for more := c.open('[', ']', "an array"); more; more = c.next(']') {
		v := read(c)
		switch {
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

// room returns an empty slice with capacity for the n elements before the current one,
// the current element and all following elements. It counts the following elements
// first, because a growing slice takes several times the memory.
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

// elements returns an empty slice with capacity for n elements. It fails if they exceed
// the limit.
func elements[T any](c *Cursor, n int) []T {
	c.taken += n * int(unsafe.Sizeof(*new(T)))
	if c.taken > free+growth*len(c.text) {
		c.fail(c.i, "an array of fewer or longer elements")
		return nil
	}
	return make([]T, 0, n)
}
