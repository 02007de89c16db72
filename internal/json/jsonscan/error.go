package jsonscan

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
)

// Error is the first error in a text.
type Error struct {
	Offset int    // in bytes from the start of the text
	Path   string // path of the value, such as data.tags[1]; empty for the whole text
	Want   string // the required value, with its article, such as "a string"
	Syntax bool   // the text is not JSON; otherwise a value has the wrong type

	next    *Error // the next mismatch
	Ignored bool   // the value became the zero value, and the other values are correct
}

// Error implements error. Its text contains field names, but no values.
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("json: expected %s at offset %d", e.Want, e.Offset)
	}
	return fmt.Sprintf("json: %s: expected %s at offset %d", e.Path, e.Want, e.Offset)
}

// Err returns the first error so far, or nil if there is none. A syntax error takes precedence over an earlier
// mismatch.
func (c *Cursor) Err() *Error {
	first := cmp.Or(c.err, c.odd)
	if first == nil {
		return nil
	}
	return c.located(first)
}

// maxMismatches is the maximum number of mismatches that a cursor keeps, because a text can contain one in every
// second byte.
const maxMismatches = 10

// Errs returns the first mismatches so far, at most ten, or only the syntax error if there is one.
func (c *Cursor) Errs() (all []*Error) {
	for err := c.err; err != nil; err = err.next {
		all = append(all, c.located(err))
	}
	return all
}

// Mismatches returns the number of errors so far, including errors that Errs does not return.
func (c *Cursor) Mismatches() uint32 { return c.mismatches }

// located returns a copy of err with its path.
func (c *Cursor) located(err *Error) *Error {
	return &Error{Offset: err.Offset, Path: path(c.text, err.Offset), Want: err.Want, Syntax: err.Syntax, Ignored: err.Ignored}
}

// End returns the first error, or nil if there is none. It treats text after the value as an error.
func (c *Cursor) End() *Error {
	if c.Peek(); c.i < len(c.text) {
		c.fail(c.i, "the end of the text")
	}
	return c.Err()
}

// Mismatch skips the next value, and records that a different value is required,
// such as "a string".
func (c *Cursor) Mismatch(want string) {
	start := c.Offset()
	c.Skip()
	c.mismatch(start, want)
}

func (c *Cursor) mismatch(offset int, want string) {
	if !c.Tolerant {
		c.report(offset, want, false)
		return
	}
	c.last = offset
	if c.odd == nil {
		c.odd = &Error{Offset: offset, Want: want, Ignored: true}
	}
}

// Reject is like Mismatch, but records an error even if the cursor is tolerant.
func (c *Cursor) Reject(want string) {
	start := c.Offset()
	c.Skip()
	c.report(start, want, false)
}

// Missing records that the object at offset lacks a field.
func (c *Cursor) Missing(offset int, member string) {
	c.report(offset, "an object with the field "+strconv.Quote(member), false)
}

// Isolate reads a value with read and returns the first mismatches in it, at most ten, without recording them in
// the cursor.
func (c *Cursor) Isolate(read func(*Cursor)) []*Error {
	before := c.err
	c.err = nil
	read(c)
	mismatches := c.Errs()
	if c.err == nil || !c.err.Syntax || before != nil && before.Syntax {
		c.err = before
	}
	return mismatches
}

// fail records that the text is not JSON, and moves the cursor to the end.
//
//go:noinline
func (c *Cursor) fail(offset int, want string) {
	c.report(offset, want, true)
	c.i = len(c.text) // so no further value is read
}

// report keeps the first mismatches. A later syntax error replaces all of them.
func (c *Cursor) report(offset int, want string, syntax bool) {
	c.mismatches++
	if syntax && (c.err == nil || !c.err.Syntax) {
		c.err = &Error{Offset: offset, Want: want, Syntax: true}
	}
	last := &c.err
	for n := 0; *last != nil; n++ {
		if (*last).Syntax || n == maxMismatches-1 {
			return
		}
		last = &(*last).next
	}
	*last = &Error{Offset: offset, Want: want}
}

const (
	maxPath = 200 // length in bytes after which a path ends in an ellipsis
	maxName = 40  // maximum length of a name in a path
)

// path returns the path of the value at offset. It parses text again, so that cursors need not record paths.
func path(text string, offset int) string {
	way, _ := New(text).locate(offset, nil)
	return string(way)
}

// locate reads the next value, whose path is way. If the offset or the first syntax
// error is in that value, locate returns the path of the innermost value that contains
// it.
func (c *Cursor) locate(offset int, way []byte) (_ []byte, found bool) {
	if c.Offset() == offset {
		return way, true
	}
	switch c.Peek() {
	case '{':
		for name := range c.Object() {
			if inner, found := c.locate(offset, appendName(way, name)); found {
				return inner, true
			}
		}
	case '[':
		i := 0
		for range c.Array() {
			if inner, found := c.locate(offset, appendIndex(way, i)); found {
				return inner, true
			}
			i++
		}
	default:
		c.Skip()
	}
	return way, c.err != nil || c.i > offset
}

func appendName(way []byte, name string) []byte {
	if len(way) > maxPath {
		return ellipsis(way)
	}
	if !simple(name) {
		return fmt.Appendf(way, "[%.*q]", maxName, name)
	}
	if len(way) > 0 {
		way = append(way, '.')
	}
	return append(way, name...)
}

func appendIndex(way []byte, i int) []byte {
	if len(way) > maxPath {
		return ellipsis(way)
	}
	return append(strconv.AppendInt(append(way, '['), int64(i), 10), ']')
}

func ellipsis(way []byte) []byte {
	const mark = "…"
	return append(bytes.TrimSuffix(way, []byte(mark)), mark...)
}

// simple reports whether name needs no quotes in a path.
func simple(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for _, b := range []byte(name) {
		if b != '_' && b != '-' && (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'z') {
			return false
		}
	}
	return true
}
