package mail

import (
	"html"
	"strings"
)

// MergeText replaces each {{name}} by the value of name.
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
	b.WriteString(s)
	return b.String()
}

// MergeHTML does the same in HTML, where values are text and not markup.
func MergeHTML(s string, value func(name string) string) string {
	if value == nil {
		return MergeText(s, nil)
	}
	return MergeText(s, func(name string) string { return html.EscapeString(value(name)) })
}
