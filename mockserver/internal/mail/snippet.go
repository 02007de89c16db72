package mail

import (
	"html"
	"regexp"
	"strings"
)

const (
	snippetLength = 140  // characters
	snippetSource = 1000 // maximum number of bytes of text that are read
)

// Snippet returns the beginning of a message as a line of up to 140 characters, for
// lists of messages. It uses the text or, if the text is empty, the visible text of the
// HTML. It replaces merge tags.
func Snippet(text, markup string, value func(name string) string) string {
	source := text
	if strings.TrimSpace(source) == "" {
		source = html.UnescapeString(shown(markup))
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

// invisible matches a comment, an element without visible text, or another tag. A
// comment, element or tag without an end extends to the end of the text.
var invisible = regexp.MustCompile(`(?is)<!--.*?(?:-->|\z)` +
	`|<style[\s/>].*?(?:</style[\s/>]|\z)|<script[\s/>].*?(?:</script[\s/>]|\z)|<title[\s/>].*?(?:</title[\s/>]|\z)` +
	`|<[a-z/!?][^>]*`)

// shown returns the beginning of the text that is visible in an HTML document. It does
// not decode entities.
func shown(markup string) string {
	var out strings.Builder
	for out.Len() < snippetSource {
		at := invisible.FindStringIndex(markup)
		if at == nil {
			out.WriteString(markup[:min(len(markup), snippetSource)])
			break
		}
		out.WriteString(markup[:min(at[0], snippetSource)])
		if !strings.HasPrefix(markup[at[0]:], "<!--") {
			out.WriteByte(' ')
			_, markup, _ = strings.Cut(markup[at[1]-1:], ">")
			continue
		}
		markup = markup[at[1]:]
	}
	return out.String()
}

// MergeText replaces each {{name}} with the value of name.
func MergeText(s string, value func(name string) string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "{{")
		if !ok {
			break
		}
		name, after, ok := strings.Cut(rest, "}}")
		if !ok {
			break
		}
		b.WriteString(before)
		if name = strings.TrimSpace(name); name != "" && value != nil {
			b.WriteString(value(name))
		}
		s = after
	}
	if b.Len() == 0 { // do not copy a text without tags
		return s
	}
	b.WriteString(s)
	return b.String()
}

// MergeHTML is like MergeText for HTML. It escapes the values.
func MergeHTML(s string, value func(name string) string) string {
	if value == nil {
		return MergeText(s, nil)
	}
	return MergeText(s, func(name string) string { return html.EscapeString(value(name)) })
}
