// Package jsonscan reads JSON (RFC 8259) in one pass and without reflection.
//
// A [Cursor] is positioned at the beginning of a value. Each method reads a value of one type
// and moves the cursor past it. For every type, null becomes the zero value. A caller need not
// check for errors between reads, because [Cursor.Err] returns the first error. There are two
// kinds of errors:
//
//   - A value of another type, or a number out of range, becomes the zero value,
//     and the cursor moves past it. See [Cursor.Mismatch].
//   - After text that is not JSON, all further reads return zero values.
//
// # Why not encoding/json
//
// There are three reasons:
//
//   - Time. Decoding a page of contacts with encoding/json takes about 4 times as long, and
//     decoding events about 8 times (docs/performance.md).
//   - Errors. If a field has the wrong type, for example a number instead of a string,
//     package events reports the path of the field. It reports up to ten such fields,
//     whereas encoding/json reports only the first.
//   - Several forms of a value. The client and package events accept, for example, an id
//     that is text or a number. With encoding/json, each such value would need a type with
//     an UnmarshalJSON method.
//
// # Readers and writers of JSON
//
// Three packages read JSON in this repository:
//
//   - jsonscan reads responses in package client, and deliveries in package events.
//   - mockserver/internal/contract validates the requests to the mock server, and returns
//     the location of each error.
//   - encoding/json decodes these requests after the validation. The mock server does not
//     use jsonscan for them, because then client and mock server would share its bugs, and
//     tests could not detect them.
//
// Tests compare jsonscan with encoding/json.
//
// Package jsonscan writes no JSON. Package jsonwrite writes the client's requests and the
// events, and encoding/json writes the responses of the mock server.
//
// # What it accepts
//
// A text is JSON if [encoding/json.Valid] accepts it, except that a byte order mark is
// ignored. As in encoding/json, invalid UTF-8 becomes U+FFFD, and if several fields have the
// same name, the last one counts. Unlike in encoding/json, field names are case-sensitive, and
// an object in a repeated field replaces the earlier one instead of being merged into it.
//
// # Memory
//
// Strings are parts of the text and keep it in memory. For values that outlive the text, use
// [Cursor.Clone], which makes them copies.
//
// An empty element takes two bytes of text, but its Go value may take hundreds of bytes.
// Therefore [Slice] fails if elements take more than 256 KiB plus eight times the size of the
// text.
package jsonscan

import (
	"iter"
	"math"
	"strconv"
	"strings"
	"unsafe"
)

const maxDepth = 10000 // of open arrays and objects, as in encoding/json

// A Cursor is a position in a JSON text. To look ahead, read from a copy of it.
type Cursor struct {
	// If Clone is set, strings are copies of the text instead of parts of it.
	Clone bool

	// If QuotedInts is set, Int accepts a string that contains an integer.
	QuotedInts bool

	// If Tolerant is set, reading continues after a value of the wrong type. If there is no other
	// error, Err and End return an Error with Ignored set for the first such value.
	Tolerant bool

	mismatches uint32 // number of calls of report, which keeps only the first errors

	text  string
	i     int // next byte
	depth int // open arrays and objects
	err   *Error
	odd   *Error // the first ignored value
	last  int    // offset of the last ignored value

	recent *[64]string // copies of short strings, by their hash
	taken  int         // total size of the elements of slices, in bytes
}

// New returns a cursor at the beginning of text.
func New(text string) *Cursor { return &Cursor{text: text, i: start(text)} }

// start returns the length of a byte order mark, which a parser may ignore (RFC 8259,
// section 8.1).
func start(text string) int {
	const mark = "\ufeff"
	if strings.HasPrefix(text, mark) {
		return len(mark)
	}
	return 0
}

// Borrow returns a cursor at the beginning of text, which may be changed after reading,
// because strings are copies. Only field names and the results of Since are parts of text.
func Borrow(text []byte) *Cursor {
	c := New(unsafe.String(unsafe.SliceData(text), len(text))) //nolint:gosec // saves a copy of each response
	c.Clone = true
	return c
}

// Peek returns the first byte of the next value or separator, or 0 at the end.
func (c *Cursor) Peek() byte {
	if c.i < len(c.text) && c.text[c.i] > ' ' {
		return c.text[c.i]
	}
	return c.space()
}

func (c *Cursor) space() byte {
	for ; c.i < len(c.text); c.i++ {
		switch b := c.text[c.i]; b {
		case ' ', '\t', '\n', '\r':
		default:
			return b
		}
	}
	return 0
}

