package mail

import (
	"html"
	"regexp"
	"strings"
)

const (
	snippetLength = 140  // characters
	snippetSource = 1000 // bytes of text that are looked at
)

// unread is what a mail program shows nothing of: comments, and elements that are
// not text. One that does not end is as long as the HTML.
var unread = regexp.MustCompile(`(?is)^(?:<!--.*?(?:-->|\z)|<(?:style|script|head|title)\b.*?(?:</(?:style|script|head|title)\s*>|\z))`)

// Snippet is how a message begins, as lists of mail programs show it: on one line, up
// to 140 characters of its text, or else of what its HTML shows, with merge tags
// filled.
func Snippet(text, markup string, value func(name string) string) string {
	source := text
	if strings.TrimSpace(source) == "" {
		source = html.UnescapeString(shown(markup))
	} else if len(source) > snippetSource {
		source = source[:snippetSource]
	}
	if tag := strings.LastIndex(source, "{{"); tag > strings.LastIndex(source, "}}") {
		source = source[:tag] // cut within a merge tag, or none at all
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

// shown is the beginning of the text of HTML, its entities as they are.
func shown(markup string) string {
	var out strings.Builder
	for out.Len() < snippetSource {
		before, rest, more := strings.Cut(markup, "<")
		out.WriteString(before[:min(len(before), snippetSource)])
		if !more {
			break
		}
		rest = "<" + rest
		if found := unread.FindString(rest); found != "" {
			markup = rest[len(found):]
			continue
		}
		if !letter(rest[1:]) { // a sign that is no tag
			out.WriteByte('<')
			markup = rest[1:]
			continue
		}
		_, markup, _ = strings.Cut(rest, ">")
		out.WriteByte(' ')
	}
	return out.String()
}

// letter reports whether a tag begins: a name, the end of an element, a declaration.
func letter(s string) bool {
	return s != "" && (s[0] == '/' || s[0] == '!' || s[0] == '?' || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}
