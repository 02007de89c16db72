package mail

import (
	_ "embed"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"
)

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
	openTag     = regexp.MustCompile(`(?s)<([a-zA-Z][a-zA-Z0-9]*)((?:"[^"]*"|'[^']*'|[^'">])*)>`)
	attribute   = regexp.MustCompile(`(?s)([a-zA-Z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?`)
	styleSheet  = regexp.MustCompile(`(?is)<style\b[^>]*>(.*?)</style`)
	cssComment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	block       = regexp.MustCompile(`([^{}]*)\{([^{}]*)\}`)
	declaration = regexp.MustCompile(`([a-z-]+)\s*:\s*([^;]*)`)
	function    = regexp.MustCompile(`([a-z-]+)\(`)
	pseudo      = regexp.MustCompile(`::?[a-z-]+`)
	atRule      = regexp.MustCompile(`@[a-z-]+`)
)

// features maps an email client's letter to the HTML and CSS features in a message that
// the client does not support.
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

func (f features) markup(markup string) {
	for _, tag := range openTag.FindAllStringSubmatch(markup, -1) {
		f.use("element", strings.ToLower(tag[1]))
		for _, a := range attribute.FindAllStringSubmatch(tag[2], -1) {
			name := strings.ToLower(a[1])
			if f.use("attribute", name); name == "style" {
				f.declarations(strings.ToLower(html.UnescapeString(a[2] + a[3] + a[4])))
			}
		}
	}
}

// notSupported returns a finding for each common email client that does not
// support all HTML and CSS in a message.
func notSupported(markup string) (found []Finding) {
	const most = 8 // maximum number of names in a finding
	markup = comment.ReplaceAllString(markup, "")
	used := features{}
	used.markup(markup)
	for _, sheet := range styleSheet.FindAllStringSubmatch(markup, -1) {
		used.styleSheet(cssComment.ReplaceAllString(strings.ToLower(sheet[1]), ""))
	}
	for _, client := range mailClients {
		names, more := used[client.letter], ""
		if len(names) > most {
			more = fmt.Sprintf(" and %d more", len(names)-most)
			names = names[:most]
		}
		if len(names) > 0 {
			found = append(found, Finding{"not_supported", fmt.Sprintf("%s does not support %s%s.", client.name, strings.Join(names, ", "), more)})
		}
	}
	return found
}
