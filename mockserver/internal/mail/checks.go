package mail

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"example.com/emailplatform/mockserver/internal/markup"
	"example.com/emailplatform/mockserver/internal/suggest"
	"example.com/emailplatform/mockserver/record"
)

// clipped is the maximum number of bytes in the HTML of a message that mailbox
// providers show completely. They truncate longer HTML and show a link to the rest.
const clipped = 102_000

// Finding is a probable problem in a message.
type Finding struct {
	Check string `json:"check" doc:"the name of the check: empty_tag, dead_link, no_text, no_unsubscribe, no_unsubscribe_link, clipped, no_alt or not_supported"`
	Text  string `json:"text" doc:"a description of the problem"`
}

// Check returns probable problems in a message:
//   - merge tags without a value
//   - links without a valid target
//   - no text part
//   - marketing email without a List-Unsubscribe header or an unsubscribe link
//   - HTML that will be truncated
//   - images without alternative text
//   - HTML and CSS that common email clients do not support
func Check(m record.Message, tags Tags) []Finding {
	found := append([]Finding{}, tags.empty()...)
	found = append(found, deadLinks(m)...)
	found = append(found, noText(m)...)
	found = append(found, noUnsubscribe(m)...)
	found = append(found, noUnsubscribeLink(m, tags)...)
	found = append(found, tooLarge(m)...)
	found = append(found, noAlternative(m)...)
	return append(found, notSupported(m.HTML)...)
}

func deadLinks(m record.Message) (found []Finding) {
	targets := markup.Targets(m.HTML)
	slices.Sort(targets)
	places := sync.OnceValue(func() map[string]bool { return placesIn(m.HTML) })
	for _, target := range slices.Compact(targets) {
		if why := leadsNowhere(target, places); why != "" {
			found = append(found, Finding{"dead_link", fmt.Sprintf("A link has the invalid target %q, which %s.", target, why)})
		}
	}
	return found
}

// leadsNowhere returns the reason why a mail program cannot follow a link, or "" if it
// can. The function places() returns the anchors in the message.
func leadsNowhere(target string, places func() map[string]bool) string {
	to, err := url.Parse(strings.TrimSpace(target))
	switch {
	case err != nil:
		return "is not a URL"
	case *to == url.URL{}:
		return "is empty"
	case to.Scheme == "" && to.Host == "" && to.Path == "" && to.RawQuery == "":
		if !places()[to.Fragment] && !strings.EqualFold(to.Fragment, "top") { // the top always exists
			return "matches no anchor in the message"
		}
	case to.Scheme == "":
		return "has no scheme; relative links do not work in messages"
	case strings.EqualFold(to.Scheme, "javascript"):
		return "is a script; mail programs do not run scripts"
	case (to.Scheme == "http" || to.Scheme == "https") && to.Hostname() == "":
		return "has no host"
	case to.Scheme == "mailto" && !strings.Contains(plain(to.Opaque), "@") && !strings.Contains(to.RawQuery, "to="):
		return "has no address"
	}
	return ""
}

// plain returns the unescaped form of a URL part.
func plain(part string) string {
	out, err := url.PathUnescape(part)
	if err != nil {
		return part
	}
	return out
}

// place matches an attribute that defines an anchor.
var place = regexp.MustCompile(`(?i)\s(?:id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`)

func placesIn(markup string) map[string]bool {
	names := map[string]bool{}
	for _, found := range place.FindAllStringSubmatch(markup, -1) {
		names[html.UnescapeString(found[1]+found[2]+found[3])] = true
	}
	return names
}

func noText(m record.Message) []Finding {
	if m.HTML == "" || strings.TrimSpace(m.Text) != "" {
		return nil
	}
	return []Finding{{"no_text", "There is no text part. Some recipients read only text, and spam filters expect a text part."}}
}

// noUnsubscribe checks marketing email against RFC 8058, which large mailbox
// providers require.
func noUnsubscribe(m record.Message) []Finding {
	if !marketing(m) || hasHeader(m, "List-Unsubscribe") {
		return nil
	}
	return []Finding{{"no_unsubscribe", "There is no List-Unsubscribe header, which mailbox providers require for marketing."}}
}

func marketing(m record.Message) bool {
	return m.Type == "marketing" || m.SentBy == "campaign" || m.SentBy == "workflow" && !m.Confirmation
}

// noUnsubscribeLink returns a finding for marketing email without an unsubscribe link.
// The link can be a merge tag or the sender's own link. A misspelled unsubscribe tag
// counts as a link, because the check empty_tag already reports the misspelling.
func noUnsubscribeLink(m record.Message, tags Tags) []Finding {
	links := []string{"unsubscribe_url", "global_unsubscribe_url"}
	tagged := slices.ContainsFunc(tags.names(), func(name string) bool { return suggest.Closest(name, links) != "" })
	own := func(part string) bool { return strings.Contains(strings.ToLower(part), "unsubscribe") }
	if !marketing(m) || tagged || own(m.Text) || slices.ContainsFunc(markup.Targets(m.HTML), own) {
		return nil
	}
	return []Finding{{"no_unsubscribe_link", "The message has no link to unsubscribe: add the merge tag {{unsubscribe_url}}."}}
}

func hasHeader(m record.Message, name string) bool {
	return slices.ContainsFunc(m.Headers, func(h record.Header) bool { return strings.EqualFold(h.Name, name) })
}

func tooLarge(m record.Message) []Finding {
	if len(m.HTML) <= clipped {
		return nil
	}
	return []Finding{{"clipped", fmt.Sprintf("The HTML is %d kB. Some email clients cut it off after 102 kB.", len(m.HTML)/1000)}}
}

var (
	comment   = regexp.MustCompile(`(?s)<!--.*?-->`)
	picture   = regexp.MustCompile(`(?is)<img\b(?:"[^"]*"|'[^']*'|[^'">])*>`)
	alternate = regexp.MustCompile(`(?is)\salt\b`)
)

func noAlternative(m record.Message) []Finding {
	without := 0
	for _, img := range picture.FindAllString(comment.ReplaceAllString(m.HTML, ""), -1) {
		if !alternate.MatchString(img) {
			without++
		}
	}
	switch without {
	case 0:
		return nil
	case 1:
		return []Finding{{"no_alt", "An image has no alternative text in an alt attribute."}}
	}
	return []Finding{{"no_alt", fmt.Sprintf("%d images have no alternative text in an alt attribute.", without)}}
}
