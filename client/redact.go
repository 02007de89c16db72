package client

import (
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"math"
	"strings"
)

// redact replaces token in s, even if it is escaped for JSON, a URL or HTML.
func redact(s, token string) string { return redactFirst(s, token, math.MaxInt) }

// redactFirst redacts the token in s and can stop when the result has n
// bytes.
func redactFirst(s, token string, n int) string {
	if token == "" {
		return s
	}
	var b strings.Builder
	done, i := 0, 0
	for i < len(s) && b.Len()+i-done < n {
		width := spelled(s[i:], token)
		if width == 0 {
			i++
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(redacted)
		i += width
		done = i
	}
	if done == 0 {
		return s[:i]
	}
	return b.String() + s[done:i]
}

// spelled returns the length of the token at the beginning of s, even if the token is
// escaped. If s does not begin with the token, spelled returns 0.
func spelled(s, token string) int {
	if strings.HasPrefix(s, token) {
		return len(token)
	}
	n := 0
	for i := range len(token) {
		width := spelledByte(s[n:], token[i])
		if width == 0 {
			return 0
		}
		n += width
	}
	return n
}

// spelledByte returns the length of the byte c at the beginning of s, even
// if c is escaped. If s does not begin with c, spelledByte returns 0.
func spelledByte(s string, c byte) int {
	switch {
	case s == "":
		return 0
	case len(s) >= 2 && s[0] == '\\' && s[1] == c:
		return 2
	case strings.HasPrefix(s, `\u00`) && isHex(s[4:], c):
		return 6
	case s[0] == '%' && isHex(s[1:], c):
		return 3
	case s[0] == '&':
		if end := strings.IndexByte(s[:min(len(s), 10)], ';') + 1; html.UnescapeString(s[:end]) == string(c) {
			return end
		}
	}
	if s[0] == c {
		return 1
	}
	return 0
}

// isHex reports whether s begins with the two hexadecimal digits of c.
func isHex(s string, c byte) bool {
	return len(s) >= 2 && strings.EqualFold(s[:2], hex.EncodeToString([]byte{c}))
}

// redactError returns err, or an error with redacted text if err's text
// contains the token.
func redactError(err error, token string) error {
	if err == nil {
		return nil
	}
	if text := redact(err.Error(), token); text != err.Error() {
		return &redactedError{text: text, err: err}
	}
	return err
}

type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }

// Is reports whether the replaced error matches target. redactedError has no method
// Unwrap, because callers could print the unwrapped error, which contains the token.
func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }

// Format implements [fmt.Formatter].
func (e *redactedError) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, e.text) }

// withoutSecrets removes the user, password, query and fragment from a URL,
// which may be invalid.
func withoutSecrets(address string) string {
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address = address[:end]
	}
	before, rest, _ := strings.Cut(address, "//")
	host, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		return before + "//" + rest[at+1:]
	}
	return address
}
