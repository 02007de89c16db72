// Package markup reads the HTML of messages.
package markup

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
)

// Tokens yields the tags and texts of HTML as an email client reads it, with decoded
// character references and lower-case names of elements and attributes. It reads the
// content of noscript elements, because email clients run no scripts. It omits the
// content of template elements, because they never show it.
func Tokens(markup string) iter.Seq[html.Token] {
	return func(yield func(html.Token) bool) {
		tokens := html.NewTokenizer(strings.NewReader(markup))
		templates := 0
		for tokens.Next() != html.ErrorToken {
			token := tokens.Token()
			end := token.Type == html.EndTagToken
			start := token.Type == html.StartTagToken || token.Type == html.SelfClosingTagToken // browsers ignore the slash
			switch {
			case start && token.Data == "noscript":
				tokens.NextIsNotRawText()
			case start && token.Data == "template":
				templates++
				continue
			case end && token.Data == "template":
				templates = max(0, templates-1)
				continue
			case end:
				token.Attr = nil // browsers ignore the attributes of end tags
			}
			if templates == 0 && !yield(token) {
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
			return strings.ReplaceAll(a.Val, "\x00", "\ufffd"), true // as in the HTML specification
		}
	}
	return "", false
}

// Targets returns the target of each link and each area of an image map, even if the
// target is empty. Like browsers, it removes spaces around a target and line breaks in it.
func Targets(markup string) (targets []string) {
	unbroken := strings.NewReplacer("\t", "", "\n", "", "\r", "")
	for tag := range Tokens(markup) {
		if target, ok := Attribute(tag, "href"); ok && (tag.Data == "a" || tag.Data == "area") {
			targets = append(targets, unbroken.Replace(strings.Trim(target, " \t\n\f\r")))
		}
	}
	return targets
}
