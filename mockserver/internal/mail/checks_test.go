package mail

import (
	"fmt"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver/record"
)

func TestCheck(t *testing.T) {
	link := func(target string) record.Message {
		return record.Message{Text: "x", HTML: `<a class="b" href="` + target + `">go</a><p id="there">`}
	}
	unsubscribe := []record.Header{{Name: "list-unsubscribe", Value: "<https://shop.example/u>"}}
	for name, row := range map[string]struct {
		m    record.Message
		want string
	}{
		"nothing":                  {record.Message{}, ""},
		"text alone":               {record.Message{Text: "Hello"}, ""},
		"a good link":              {link("https://shop.example/?a=1&amp;b=2#c"), ""},
		"an address":               {link("mailto:ada@example.org?subject=x"), ""},
		"an address in the query":  {link("mailto:?to=ada@example.org"), ""},
		"an address, escaped":      {link("mailto:ada%40example.org"), ""},
		"the top":                  {link("#Top"), ""},
		"a telephone":              {link("tel:+33123"), ""},
		"a place":                  {link("#there"), ""},
		"a link without a target":  {record.Message{Text: "x", HTML: `<a name="top">x</a>`}, ""},
		"a comment":                {record.Message{Text: "x", HTML: `<!-- <a href="#"> <img src=x> -->`}, ""},
		"an empty link":            {link(""), "dead_link is empty"},
		"a hash":                   {link("#"), "dead_link is empty"},
		"no such place":            {link("#nowhere"), "dead_link names no place"},
		"a relative link":          {link("/shop"), "dead_link has no scheme"},
		"a host without scheme":    {link("//shop.example"), "dead_link has no scheme"},
		"a script":                 {link("JavaScript:alert(1)"), "dead_link is a script"},
		"no host":                  {link("https:///x"), "dead_link has no host"},
		"no address":               {link("mailto:"), "dead_link has no address"},
		"no URL":                   {link("https://[x"), "dead_link is no URL"},
		"HTML alone":               {record.Message{HTML: "<p>", Text: " \n"}, "no_text"},
		"marketing":                {record.Message{Text: "x", Type: "marketing"}, "no_unsubscribe"},
		"a campaign":               {record.Message{Text: "x", SentBy: "campaign"}, "no_unsubscribe"},
		"a workflow":               {record.Message{Text: "x", SentBy: "workflow"}, "no_unsubscribe"},
		"a confirmation":           {record.Message{Text: "x", SentBy: "workflow", Confirmation: true}, ""},
		"transactional":            {record.Message{Text: "x", Type: "transactional", SentBy: "email_api"}, ""},
		"with the header":          {record.Message{Text: "x", SentBy: "campaign", Headers: unsubscribe}, ""},
		"102 kB":                   {record.Message{Text: "x", HTML: strings.Repeat("x", 102_000)}, ""},
		"a byte more":              {record.Message{Text: "x", HTML: strings.Repeat("x", 102_001)}, "clipped 102 kB"},
		"a picture without a text": {record.Message{Text: "x", HTML: `<img src="a>b.png">`}, "no_alt A picture"},
		"two of them":              {record.Message{Text: "x", HTML: `<img src=a><IMG src=b><img alt src=c>`}, "no_alt 2 pictures"},
	} {
		found := Check(row.m)
		check, text, _ := strings.Cut(row.want, " ")
		switch {
		case row.want == "" && len(found) > 0, row.want != "" && len(found) != 1:
			t.Errorf("%s: %v", name, found)
		case row.want != "" && (found[0].Check != check || !strings.Contains(found[0].Text, text)):
			t.Errorf("%s: %v, want %s", name, found, row.want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("", "<a href=#0\xf70")
	f.Add("{{a}}", `<a href="#(">x</a><img>`)
	f.Fuzz(func(t *testing.T, text, html string) {
		for _, found := range Check(record.Message{Text: text, HTML: html}) {
			if found.Check == "" || !strings.HasSuffix(found.Text, ".") {
				t.Errorf("%+v", found)
			}
		}
	})
}

// A table of contents is checked in no time, however long it is: the places that its
// links name are looked for once.
func TestCheckOfManyPlaces(t *testing.T) {
	var contents strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&contents, `<a href="#p%d">x</a><p id="p%d">y</p>`, i, i/2*2)
	}
	if found := Check(record.Message{HTML: contents.String(), Text: "x"}); len(found) != 1000 {
		t.Errorf("%d links lead nowhere, want every other one", len(found))
	}
}
