// Package markup reads the HTML of messages.
package markup

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
)

// Tokens yields the tags and texts of HTML, with decoded character references. Names of
// elements and attributes are in lower case.
func Tokens(markup string) iter.Seq[html.Token] {
	return func(yield func(html.Token) bool) {
		tokens := html.NewTokenizer(strings.NewReader(markup))
		for tokens.Next() != html.ErrorToken {
			token := tokens.Token()
			if token.Type == html.EndTagToken {
				token.Attr = nil // browsers ignore the attributes of end tags
			}
			if !yield(token) {
				return
			}
		}
	}
}

// Attribute returns the value of an attribute of a tag. Like browsers, it uses the first
// of several attributes with the same name.
func Attribute(tag html.Token, name string) (value string, ok bool) {
	for _, a := range tag.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// Targets returns the target of each link, even if the target is empty.
func Targets(markup string) (targets []string) {
	for tag := range Tokens(markup) {
		if target, ok := Attribute(tag, "href"); ok && tag.Data == "a" {
			targets = append(targets, target)
		}
	}
	return targets
}
