// Package jsonwrite writes JSON (RFC 8259) without reflection.
//
// A [Writer] appends values to a buffer. Error checks between writes are
// unnecessary, because [Writer.Err] returns the path of the first value that
// cannot be encoded. This is text that is not UTF-8, or a missing list.
//
// # What it writes
//
// The output is the same as from [encoding/json.Encoder] without HTML escaping
// and without a trailing newline. Templates contain much HTML.
package jsonwrite

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Writer appends values to Bytes. The zero Writer is ready to use. A Writer
// is not safe for concurrent use.
type Writer struct {
	Bytes []byte

	mistake string // error of the first value that cannot be sent
	at      int    // offset of that value
}

// Reset empties w. It reuses the memory.
func (w *Writer) Reset() { *w = Writer{Bytes: w.Bytes[:0]} }

// Open begins an object or array.
func (w *Writer) Open(bracket byte) { w.Bytes = append(w.Bytes, bracket) }

// Close ends an object or array.
func (w *Writer) Close(bracket byte) { w.Bytes = append(w.Bytes, bracket) }

// Name begins a field. The parameter includes the quotes and the colon, as in
// `"id":`.
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
	w.Refuse("is missing")
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
		w.Refuse(notUTF8) // after writing the name, so the path of the error contains it
	}
}
