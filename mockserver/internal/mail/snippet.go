package mail

import (
	"html"
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

// shown returns the beginning of the text that is visible in an HTML document. It does
// not decode entities.
func shown(markup string) string {
	var out strings.Builder
	for out.Len() < snippetSource {
		before, rest, more := strings.Cut(markup, "<")
		out.WriteString(before[:min(len(before), snippetSource)])
		if !more {
			break
		}
		if !letter(rest) { // not a tag
			out.WriteByte('<')
			markup = rest
			continue
		}
		if after, found := passOver(rest); found {
			markup = after
			continue
		}
		_, markup, _ = strings.Cut(rest, ">")
		out.WriteByte(' ')
	}
	return out.String()
}

// passOver returns the HTML after a comment or an element without visible text.
// If the comment or element has no end, passOver returns "".
func passOver(tag string) (after string, found bool) {
	if comment, found := strings.CutPrefix(tag, "!--"); found {
		_, after, _ = strings.Cut(comment, "-->")
		return after, true
	}
	for _, name := range [...]string{"style", "script", "title"} {
		if !named(tag, name) {
			continue
		}
		for {
			_, end, more := strings.Cut(tag, "</")
			if !more {
				return "", true
			}
			if tag = end; named(tag, name) {
				_, after, _ = strings.Cut(tag, ">")
				return after, true
			}
		}
	}
	return "", false
}

// named reports whether a tag has the given name. The parameter tag begins
// after "<".
func named(tag, name string) bool {
	return len(tag) >= len(name) && strings.EqualFold(tag[:len(name)], name) &&
		(len(tag) == len(name) || strings.IndexByte(" \t\r\n\f/>", tag[len(name)]) >= 0)
}

// letter reports whether s begins with a character that can follow "<" in a
// tag: a letter, "/", "!" or "?".
func letter(s string) bool {
	return s != "" && (s[0] == '/' || s[0] == '!' || s[0] == '?' || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
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

// MergeHTML replaces each {{name}} with the value of name, escaped for
// HTML.
func MergeHTML(s string, value func(name string) string) string {
	if value == nil {
		return MergeText(s, nil)
	}
	return MergeText(s, func(name string) string { return html.EscapeString(value(name)) })
}
