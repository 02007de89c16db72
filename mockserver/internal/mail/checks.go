package mail

import (
	_ "embed"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"

	"example.com/emailplatform/mockserver/internal/markup"
	"example.com/emailplatform/mockserver/internal/suggest"
	"example.com/emailplatform/mockserver/model"
)

// clipped is the maximum size, in bytes, of HTML that mailbox providers show completely.
// If the HTML is longer, they truncate it and show a link to the rest.
const clipped = 102_000

// Check returns probable problems in a message.
func Check(m model.Message, tags Tags) []model.Finding {
	found := append([]model.Finding{}, tags.empty()...)
	found = append(found, invalidURLs(m.HTML)...)
	report := func(is bool, check, text string) {
		if is {
			found = append(found, model.Finding{Check: check, Text: text})
		}
	}
	for _, h := range m.Headers {
		report(strings.ContainsAny(h.Value, "\r\n"), "line_break",
			fmt.Sprintf("The value of %s has a line break, which can add a header field. The mock server replaces it with a space.", h.Name))
	}
	report(m.HTML != "" && strings.TrimSpace(m.Text) == "", "no_text",
		"The message has no text part. Some recipients read only text, and spam filters expect a text part.")
	listUnsubscribe := func(h model.Header) bool { return strings.EqualFold(h.Name, "List-Unsubscribe") } // RFC 8058
	report(marketing(m) && !slices.ContainsFunc(m.Headers, listUnsubscribe), "no_unsubscribe",
		"The message has no List-Unsubscribe header, which mailbox providers require for marketing email.")
	report(marketing(m) && !hasUnsubscribeLink(m, tags), "no_unsubscribe_link",
		"The message has no unsubscribe link. Add the merge tag {{unsubscribe_url}}.")
	report(len(m.HTML) > clipped, "clipped",
		fmt.Sprintf("The HTML is %d kB. Some email clients clip messages larger than 102 kB.", len(m.HTML)/1000))
	without := countWithoutAlternative(m.HTML)
	report(without == 1, "no_alt", "An image has no alternative text in an alt attribute.")
	report(without > 1, "no_alt", fmt.Sprintf("%d images have no alternative text in an alt attribute.", without))
	return append(found, notSupported(m.HTML)...)
}

func invalidURLs(document string) (found []model.Finding) {
	anchors := sync.OnceValue(func() map[string]bool { return anchorsIn(document) })
	report := func(check, format string, urls []string) {
		slices.Sort(urls)
		for _, u := range slices.Compact(urls) {
			if why := invalidLinkReason(u, anchors); why != "" {
				found = append(found, model.Finding{Check: check, Text: fmt.Sprintf(format, u, why)})
			}
		}
	}
	report("dead_link", "A link has the invalid target %q, which %s.", markup.Targets(document))
	embedded := func(u string) bool { return len(u) > 5 && strings.EqualFold(u[:5], "data:") } // can contain a % that a URL cannot
	report("dead_image", "An image has the invalid source %q, which %s.", slices.DeleteFunc(markup.Images(document), embedded))
	return found
}

// invalidLinkReason returns the reason why an email client cannot load a URL, or "" if it
// can. For a link such as "#prices", it calls anchors, which returns the anchors in the
// message.
func invalidLinkReason(link string, anchors func() map[string]bool) string {
	to, err := url.Parse(strings.TrimSpace(link))
	switch {
	case err != nil:
		return "is not a URL"
	case *to == url.URL{}:
		return "is empty"
	case to.Scheme == "" && to.Host == "" && to.Path == "" && to.RawQuery == "":
		if !anchors()[to.Fragment] && !strings.EqualFold(to.Fragment, "top") { // the top always exists
			return "matches no anchor in the message"
		}
	case to.Scheme == "":
		return "has no scheme; relative URLs do not work in messages"
	case to.Scheme == "cid":
		return "refers to an attachment; the message has no attachments"
	case strings.EqualFold(to.Scheme, "javascript"):
		return "is a script; email clients do not run scripts"
	case (to.Scheme == "http" || to.Scheme == "https") && to.Hostname() == "":
		return "has no host"
	case to.Scheme == "mailto" && !mailAddress.MatchString(to.Opaque) && !strings.Contains(to.RawQuery, "to="):
		return "has no address"
	}
	return ""
}

// mailAddress matches the path of a mailto URL with an address.
var mailAddress = regexp.MustCompile(`@|%40`)

func anchorsIn(document string) map[string]bool {
	names := map[string]bool{}
	for tag := range markup.Tokens(document) {
		for _, a := range tag.Attr {
			if a.Key == "id" || a.Key == "name" {
				names[a.Val] = true
			}
		}
	}
	return names
}

func marketing(m model.Message) bool {
	return m.Type == "marketing" || m.SentBy == "campaign" || m.SentBy == "workflow" && !m.Confirmation
}

// An unsubscribe link can be a merge tag or the sender's own link. A misspelled merge
// tag counts too, because the check empty_tag already reports the misspelling.
func hasUnsubscribeLink(m model.Message, tags Tags) bool {
	links := []string{"unsubscribe_url", "global_unsubscribe_url"}
	tagged := slices.ContainsFunc(tags.names(), func(name string) bool { return suggest.Closest(name, links) != "" })
	own := func(part string) bool { return strings.Contains(strings.ToLower(part), "unsubscribe") }
	return tagged || own(m.Text) || slices.ContainsFunc(markup.Targets(m.HTML), own)
}

func countWithoutAlternative(document string) (n int) {
	for tag := range markup.Tokens(document) {
		if _, ok := markup.Attribute(tag, "alt"); tag.Data == "img" && !ok {
			n++
		}
	}
	return n
}

