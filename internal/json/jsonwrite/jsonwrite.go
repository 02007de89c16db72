// Package jsonwrite writes JSON (RFC 8259) without reflection.
//
// A [Writer] appends values to a buffer. A caller need not check for errors between
// writes, because [Writer.Err] returns the path of the first value that cannot be
// encoded: text that is not UTF-8, a nil slice, or a value that the caller reported with
// [Writer.Fail].
//
// # What it writes
//
// The output is the same as from [encoding/json.Encoder] without a trailing newline and
// without HTML escaping, which would make templates longer.
package jsonwrite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/emailplatform/internal/json/jsonscan"
)

// A Writer appends values to Bytes. The zero Writer is ready to use. A Writer
// is not safe for concurrent use.
type Writer struct {
	Bytes []byte

	reason string // error of the first value that cannot be sent
	at     int    // offset of that value
}

// Reset empties w, and keeps its memory for further use.
func (w *Writer) Reset() { *w = Writer{Bytes: w.Bytes[:0]} }

// Open begins an object or array.
func (w *Writer) Open(bracket byte) { w.Bytes = append(w.Bytes, bracket) }

// Close ends an object or array.
func (w *Writer) Close(bracket byte) { w.Bytes = append(w.Bytes, bracket) }

// Name begins a field. The given name includes the quotes and the colon, as in `"id":`,
// so Name can append it unchanged.
func (w *Writer) Name(name string) {
	if w.Bytes[len(w.Bytes)-1] != '{' {
		w.Bytes = append(w.Bytes, ',')
	}
	w.Bytes = append(w.Bytes, name...)
}

// Int writes a number.
func (w *Writer) Int(n int64) { w.Bytes = strconv.AppendInt(w.Bytes, n, 10) }

// Bool writes true or false.
func (w *Writer) Bool(b bool) { w.Bytes = strconv.AppendBool(w.Bytes, b) }

// Null writes null.
func (w *Writer) Null() { w.Bytes = append(w.Bytes, "null"...) }

// Missing writes null instead of a required value, and records an error.
func (w *Writer) Missing() {
	w.Fail("is missing")
	w.Null()
}

// Slice writes an array and calls write for each element. A nil slice is an error.
func Slice[T any](w *Writer, elements []T, write func(*T, *Writer)) {
	if elements == nil {
		w.Missing()
		return
	}
	w.Open('[')
	for i := range elements {
		if i > 0 {
			w.Bytes = append(w.Bytes, ',')
		}
		write(&elements[i], w)
	}
	w.Close(']')
}

// Strings writes an array of strings. A nil slice is an error.
func Strings[T ~string](w *Writer, elements []T) {
	Slice(w, elements, func(s *T, w *Writer) { w.String(string(*s)) })
}

// Ints writes an array of numbers. A nil slice is an error.
func Ints[T ~int64](w *Writer, elements []T) {
	Slice(w, elements, func(n *T, w *Writer) { w.Int(int64(*n)) })
}

// Key begins a field whose name may need escapes. A name that is not UTF-8 is an error.
func (w *Writer) Key(name string) {
	w.Name("")
	w.String(strings.ToValidUTF8(name, "\ufffd"))
	w.Bytes = append(w.Bytes, ':')
	if !utf8.ValidString(name) {
		w.Fail(notUTF8) // after writing the name, so the path of the error contains it
	}
}

const notUTF8 = "must be valid UTF-8"

// Fail records that the next value cannot be sent. Only the first call has an effect.
func (w *Writer) Fail(reason string) {
	if w.reason == "" {
		w.reason, w.at = reason, len(w.Bytes)
	}
}

// Err returns an error for the first value that cannot be encoded, such as
// "contacts.3.tags.0: must be valid UTF-8", or nil if there is none.
func (w *Writer) Err() error {
	if w.reason == "" {
		return nil
	}
	way := locate(jsonscan.New(string(w.Bytes[:w.at])), nil)
	if len(way) == 0 {
		return errors.New(w.reason)
	}
	return fmt.Errorf("%s: %s", strings.Join(way, "."), w.reason)
}

// locate reads the next value in an incomplete text. If the text ends where this value,
// or a value inside it, must begin, locate returns the path of the missing value.
// Otherwise, it returns nil. Only Err needs this path, so a Writer does not record the
// path of each value.
func locate(c *jsonscan.Cursor, way []string) []string {
	switch c.Peek() {
	case '{':
		for name := range c.Object() {
			if found := locate(c, append(way, name)); found != nil {
				return found
			}
		}
	case '[':
		i := 0
		for range c.Array() {
			if found := locate(c, append(way, strconv.Itoa(i))); found != nil {
				return found
			}
			i++
		}
	default:
		c.Skip()
		if c.Err() != nil {
			return way
		}
	}
	return nil
}

// String writes a text. A text that is not UTF-8 is an error.
func (w *Writer) String(s string) {
	if !plain(s) {
		w.escaped(s)
		return
	}
	w.Bytes = append(append(append(w.Bytes, '"'), s...), '"')
}

const (
	ones = 0x0101010101010101 // 1 in each of eight bytes
	tops = 0x80 * ones        // the top bit of each
)

// special returns a value other than 0 if one of the eight bytes of b is not ASCII or needs an
// escape: a quote, a backslash or a control character. The result then has the top bits of
// these bytes set. It can also have other top bits set, because special subtracts from all
// eight bytes at once, so one byte can borrow from the next.
func special(b uint64) uint64 {
	quote, backslash, control := (b^ones*'"')-ones, (b^ones*'\\')-ones, b-ones*' '
	return (b | quote | backslash | control) & tops
}

// plain reports whether s is ASCII and needs no escapes. It reads eight bytes at a
// time. In a long text, it reads the last eight bytes even if they overlap the previous
// eight.
func plain(s string) bool {
	words := len(s) / 8
	for i := range words {
		if special(binary.LittleEndian.Uint64([]byte(s[8*i:8*i+8]))) != 0 {
			return false
		}
	}
	if words > 0 {
		return special(binary.LittleEndian.Uint64([]byte(s[len(s)-8:]))) == 0
	}
	for _, c := range []byte(s) {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// escaped writes a text that may need escapes.
func (w *Writer) escaped(s string) {
	if !utf8.ValidString(s) {
		w.Fail(notUTF8)
		s = string([]rune(s)) // each invalid byte becomes a replacement character, as in encoding/json
	}
	b := append(w.Bytes, '"')
	done := 0
	for i, r := range s {
		switch {
		case r == '\u2028', r == '\u2029': // like encoding/json, because old JavaScript rejects them
		case r >= ' ' && r != '"' && r != '\\':
			continue
		}
		b = appendEscape(append(b, s[done:i]...), r)
		done = i + utf8.RuneLen(r)
	}
	w.Bytes = append(append(b, s[done:]...), '"')
}

// appendEscape appends the escape sequence of a character in the basic
// multilingual plane.
func appendEscape(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '\\')
	switch r {
	case '"', '\\':
		return append(b, byte(r))
	case '\b':
		return append(b, 'b')
	case '\f':
		return append(b, 'f')
	case '\n':
		return append(b, 'n')
	case '\r':
		return append(b, 'r')
	case '\t':
		return append(b, 't')
	}
	return append(b, 'u', hex[r>>12&0xf], hex[r>>8&0xf], hex[r>>4&0xf], hex[r&0xf])
}
