// Package markdown contains rules of Markdown that the tools and their tests share.
package markdown

import (
	"strings"
	"unicode"
)

// Anchor returns the anchor that GitHub gives to a heading.
func Anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