// Tags are the merge tags of a message.
type Tags struct {
	Content string                   // all content with merge tags: subject, HTML and text
	Value   func(name string) string // the value of a tag for the recipient
	Known   []string                 // the names that can have a value
}

// names returns the first 100 tag names in the content, without duplicates.
func (t Tags) names() (names []string) {
	MergeText(t.Content, func(name string) string {
		if len(names) < 100 && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return ""
	})
	return names
}

// blockTag matches the tags of template languages that select or repeat content, such as
// {{#if vip}}, {{else}} and {{/if}}.
var blockTag = regexp.MustCompile(`^[#/^]|^(else|end|end ?if|end ?for)$|^(if|else ?if|elif|unless|for|each|range|with)\s`)

func (t Tags) empty() (found []model.Finding) {
	var blocks []string
	for _, name := range t.names() {
		if t.Value(name) != "" {
			continue
		}
		if blockTag.MatchString(name) && !slices.Contains(t.Known, name) {
			blocks = append(blocks, "{{"+name+"}}")
			continue
		}
		text := fmt.Sprintf("The merge tag {{%s}} is empty for this recipient.", name)
		if !slices.Contains(t.Known, name) {
			if right := suggest.Closest(name, t.Known); right != "" {
				text += fmt.Sprintf(" Did you mean {{%s}}?", right)
			}
		}
		found = append(found, model.Finding{Check: "empty_tag", Text: text})
	}
	if len(blocks) > 0 {
		found = append(found, model.Finding{Check: "block_tag", Text: fmt.Sprintf(
			"The specification has no conditions and no loops. The tags %s become empty, so the recipient gets all branches.",
			strings.Join(blocks, ", "))})
	}
	return found
}

//go:embed caniemail.tsv
var canIEmail string

// mailClients are the email clients in caniemail.tsv, with the letters that
// represent them.
var mailClients = []struct {
	letter rune
	name   string
}{{'G', "Gmail"}, {'O', "Outlook for Windows"}, {'W', "Outlook.com"}, {'A', "Apple Mail"}, {'Y', "Yahoo Mail"}}

// unsupported maps the kind and name of an HTML or CSS feature to the letters
// of the email clients that do not support it.
var unsupported = sync.OnceValue(func() map[[2]string]string {
	out := map[[2]string]string{}
	for line := range strings.Lines(canIEmail) {
		if cells := strings.Split(strings.TrimSpace(line), "\t"); len(cells) == 3 {
			for name := range strings.FieldsSeq(cells[2]) {
				out[[2]string{cells[0], name}] += cells[1]
			}
		}
	}
	return out
})

var (
	cssComment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	block       = regexp.MustCompile(`([^{}]*)\{([^{}]*)\}`)
	declaration = regexp.MustCompile(`([a-z-]+)\s*:\s*([^;]*)`)
	function    = regexp.MustCompile(`([a-z-]+)\(`)
	pseudo      = regexp.MustCompile(`::?[a-z-]+`)
	atRule      = regexp.MustCompile(`@[a-z-]+`)
)

// features contains the unsupported HTML and CSS features in a message, by the letter
// of the email client.
type features map[rune][]string

func (f features) use(kind, name string) {
	shown := name
	switch kind {
	case "element":
		shown = "<" + name + ">"
	case "function":
		shown = name + "()"
	}
	for _, letter := range unsupported()[[2]string{kind, name}] {
		if !slices.Contains(f[letter], shown) {
			f[letter] = append(f[letter], shown)
		}
	}
}

func (f features) declarations(css string) {
	for _, d := range declaration.FindAllStringSubmatch(css, -1) {
		value := strings.TrimSpace(d[2])
		f.use("property", d[1])
		f.use("value", d[1]+":"+value)
		for _, called := range function.FindAllStringSubmatch(value, -1) {
			f.use("function", called[1])
		}
	}
}

func (f features) styleSheet(css string) {
	for _, rule := range atRule.FindAllString(css, -1) {
		f.use("rule", rule)
	}
	for _, b := range block.FindAllStringSubmatch(css, -1) {
		for _, class := range pseudo.FindAllString(b[1], -1) {
			f.use("pseudo", class)
		}
		f.declarations(b[2])
	}
}

func (f features) document(document string) {
	style := false
	for token := range markup.Tokens(document) {
		if token.Type == html.TextToken {
			if style {
				f.styleSheet(cssComment.ReplaceAllString(strings.ToLower(token.Data), ""))
			}
			continue
		}
		style = token.Type == html.StartTagToken && token.Data == "style"
		if token.Type == html.StartTagToken || token.Type == html.SelfClosingTagToken {
			f.use("element", token.Data)
		}
		for _, a := range token.Attr {
			if f.use("attribute", a.Key); a.Key == "style" {
				f.declarations(strings.ToLower(a.Val))
			}
		}
	}
}

// notSupported returns a finding for each common email client that does not
// support all HTML and CSS in a message.
func notSupported(document string) (found []model.Finding) {
	const most = 8 // maximum number of names in a finding
	used := features{}
	used.document(document)
	for _, client := range mailClients {
		names, more := used[client.letter], ""
		if len(names) > most {
			more = fmt.Sprintf(" and %d more", len(names)-most)
			names = names[:most]
		}
		if len(names) > 0 {
			found = append(found, model.Finding{Check: "not_supported", Text: fmt.Sprintf("%s does not support %s%s.", client.name, strings.Join(names, ", "), more)})
		}
	}
	return found
}
