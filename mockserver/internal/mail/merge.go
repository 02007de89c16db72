package mail

import (
	"strings"

	"golang.org/x/net/html"
)

// maxMerged is the maximum size of a part with replaced merge tags, in bytes. The values of one request fit, even
// after escaping, but a tag can also be repeated.
const maxMerged = 64 << 20

// cutOff ends a part that exceeds maxMerged.
const cutOff = " [the mock server omits the rest, because the part is larger than 64 MiB]"

// MergeText replaces each {{name}} with the value of name. It returns at most about maxMerged bytes.
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
		if s = after; b.Len() > maxMerged {
			return b.String() + cutOff
		}
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
