// Package markup finds links in HTML.
package markup

import (
	"html"
	"regexp"
	"strings"
)

var (
	// linkStart matches the beginning of a link, or a comment. A comment without
	// an end extends to the end of the text.
	linkStart = regexp.MustCompile(`(?is)<!--.*?(?:-->|\z)|<a[\s/]`)
	// tagAttribute matches the next attribute of a tag: its name, and its value in
	// double quotes, in single quotes or without quotes.
	tagAttribute = regexp.MustCompile(`^[\s/]*([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?`)
)

// Targets returns the target of each link, even if the target is empty.
func Targets(markup string) []string {
	var links []string
	for rest := markup; ; {
		at := linkStart.FindStringIndex(rest)
		if at == nil {
			return links
		}
		comment := strings.HasPrefix(rest[at[0]:], "<!")
		rest = rest[at[1]:]
		if comment {
			continue
		}
		var target string
		var link bool // false for an element without href
		if target, link, rest = linkTarget(rest); link {
			links = append(links, target)
		}
	}
}

// Like browsers, linkTarget uses the first of several attributes with the same
// name.
func linkTarget(attributes string) (target string, link bool, rest string) {
	for rest = attributes; ; {
		part := tagAttribute.FindStringSubmatch(rest)
		if part == nil {
			return target, link, rest
		}
		rest = rest[len(part[0]):]
		if target == "" && strings.EqualFold(part[1], "href") {
			link = true
			target = html.UnescapeString(part[2] + part[3] + part[4])
		}
	}
}
