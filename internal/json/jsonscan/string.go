package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string.
func (c *Cursor) String() string {
	if s := c.text[c.i:]; len(s) > 1 && s[0] == '"' { // fast path
		s = s[1:]
		if n := plain(s); s[n] == '"' {
			c.i += n + 2
			return c.own(s[:n])
		}
	}
	return c.anyString()
}

// anyString is String without the fast path.
func (c *Cursor) anyString() string {
	switch c.Peek() {
	case '"':
		return c.own(c.quoted())
	case 'n':
		c.Null()
	default:
		c.Mismatch("a string")
	}
	return ""
}

func (c *Cursor) own(s string) string {
	if c.Clone {
		return c.copied(s)
	}
	return s
}

// copied returns a copy of s, a part of the decoded text. Without a copy, a program that keeps
// one string would keep the whole text in memory. Short strings, such as tags, are often
// repeated. Therefore, a table contains recent short strings, and equal strings share one copy.
// A short text has no table, because the table would need more memory than it saves.
func (c *Cursor) copied(s string) string {
	const table = 1 << 10 // bytes
	if len(s) == 0 || len(s) > 16 || len(c.text) < table {
		return strings.Clone(s)
	}
	if c.recent == nil {
		c.recent = new([64]string)
	}
	last := &c.recent[(uint(len(s))+7*uint(s[0])+31*uint(s[len(s)-1]))%uint(len(c.recent))]
	if *last != s {
		*last = strings.Clone(s)
	}
	return *last
}

const (
	ones = 0x0101010101010101 // 1 in each of eight bytes
	tops = 0x80 * ones        // the top bit of each
)

// special sets the top bit of each byte of w that is a quote, a backslash or a control character.
// If all bytes of w are ASCII, the first byte whose top bit is set is the first such character.
// The top bits of later bytes can be wrong. The reason is that special subtracts from all bytes at
// once, so a negative byte borrows 1 from the next byte.
//
// To test for quotes and control characters at once, special flips bit 1 of each byte: a quote
// (0x22) becomes 0x20, and a space (0x20) becomes 0x22. Then only quotes and control characters are
// less than 0x21.
func special(w uint64) uint64 {
	quoteOrControl, backslash := (w^ones*2)-ones*0x21, (w^ones*'\\')-ones
	return quoteOrControl | backslash
}

// plain returns the number of bytes at the beginning of s that are ASCII and are not
// quotes, backslashes or control characters. If these bytes extend to the last few
// bytes of s, it returns 0.
func plain(s string) int {
	for i := 0; i <= len(s)-8; i += 8 {
		w := word(s, i)
		if m := (special(w) | w) & tops; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	return 0
}

// word returns the eight bytes of s that start at i, in little-endian order.
func word(s string, i int) uint64 { return binary.LittleEndian.Uint64([]byte(s[i : i+8])) }

// quoted reads a string at its opening quote.
func (c *Cursor) quoted() string {
	s := c.text[c.i+1:]
	n := plain(s)
	if n < len(s) && s[n] == '"' {
		c.i += n + 2
		return s[:n]
	}
	return c.notPlain(c.i + 1 + n)
}

// notPlain reads a string as quoted does. The string is plain only before the index i, or it is
// near the end of the text.
func (c *Cursor) notPlain(i int) string {
	s, plain := c.text, true
	for {
		for i+8 <= len(s) {
			w := word(s, i)
			plain = plain && w&tops == 0
			if m := special(w) &^ w & tops; m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(s) || s[i] < ' ' {
			c.fail(min(i, len(s)), "the rest of a string")
			return ""
		}
		switch b := s[i]; b {
		case '"':
			s = s[c.i+1 : i]
			if c.i = i + 1; !plain {
				s = c.unescape(s)
			}
			return s
		case '\\':
			plain = false
			i += 2
		default:
			plain = plain && b < utf8.RuneSelf
			i++
		}
	}
}

// unescape returns the value of the escaped string s, which is given without its
// quotes.
func (c *Cursor) unescape(s string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for ; i >= 0; i = strings.IndexByte(s, '\\') {
		b.WriteString(s[:i])
		s = s[i+1:]
		if s[0] == 'u' {
			r, rest := unicodeEscape(s)
			if rest == s {
				c.fail(c.i-1-len(s), "four hexadecimal digits")
				return ""
			}
			b.WriteRune(r) // writes U+FFFD for a surrogate
			s = rest
			continue
		}
		k := strings.IndexByte(`"\/bfnrt`, s[0])
		if k < 0 {
			c.fail(c.i-1-len(s), "an escape sequence")
			return ""
		}
		b.WriteByte("\"\\/\b\f\n\r\t"[k])
		s = s[1:]
	}
	b.WriteString(s)
	return valid(b.String())
}

// valid returns s with each byte that is not valid UTF-8 replaced by U+FFFD.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	n := 0
	for _, r := range s {
		n += utf8.RuneLen(r)
	}
	var b strings.Builder
	b.Grow(n)
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// unicodeEscape reads uXXXX, or the surrogate pair uXXXX\uXXXX, from the start
// of s. Half of a pair becomes U+FFFD. If the escape is invalid, it returns s
// unchanged.
func unicodeEscape(s string) (r rune, rest string) {
	if r = codeUnit(s); r < 0 {
		return r, s
	}
	rest = s[5:]
	if utf16.IsSurrogate(r) && strings.HasPrefix(rest, `\u`) {
		if pair := utf16.DecodeRune(r, codeUnit(rest[1:])); pair != utf8.RuneError {
			return pair, rest[6:]
		}
	}
	return r, rest
}

// codeUnit returns the UTF-16 code unit that s begins with, as uXXXX, or -1 if
// there is none.
func codeUnit(s string) rune {
	if len(s) < 5 {
		return -1
	}
	u, err := strconv.ParseUint(s[1:5], 16, 16)
	if err != nil {
		return -1
	}
	return rune(u)
}
