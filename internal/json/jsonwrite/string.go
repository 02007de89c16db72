package jsonwrite

import (
	"encoding/binary"
	"unicode/utf8"
)

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

// special returns a value with a top bit set if one of the eight bytes of b is not
// ASCII or needs an escape. Quotes, backslashes and control characters need escapes.
// The result does not identify the byte, because a subtraction borrows from the next
// byte.
func special(b uint64) uint64 {
	quote, backslash, control := (b^ones*'"')-ones, (b^ones*'\\')-ones, b-ones*' '
	return (b | quote | backslash | control) & tops
}

// plain reports whether s is ASCII and needs no escapes. It reads eight bytes at a
// time. In a long text, the last eight bytes may overlap the previous eight.
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
		w.Refuse(notUTF8)
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
