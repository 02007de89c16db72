package jsonwrite

import (
	"encoding/binary"
	"unicode/utf8"
)

// String writes a text. One that is not UTF-8 is a mistake.
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

// special has the top bit set for each of the eight bytes of b that a text does
// not hold as it is: a quote, a backslash, a control character, or no ASCII. Only
// whether there is any is certain: a subtraction borrows from the next byte.
func special(b uint64) uint64 {
	quote, backslash, control := (b^ones*'"')-ones, (b^ones*'\\')-ones, b-ones*' '
	return (b | quote | backslash | control) & tops
}

// plain reports whether s holds nothing special. It looks at eight bytes at a
// time, at the last of them perhaps twice.
func plain(s string) bool {
	n := len(s)
	switch {
	case n >= 8:
		for i := 0; i < n-8; i += 8 {
			if special(binary.LittleEndian.Uint64([]byte(s[i:i+8]))) != 0 {
				return false
			}
		}
		return special(binary.LittleEndian.Uint64([]byte(s[n-8:]))) == 0
	case n >= 4:
		first, last := binary.LittleEndian.Uint32([]byte(s[:4])), binary.LittleEndian.Uint32([]byte(s[n-4:]))
		return special(uint64(first)|uint64(last)<<32) == 0
	}
	for i := range n {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// escaped writes a text that may need escapes.
func (w *Writer) escaped(s string) {
	if !utf8.ValidString(s) {
		w.refuse(notUTF8)
	}
	b := append(w.Bytes, '"')
	done := 0
	for i, r := range s {
		switch {
		case r == '\u2028', r == '\u2029': // as encoding/json: not all JavaScript takes them
		case r >= ' ' && r != '"' && r != '\\':
			continue
		}
		b = appendEscape(append(b, s[done:i]...), r)
		done = i + utf8.RuneLen(r)
	}
	w.Bytes = append(append(b, s[done:]...), '"')
}

// appendEscape appends the escape sequence of a character of the basic plane.
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
