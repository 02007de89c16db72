package mail

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/model"
)

func TestCheck(t *testing.T) {
	link := func(target string) model.Message {
		return model.Message{Text: "x", HTML: `<a class="b" href="` + target + `">go</a><p id="there">`}
	}
	image := func(source string) model.Message {
		return model.Message{Text: "x", HTML: `<img alt src="` + source + `">`}
	}
	header := func(name, value string) model.Message {
		return model.Message{Text: "x", Headers: []model.Header{{Name: name, Value: value}}}
	}
	unsubscribe := []model.Header{{Name: "list-unsubscribe", Value: "<https://shop.example/u>"}}
	for name, row := range map[string]struct {
		m    model.Message
		want string
	}{
		"nothing":                  {model.Message{}, ""},
		"text alone":               {model.Message{Text: "Hello"}, ""},
		"a good link":              {link("https://shop.example/?a=1&amp;b=2#c"), ""},
		"an address":               {link("mailto:ada@example.org?subject=x"), ""},
		"an address in the query":  {link("mailto:?to=ada@example.org"), ""},
		"an address, escaped":      {link("mailto:ada%40example.org"), ""},
		"the top":                  {link("#Top"), ""},
		"a telephone":              {link("tel:+33123"), ""},
		"a place":                  {link("#there"), ""},
		"a link without a target":  {model.Message{Text: "x", HTML: `<a name="top">x</a>`}, ""},
		"a comment":                {model.Message{Text: "x", HTML: `<!-- <a href="#"> <img src=x> -->`}, ""},
		"an empty link":            {link(""), "dead_link is empty"},
		"a hash":                   {link("#"), "dead_link is empty"},
		"no such place":            {link("#nowhere"), "dead_link matches no anchor"},
		"a relative link":          {link("/shop"), "dead_link has no scheme"},
		"a host without scheme":    {link("//shop.example"), "dead_link has no scheme"},
		"a script":                 {link("JavaScript:alert(1)"), "dead_link is a script"},
		"no host":                  {link("https:///x"), "dead_link has no host"},
		"no address":               {link("mailto:"), "dead_link has no address"},
		"no address, but an @":     {link("mailto:?subject=a@b.example"), "dead_link has no address"},
		"no URL":                   {link("https://[x"), "dead_link is not a URL"},
		"a link to an attachment":  {link("cid:terms"), "dead_link refers to an attachment"},
		"an attached image":        {image("CID:logo@shop.example"), "dead_image refers to an attachment"},
		"a relative image":         {image("img/logo.png"), "dead_image has no scheme"},
		"an image without scheme":  {image("//shop.example/logo.png"), "dead_image has no scheme"},
		"an image without source":  {image(" "), "dead_image is empty"},
		"a good image":             {image("https://shop.example/logo.png"), ""},
		"an embedded image":        {image("Data:image/svg+xml,<svg fill='#fff' width='100%'>"), ""},
		"a background":             {model.Message{Text: "x", HTML: `<table><td background="bg.png">`}, "dead_image has no scheme"},
		"a background of a page":   {model.Message{Text: "x", HTML: `<body background=" cid:bg">`}, "dead_image refers to an attachment"},
		"a subject of two lines":   {header("Subject", "Hello\r\nBcc: eve@example.org"), "line_break The value of Subject"},
		"a carriage return":        {header("From", "\"Shop\r\" <shop@example.com>"), "line_break The value of From"},
		"a line feed":              {header("X-Order", "7\n8"), "line_break The value of X-Order"},
		"a tab":                    {header("Subject", "Hello\tAda"), ""},
		"HTML alone":               {model.Message{HTML: "<p>", Text: " \n"}, "no_text"},
		"marketing":                {model.Message{Text: "unsubscribe", Type: "marketing"}, "no_unsubscribe"},
		"a campaign":               {model.Message{Text: "unsubscribe", SentBy: "campaign"}, "no_unsubscribe"},
		"a workflow":               {model.Message{Text: "unsubscribe", SentBy: "workflow"}, "no_unsubscribe"},
		"a confirmation":           {model.Message{Text: "x", SentBy: "workflow", Confirmation: true}, ""},
		"transactional":            {model.Message{Text: "x", Type: "transactional", SentBy: "email_api"}, ""},
		"with the header":          {model.Message{Text: "unsubscribe", SentBy: "campaign", Headers: unsubscribe}, ""},
		"no link to unsubscribe":   {model.Message{Text: "x", SentBy: "campaign", Headers: unsubscribe}, "no_unsubscribe_link {{unsubscribe_url}}"},
		"a link to unsubscribe":    {model.Message{Text: "x", HTML: `<a href="https://shop.example/Unsubscribe">x</a>`, SentBy: "campaign", Headers: unsubscribe}, ""},
		"a property":               {model.Message{Text: "x", HTML: `<p style="color: red; Border-Radius: 2px">`}, "not_supported Outlook for Windows does not support border-radius."},
		"a value":                  {model.Message{Text: "x", HTML: `<p style='display:flex'>`}, "not_supported display:flex"},
		"a function":               {model.Message{Text: "x", HTML: `<style>/* z-index: 1 */ p { color: rgba(0, 0, 0, .5) } </style>`}, "not_supported rgba()"},
		"a rule":                   {model.Message{Text: "x", HTML: `<style>@media print { p { color: red } }</style>`}, "not_supported @media"},
		"a pseudo-class":           {model.Message{Text: "x", HTML: `<style>a:link { color: red }</style>`}, "not_supported Gmail does not support :link."},
		"an element":               {model.Message{Text: "x", HTML: `<FORM action="https://shop.example/">`}, "not_supported <form>"},
		"a property that is text":  {model.Message{Text: "x", HTML: `<p>border-radius: 1px</p><!-- <form> -->`}, ""},
		"102 kB":                   {model.Message{Text: "x", HTML: strings.Repeat("x", 102_000)}, ""},
		"a byte more":              {model.Message{Text: "x", HTML: strings.Repeat("x", 102_001)}, "clipped 102 kB"},
		"a picture without a text": {model.Message{Text: "x", HTML: `<img src="https://x.example/a>b.png">`}, "no_alt An image"},
		"two of them":              {model.Message{Text: "x", HTML: `<img src=x:a><IMG src=x:b><img alt src=x:c>`}, "no_alt 2 images"},
	} {
		found := Check(row.m, Tags{})
		check, text, _ := strings.Cut(row.want, " ")
		switch {
		case row.want == "" && len(found) > 0, row.want != "" && len(found) != 1:
			t.Errorf("%s: %v", name, found)
		case row.want != "" && (found[0].Check != check || !strings.Contains(found[0].Text, text)):
			t.Errorf("%s: %v, want %s", name, found, row.want)
		}
	}
}

