// Package markdown contains rules of Markdown that the tools and their tests share.
package markdown

import (
	"strings"
	"unicode"
)

// Item returns a list item for a field, because a list of a few fields is easier to read than a table. The description
// can be a sentence, a clause or empty.
func Item(name, kind, description string) string {
	item := "- " + name + ": " + kind
	switch {
	case strings.HasSuffix(description, "."):
		item += ". " + description
	case description != "":
		item += "; " + description
	}
	return item + "\n"
}

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
