package client

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type lineError struct{ err error }

func (e *lineError) Error() string { return escapeControls(e.err.Error()) }

func (e *lineError) Unwrap() error { return e.err }

// escapeControls escapes control characters, line separators and characters that
// change the text direction. The escapes have the syntax of a Go string
// literal.
func escapeControls(s string) string {
	hidden := func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	}
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		shown := s[:n]
		if hidden(r) || r == utf8.RuneError && n == 1 {
			shown = strings.Trim(strconv.Quote(shown), `"`)
		}
		b.WriteString(shown)
		s = s[n:]
	}
	return b.String()
}