// Null reports whether the next value is null. If so, Null also reads this value.
func (c *Cursor) Null() bool {
	switch start := c.i; {
	case strings.HasPrefix(c.text[start:], "null"):
		c.i += 4
		return true
	case c.Peek() != 'n':
		return false
	case c.i > start: // there was white space before the value
		return c.Null()
	}
	c.fail(c.i, "a value")
	return false
}

// Bool reads true or false. If the cursor is tolerant, Bool also reads 1 and 0. It then also reads
// a string that contains true, false, 1 or 0.
func (c *Cursor) Bool() bool {
	switch b := c.Peek(); {
	case b == 'n':
		c.Null()
	case c.Tolerant && (b == '"' || b == '0' || b == '1'):
		return c.anyBool()
	case b != 't' && b != 'f':
		c.Mismatch("true or false")
	case strings.HasPrefix(c.text[c.i:], "true"):
		c.i += 4
		return true
	case strings.HasPrefix(c.text[c.i:], "false"):
		c.i += 5
	default:
		c.fail(c.i, "a value")
	}
	return false
}

func (c *Cursor) anyBool() bool {
	start := c.i
	switch strings.ToLower(c.Scalar()) {
	case "true", "1":
		return true
	case "false", "0":
	default:
		c.mismatch(start, "true or false")
	}
	return false
}

// Int reads an integer, which may be written as 42.0 or 4e1.
func (c *Cursor) Int() int64 {
	n, _ := c.NullInt()
	return n
}

// NullInt is like Int, except that it distinguishes null and invalid numbers
// from 0.
func (c *Cursor) NullInt() (n int64, ok bool) {
	if n, length := c.shortInt(); length > 0 {
		c.i += length
		return n, true
	}
	if c.Null() {
		return 0, false
	}
	start := c.i
	if c.QuotedInts && c.text[start:] != "" && c.text[start] == '"' {
		n, ok = integer(c.quoted())
	} else if number := c.number(); number != "" {
		n, ok = integer(number)
	} else {
		return 0, false
	}
	if !ok {
		c.mismatch(start, "a 64-bit integer")
		return 0, false
	}
	return n, true
}

// integer returns the value of a JSON number that is a 64-bit integer. With an exponent, it
// uses a float64, so the value must be less than 2^53.
func integer(number string) (n int64, ok bool) {
	if whole, fraction, found := strings.Cut(number, "."); found && strings.Trim(fraction, "0") == "" {
		number = whole
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !strings.ContainsAny(number, "eE") || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// shortInt returns the next number and its length if it is a short positive integer,
// which is the most frequent case. Otherwise the length is 0.
func (c *Cursor) shortInt() (n int64, length int) {
	const most = 18 // digits
	s := c.text[c.i:]
	i := 0
	for ; i < len(s); i++ {
		digit := s[i] - '0'
		if digit > 9 {
			break
		}
		n = 10*n + int64(digit)
	}
	switch {
	case i > most, i > 1 && s[0] == '0', i < len(s) && (s[i] == '.' || s[i]|0x20 == 'e'):
		return 0, 0
	}
	return n, i
}

// Number reads a number and returns its text; null is "".
func (c *Cursor) Number() string {
	start := c.i
	if _, n := c.shortInt(); n > 0 {
		c.i += n
		return c.own(c.text[start:c.i])
	}
	if c.Null() {
		return ""
	}
	return c.own(c.number())
}

// ID reads an id and reports whether it was a string. A number such as 42.0 or 4e1 becomes the
// text of an integer, and null becomes "".
func (c *Cursor) ID() (id string, quoted bool) {
	switch b := c.Peek(); {
	case b == '"':
		return c.String(), true
	case b == 'n':
		c.Null()
		return "", false
	case b != '-' && (b < '0' || b > '9'):
		c.Mismatch("a number or a string")
		return "", false
	}
	if _, n := c.shortInt(); n > 0 { // the most frequent case
		c.i += n
		return c.own(c.text[c.i-n : c.i]), false
	}
	id = c.number()
	if strings.ContainsAny(id, ".eE") {
		if n, ok := integer(id); ok {
			return strconv.FormatInt(n, 10), false
		}
	}
	return c.own(id), false
}

// number returns "" if the next value is not a number.
func (c *Cursor) number() string {
	if b := c.Peek(); b != '-' && (b < '0' || b > '9') {
		c.Mismatch("a number")
		return ""
	}
	s := c.text[c.i:]
	n := numberLen(s)
	if n == 0 {
		c.fail(c.i, "a number")
		return ""
	}
	c.i += n
	return s[:n]
}

// numberLen returns the length of the number that s begins with, or 0 if there
// is none.
func numberLen(s string) int {
	n := 0
	if s[0] == '-' {
		n = 1
	}
	whole := digits(s[n:])
	if whole == 0 || whole > 1 && s[n] == '0' {
		return 0
	}
	if n += whole; n < len(s) && s[n] == '.' {
		fraction := digits(s[n+1:])
		if fraction == 0 {
			return 0
		}
		n += 1 + fraction
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		if n++; n < len(s) && (s[n] == '+' || s[n] == '-') {
			n++
		}
		exponent := digits(s[n:])
		if exponent == 0 {
			return 0
		}
		n += exponent
	}
	return n
}

func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// Object iterates over the names in an object. The loop must read each value. Only if the
// cursor is a copy that looks ahead may the loop end early.
func (c *Cursor) Object() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name, more := c.First(); more && yield(name); name, more = c.Next() {
		}
	}
}

