package model_test

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/model"
)

func TestLinks(t *testing.T) {
	tests := []struct {
		name, html string
		want       []string
	}{
		{"none", `<p>Hello</p>`, nil},
		{"double quotes", `<a href="https://x.example/a?b=1&amp;c=2">x</a>`, []string{"https://x.example/a?b=1&c=2"}},
		{"single quotes", `<a href='https://x.example/"a"'>x</a>`, []string{`https://x.example/"a"`}},
		{"no quotes", `<a href=https://x.example/a?b='c'>x</a>`, []string{"https://x.example/a?b='c'"}},
		{"capitals and spaces", "<A\n CLASS=x\n HREF = \"https://x.example/up\" >x</A>", []string{"https://x.example/up"}},
		{"several", `<a href="x:1">1</a><p><a class='b' href='x:2'/><a href=x:3>`, []string{"x:1", "x:2", "x:3"}},
		{"the first of two targets", `<a href="x:1" href="x:2">`, []string{"x:1"}},
		{"slashes between attributes", `<a/class="b"/href="x:1">`, []string{"x:1"}},
		{"a resource", `<link href="style.css"><base href="x:1"><abbr href="x:2">`, nil},
		{"another attribute", `<a data-href="nope" hrefx="nope" title="href=nope" name=href>`, nil},
		{"a link in an attribute", `<a href="x:1" title="<a href='nope'>">`, []string{"x:1"}},
		{"an end tag", `<a href="x:1"></a href="nope">`, []string{"x:1"}},
		{"after the tag", `<a name="top"> href="nope"`, nil},
		{"a comment", `<!-- <a href="nope"> --><a href="x:1"><!-- <a href="nope">`, []string{"x:1"}},
		{"a script", `<script>"<a href='nope'>"</script><textarea><a href="nope"></textarea><a href="x:1">`, []string{"x:1"}},
		{"no target", `<a href><a href=""><a href= ><a href="x:1">`, []string{"x:1"}},
		{"an open quote", `<a href="x:1">x</a><a href="nope`, []string{"x:1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, (model.Message{HTML: tt.html}).Links())
		})
	}
}

// The links of the text part follow the links of the HTML part, without duplicates.
func TestLinksInText(t *testing.T) {
	for text, want := range map[string][]string{
		"Pay at https://x.example/pay?a=1&b=2.":                              {"https://x.example/pay?a=1&b=2"},
		"<HTTP://x.example/a> (http://x.example/b).":                         {"HTTP://x.example/a", "http://x.example/b"},
		"https://x.example/Ada_(name), \"https://x.example\"":                {"https://x.example/Ada_(name)", "https://x.example"},
		"https://x.example/\u05d0/#top\r\nhttps://x.example/\u05d0/#top\r\n": {"https://x.example/\u05d0/#top"},
		"xhttps://x.example https:// mailto:ada@x.example":                   nil,
		"(see https://x.example/a.)":                                         {"https://x.example/a"},
	} {
		assert.Equal(t, want, model.Message{Text: text}.Links(), text)
	}
	both := model.Message{HTML: `<a href="https://x.example/b">b</a>`, Text: "https://x.example/a https://x.example/b"}
	assert.Equal(t, []string{"https://x.example/b", "https://x.example/a"}, both.Links())
}

// FuzzLinks: escaped text is not a link and does not hide a link.
func FuzzLinks(f *testing.F) {
	for _, text := range []string{"", "https://x.example/?a=1&b=2", `<a href="x">`, `'"><!--`, "\x00\n="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_ = model.Message{HTML: text}.Links() // must not panic
		escaped := html.EscapeString(text)
		m := model.Message{HTML: "<p>" + escaped + `<a title="` + escaped + `" HREF='x:` + escaped + `'>`}
		unbroken := strings.NewReplacer("\x00", "\ufffd", "\t", "", "\n", "", "\r", "") // as in the HTML and URL specifications
		want := unbroken.Replace(strings.Trim("x:"+text, " \t\n\f\r"))
		assert.Equal(t, []string{want}, m.Links(), m.HTML)
	})
}

// This example uses a type of this package for the result of a mock server's method.
func Example() {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	report := func(sent []model.Message) { fmt.Println(len(sent), "messages") }
	report(srv.Outbox())
	// Output: 0 messages
}
