// Package markup reads the parts of HTML that the mock server needs.
package markup

import (
	"html"
	"regexp"
	"strings"
)

var (
	// linkStart is where a link may begin. In a comment there is none; one that
	// does not end is as long as the text.
	linkStart = regexp.MustCompile(`(?is)<!--.*?(?:-->|\z)|<a[\s/]`)
	// tagAttribute is the next attribute of a tag: its name, and its value in
	// double quotes, in single ones or in none.
	tagAttribute = regexp.MustCompile(`^[\s/]*([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?`)
)

// Targets returns the targets of all links, including empty ones.
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
		var link bool // or the target of one
		if target, link, rest = linkTarget(rest); link {
			links = append(links, target)
		}
	}
}

// linkTarget reads the attributes of a link. Of several targets browsers follow
// the first.
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