// TestCheckNames: the documentation of model.Finding lists exactly the names of all checks.
func TestCheckNames(t *testing.T) {
	source, err := os.ReadFile("checks.go")
	require.NoError(t, err)
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:Check: |report\(.*?)"([a-z_]+)"`).FindAllSubmatch(source, -1) {
		names[string(m[1])] = true
	}
	field, _ := reflect.TypeFor[model.Finding]().FieldByName("Check")
	_, list, _ := strings.Cut(field.Tag.Get("doc"), ": ")
	assert.ElementsMatch(t, slices.Collect(maps.Keys(names)), strings.Split(strings.Replace(list, " or ", ", ", 1), ", "))
}

// The check reports each merge tag without a value, and suggests a similar name.
func TestCheckOfMergeTags(t *testing.T) {
	values := map[string]string{"name": "Ada", "city": "", "with love": "", "unsubscribe_url": "https://shop.example/u"}
	for content, want := range map[string]string{
		"":                    "",
		"{{name}} {{ name }}": "",
		"Hi {{nam}}, {{nam}}": "The merge tag {{nam}} is empty for this recipient. Did you mean {{name}}?",
		"{{city}}":            "The merge tag {{city}} is empty for this recipient.",
		"{{order}}":           "The merge tag {{order}} is empty for this recipient.",
		"{{# if vip}}{{#if vip}}A{{else}}B{{/if}}": "The specification has no conditions and no loops. The tags {{# if vip}}, {{#if vip}}, {{else}}, {{/if}} become empty, so the recipient gets all branches.",
		"{{if .Vip}}{{end}}{{^vip}}":               "The specification has no conditions and no loops. The tags {{if .Vip}}, {{end}}, {{^vip}} become empty, so the recipient gets all branches.",
		"{{each item}}{{end date}}":                "The merge tag {{end date}} is empty for this recipient.\nThe specification has no conditions and no loops. The tags {{each item}} become empty, so the recipient gets all branches.",
		"{{with love}}":                            "The merge tag {{with love}} is empty for this recipient.", // a custom field
		`<a href="{{unsubscribe}}">`:               "The merge tag {{unsubscribe}} is empty for this recipient. Did you mean {{unsubscribe_url}}?",
	} {
		tags := Tags{Content: content, Value: func(name string) string { return values[name] }, Known: slices.Sorted(maps.Keys(values))}
		unsubscribe := model.Message{Text: "x", Type: "marketing", Headers: []model.Header{{Name: "List-Unsubscribe"}}}
		var texts []string
		for _, f := range Check(unsubscribe, tags) {
			if f.Check == "empty_tag" || f.Check == "block_tag" {
				texts = append(texts, f.Text)
			} else if strings.Contains(content, "unsubscribe") {
				t.Errorf("%q: %v, but the tag is only misspelled", content, f)
			}
		}
		assert.Equal(t, want, strings.Join(texts, "\n"), "%q", content)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("", "<a href=#0\xf70")
	f.Add("{{a}}", `<a href="#(">x</a><img>`)
	f.Fuzz(func(t *testing.T, text, html string) {
		for _, found := range Check(model.Message{Text: text, HTML: html}, Tags{Content: text + html, Value: strings.ToLower, Known: []string{text}}) {
			if found.Check == "" || !strings.HasSuffix(found.Text, ".") {
				t.Errorf("%+v", found)
			}
		}
	})
}

// Each link without an anchor is reported, even in a table of contents with 2,000 links.
func TestCheckManyAnchors(t *testing.T) {
	var contents strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&contents, `<a href="#p%d">x</a><p id="p%d">y</p>`, i, i/2*2)
	}
	assert.Len(t, Check(model.Message{HTML: contents.String(), Text: "x"}, Tags{}), 1000, "every second link has no target")
}