// First enters an object, reads the first name in it and reports whether there
// is one. A loop with First and Next does the same as Object, but is faster.
func (c *Cursor) First() (name string, ok bool) {
	if s, ok := strings.CutPrefix(c.text[c.i:], `{"`); ok && c.depth < maxDepth { // fast path
		if n := plain(s); strings.HasPrefix(s[n:], `":`) {
			c.i += n + len(`{"":`)
			c.depth++
			return s[:n], true
		}
	}
	if !c.open('{', '}', "an object") {
		return "", false
	}
	return c.name()
}

// Next reads the next name in an object and reports whether there is one.
func (c *Cursor) Next() (name string, ok bool) {
	if s, ok := strings.CutPrefix(c.text[c.i:], `,"`); ok { // fast path
		if n := plain(s); strings.HasPrefix(s[n:], `":`) {
			c.i += n + len(`,"":`)
			return s[:n], true
		}
	} else if strings.HasPrefix(s, "}") {
		c.i++
		c.depth--
		return "", false
	}
	if !c.next('}') {
		return "", false
	}
	return c.name()
}

// SkipNameIfNext skips the name of the next field in an object, and reports whether it did
// so. It skips the name only if the text continues with exactly the expected text, such as
// `,"id":`, and a value other than null follows. If the fields are in their usual order,
// this is faster than Next.
func (c *Cursor) SkipNameIfNext(expected string) bool {
	end := c.i + len(expected)
	if end >= len(c.text) || c.text[c.i:end] != expected || c.text[end] <= ' ' || c.text[end] == 'n' {
		return false
	}
	c.i = end
	return true
}

// name reads the name of a field and the colon after it.
func (c *Cursor) name() (name string, ok bool) {
	if c.Peek() != '"' {
		c.fail(c.i, "a name")
		return "", false
	}
	name = c.quoted()
	if c.Peek() != ':' {
		c.fail(c.i, "a colon")
		return "", false
	}
	c.i++
	return name, true
}

// Array iterates over the elements of an array. The loop must read each element. Only if the
// cursor is a copy that looks ahead may the loop end early.
func (c *Cursor) Array() func(yield func() bool) {
	return func(yield func() bool) {
		for more := c.open('[', ']', "an array"); more && yield(); more = c.next(']') {
		}
	}
}

// open enters an array or object and reports whether it has elements.
func (c *Cursor) open(begin, end byte, kind string) bool {
	switch b := c.Peek(); {
	case b == begin && c.depth < maxDepth:
		c.i++
		c.depth++
		return c.Peek() != end || c.next(end)
	case b == begin:
		c.fail(c.i, "less nesting")
	case b == 'n':
		c.Null()
	default:
		c.Mismatch(kind)
	}
	return false
}

// next reads the separator after an element and reports whether there are more
// elements.
func (c *Cursor) next(end byte) bool {
	switch c.Peek() {
	case ',':
		c.i++
		return true
	case end:
		c.i++
		c.depth--
	default:
		c.fail(c.i, "a comma or "+string(end))
	}
	return false
}

// Skip reads any value.
func (c *Cursor) Skip() {
	switch b := c.Peek(); {
	case b == '"':
		c.quoted()
	case b == '{':
		for _, more := c.First(); more; _, more = c.Next() {
			c.Skip()
		}
	case b == '[':
		for range c.Array() {
			c.Skip()
		}
	case b == 'n':
		c.Null()
	case b == 't', b == 'f':
		c.Bool()
	case b == '-', '0' <= b && b <= '9':
		c.number()
	default:
		c.fail(c.i, "a value")
	}
}

// Offset returns the position of the next value or separator, in bytes from the start
// of the text.
func (c *Cursor) Offset() int {
	c.Peek()
	return c.i
}

// Since returns the text from offset to the current position.
func (c *Cursor) Since(offset int) string { return c.text[offset:c.i] }
