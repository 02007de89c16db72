package contract

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// text is a reader for valid JSON. Its methods do not check the JSON syntax.
type text struct {
	b []byte
	i int
}

// peek skips white space and returns the next byte, or 0 at the end.
func (t *text) peek() byte {
	for ; t.i < len(t.b); t.i++ {
		switch t.b[t.i] {
		case ' ', '\t', '\n', '\r':
		default:
			return t.b[t.i]
		}
	}
	return 0
}

// open enters an array or object and reports whether it has elements.
func (t *text) open(end byte) bool {
	t.i++
	if t.peek() == end {
		t.i++
		return false
	}
	return true
}

// more reads the comma after an element, or the end of the array or object, and
// reports whether another element follows.
func (t *text) more() bool {
	comma := t.peek() == ','
	t.i++
	return comma
}

// name reads the name of a field and the colon after it.
func (t *text) name() []byte {
	name := unescaped(t.quoted())
	t.peek()
	t.i++
	return name
}

// quoted reads a string and returns the text between its quotes.
func (t *text) quoted() []byte {
	t.peek()
	raw := t.b[t.i+1:]
	n := bytes.IndexByte(raw, '"')
	for n > 0 && raw[n-1] == '\\' && escapes(raw[:n]) {
		n += 1 + bytes.IndexByte(raw[n+1:], '"')
	}
	t.i += n + 2
	return raw[:n]
}

// escapes reports whether raw ends with a backslash that escapes the next
// character.
func escapes(raw []byte) bool { return (len(raw)-len(bytes.TrimRight(raw, `\`)))%2 == 1 }

// unescaped returns the value of a JSON string from the raw text between its quotes.
// Like encoding/json, unescaped replaces invalid UTF-8 with U+FFFD.
func unescaped(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return raw
	}
	var s string
	_ = json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &s) // raw is valid
	return []byte(s)
}

// word reads a number, true, false or null.
func (t *text) word() []byte {
	t.peek()
	start := t.i
	n := bytes.IndexAny(t.b[start:], ",]} \t\n\r")
	if n < 0 {
		n = len(t.b) - start
	}
	t.i += n
	return t.b[start:t.i]
}

// skip reads a value of any type.
func (t *text) skip() {
	for depth := 0; ; {
		switch t.peek() {
		case '"':
			t.quoted()
		case '{', '[':
			depth++
			t.i++
		case '}', ']':
			depth--
			t.i++
		case ',', ':':
			t.i++
		default:
			t.word()
		}
		if depth == 0 {
			return
		}
	}
}
