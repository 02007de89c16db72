package mail

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"example.com/emailplatform/mockserver/internal/markup"
)

const (
	snippetLength = 140  // characters
	snippetSource = 1000 // maximum number of bytes of text that are read
)

// Snippet returns the beginning of a message for lists of messages, as a line of up to
// 140 characters. It uses the text or, if the text is empty, the visible text of the
// HTML, and replaces merge tags.
func Snippet(text, document string, value func(name string) string) string {
	source := text
	if strings.TrimSpace(source) == "" {
		source = Visible(document, snippetSource)
	} else if len(source) > snippetSource {
		source = source[:snippetSource]
	}
	if tag := strings.LastIndex(source, "{{"); tag > strings.LastIndex(source, "}}") {
		source = source[:tag] // the text ends within a merge tag
	}
	line := strings.Join(strings.Fields(strings.ToValidUTF8(MergeText(source, value), "")), " ")
	n := 0
	for i := range line {
		if n++; n > snippetLength {
			return line[:i] + "…"
		}
	}
	return line
}

// Visible returns at least the first limit bytes of the text that is visible in an HTML
// document. Spaces separate the texts of elements, except inline elements.
func Visible(document string, limit int) string {
	var out strings.Builder
	hidden := false
	for token := range markup.Tokens(document) {
		switch token.Type {
		case html.TextToken:
			if !hidden {
				out.WriteString(token.Data[:min(len(token.Data), limit)])
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			invisible := slices.Contains([]string{"style", "script", "title"}, token.Data)
			if hidden = invisible && token.Type != html.EndTagToken; !invisible && !partOfLine[token.Data] {
				out.WriteByte(' ')
			}
		}
		if out.Len() > limit {
			break
		}
	}
	return out.String()
}

// partOfLine contains the elements that can be parts of a word.
var partOfLine = map[string]bool{
	"a": true, "abbr": true, "b": true, "bdi": true, "bdo": true, "big": true, "cite": true, "code": true, "del": true,
	"dfn": true, "em": true, "font": true, "i": true, "ins": true, "kbd": true, "mark": true, "q": true, "s": true,
	"samp": true, "small": true, "span": true, "strike": true, "strong": true, "sub": true, "sup": true, "tt": true,
	"u": true, "var": true, "wbr": true,
}
