// Package markup finds the tags and the links in the HTML and text of messages.
package markup

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Tokens yields the tags and texts of HTML as an email client reads it, with decoded
// character references and lower-case names of elements and attributes. It reads the
// content of noscript elements, because email clients run no scripts. It skips the
// content of template elements, because email clients never display it.
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
func Targets(markup string) []string { return urls(markup, "href", "a", "area") }

// Images returns the URL of each image and each background image, even if the URL is empty.
func Images(markup string) []string {
	return append(urls(markup, "src", "img", "input"), urls(markup, "background", "body", "table", "tr", "td", "th")...)
}

// inText matches a URL in a text, and punctuation after it.
var inText = regexp.MustCompile(`(?i)\bhttps?://[^\s<>"]+`)

// URLs returns the HTTP URLs in a text. Like email clients, it omits punctuation after a
// URL, and a closing parenthesis that the URL does not open.
func URLs(text string) []string {
	found := inText.FindAllString(text, -1)
	for i, u := range found {
		const after = ".,;:!?'*_…»”’]}"
		u = strings.TrimRight(u, after)
		for surplus := strings.Count(u, ")") - strings.Count(u, "("); surplus > 0 && strings.HasSuffix(u, ")"); surplus-- {
			u = strings.TrimRight(u[:len(u)-1], after)
		}
		found[i] = u
	}
	return found
}

// Retarget returns HTML whose links open in a new tab, because the frame that shows an
// email must not show another site. Only links to a place in the email itself stay in the
// frame.
func Retarget(markup string) string {
	var out strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(markup))
	written, read := 0, 0
	for tokens.Next() != html.ErrorToken {
		start := read
		read += len(tokens.Raw())
		tag := tokens.Token()
		switch {
		case tag.Type == html.EndTagToken || tag.Type == html.TextToken:
		case tag.Data == "noscript":
			tokens.NextIsNotRawText()
		case tag.Data == "a" || tag.Data == "area":
			target := ` target="_blank"`
			if to, _ := Attribute(tag, "href"); strings.HasPrefix(strings.TrimSpace(to), "#") {
				target = ` target="_self"`
			}
			name := start + len("<") + len(tag.Data)
			out.WriteString(markup[written:name] + target) // browsers ignore a second target
			written = name
		}
	}
	return out.String() + markup[written:]
}

func urls(markup, attribute string, elements ...string) (found []string) {
	unbroken := strings.NewReplacer("\t", "", "\n", "", "\r", "")
	for tag := range Tokens(markup) {
		if value, ok := Attribute(tag, attribute); ok && slices.Contains(elements, tag.Data) {
			found = append(found, unbroken.Replace(strings.Trim(value, " \t\n\f\r")))
		}
	}
	return found
}
