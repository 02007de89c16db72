package contract

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"example.com/emailplatform/mockserver/internal/apierror"
)

// TextError is the error for JSON with a string that is not Unicode text (RFC 8259,
// sections 8.1 and 8.2). Without this error, package json would replace a part of the
// string with U+FFFD.
type TextError string

func (e TextError) Error() string { return string(e) }

// CheckText returns an error with the location of the first string that is not Unicode
// text. The value must be valid JSON. If nul is false, U+0000 is an error too.
func CheckText(value []byte, nul bool) error {
	at, err := textError(value, nul)
	if err == nil {
		return nil
	}
	in := text{b: value}
	return apierror.New(http.StatusBadRequest, "json_invalid", err.Error(), in.locationOf(nil, at).loc()...)
}

// ByteOrderMark is the byte order mark in UTF-8.
const ByteOrderMark = "\ufeff"

// WithoutMark returns a reader that omits a byte order mark at the beginning of r, because
// editors on Windows add one. RFC 8259, section 8.1, permits a parser of JSON to ignore the
// mark. If r begins like UTF-16 or a compressed file, the reader returns a [TextError].
func WithoutMark(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	start, _ := b.Peek(len(ByteOrderMark))
	switch {
	case string(start) == ByteOrderMark:
		_, _ = b.Discard(len(ByteOrderMark))
	case IsUTF16(start):
		return &textReader{err: TextError("must be UTF-8, got UTF-16")}
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		return &textReader{err: TextError("must not be compressed, got gzip")}
	}
	return b
}

// IsUTF16 reports whether a text begins with a byte order mark in UTF-16. Windows
// PowerShell writes such files.
func IsUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
}

// CheckURL returns an error if the path or the query of a URL is not UTF-8 or contains
// U+0000. It ignores malformed parameters.
func CheckURL(u *url.URL) error {
	const rule = "must be UTF-8 without U+0000"
	valid := func(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }
	if !valid(u.Path) {
		return apierror.Invalid(rule, "path")
	}
	query, _ := url.ParseQuery(u.RawQuery)
	for name, values := range query {
		if !valid(name + strings.Join(values, "")) {
			return apierror.Invalid(rule, "query", name)
		}
	}
	return nil
}

// locationOf returns the location of the value or field name that contains an offset.
func (t *text) locationOf(at *location, offset int) *location {
	inner := location{outer: at}
	switch t.peek() {
	case '{':
		for more := t.open('}'); more; more = t.more() {
			inner.name = t.name()
			if found := t.locationOf(&inner, offset); t.i > offset {
				return found
			}
		}
	case '[':
		for more := t.open(']'); more; more = t.more() {
			if found := t.locationOf(&inner, offset); t.i > offset {
				return found
			}
			inner.index++
		}
	default:
		t.skip()
	}
	return at
}

// textError returns the offset in JSON of the first byte or escape sequence that is not
// Unicode text. An incomplete character at the end is an error too.
func textError(b []byte, nul bool) (at int, err error) {
	for at < len(b) {
		n := 1
		switch c := b[at]; {
		case c == '\\':
			n, err = escapeError(b[at:], nul)
		case c >= utf8.RuneSelf:
			if _, n = utf8.DecodeRune(b[at:]); n == 1 {
				err = TextError(fmt.Sprintf("must be UTF-8, got the byte 0x%02X", c))
			}
		}
		if err != nil {
			return at, err
		}
		at += n
	}
	return at, nil
}

const longestEscape = len(`\ud83d\ude00`)

// escapeError returns the length of the escape sequence at the start of b.
func escapeError(b []byte, nul bool) (n int, err error) {
	switch unit := codeUnit(b); {
	case len(b) < 2 || b[1] == 'u' && len(b) < 6:
		return 0, TextError("must not end within an escape sequence")
	case b[1] == 'u' && unit < 0:
		return 0, TextError(`must have four hexadecimal digits after \u`)
	case b[1] != 'u':
		return 2, nil
	case unit == 0 && !nul:
		return 0, TextError("must not contain U+0000")
	case !utf16.IsSurrogate(unit):
		return 6, nil
	case utf16.DecodeRune(unit, codeUnit(b[6:])) == utf8.RuneError:
		return 0, TextError("must not contain half of a surrogate pair, got " + string(b[:6]))
	}
	return longestEscape, nil
}

// AppendUnescaped appends JSON to a text, with characters instead of their escape
// sequences. For \b, \f, \n, \r and \t, it appends a line feed. The value need
// not be valid JSON.
func AppendUnescaped(to, value []byte) []byte {
	for {
		plain, rest, _ := bytes.Cut(value, []byte{'\\'})
		if to = append(to, plain...); len(rest) == 0 {
			return to
		}
		value = value[len(plain):]
		n, r := 2, codeUnit(value)
		switch {
		case r >= 0:
			n = 6
			if pair := utf16.DecodeRune(r, codeUnit(value[n:])); pair != utf8.RuneError {
				n, r = longestEscape, pair
			}
			to = utf8.AppendRune(to, r)
		case strings.IndexByte("bfnrt", rest[0]) >= 0:
			to = append(to, '\n')
		default:
			to = append(to, rest[0])
		}
		value = value[n:]
	}
}

// codeUnit returns the code unit of an escape sequence such as \u00e9, or -1.
func codeUnit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// TextReader returns a reader for JSON of any size. If a string is not Unicode text,
// the reader returns the JSON before the first invalid byte, and then a [TextError]
// with the position of this byte. It accepts U+0000.
func TextReader(r io.Reader) io.Reader { return &textReader{in: r, buffer: make([]byte, 32<<10)} }

type textReader struct {
	in      io.Reader
	buffer  []byte
	rest    []byte // the part of buffer that the caller has not read
	checked int    // number of checked bytes in rest
	offset  int    // of the end of the checked bytes
	err     error  // follows the checked bytes
}

func (t *textReader) Read(p []byte) (int, error) {
	for t.checked == 0 && t.err == nil {
		kept := copy(t.buffer, t.rest)
		n, err := t.in.Read(t.buffer[kept:])
		t.rest, t.err = t.buffer[:kept+n], err
		at, wrong := textError(t.rest, true)
		t.checked, t.offset = at, t.offset+at
		complete := len(t.rest)-at >= longestEscape || errors.Is(err, io.EOF) // otherwise the next bytes can complete a character
		if wrong != nil && complete {
			t.err = TextError(fmt.Sprintf("byte %d: %v", t.offset+1, wrong))
		}
	}
	if t.checked == 0 {
		return 0, t.err
	}
	n := copy(p, t.rest[:t.checked])
	t.rest, t.checked = t.rest[n:], t.checked-n
	return n, nil
}
