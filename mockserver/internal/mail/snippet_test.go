package mail

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestSnippet(t *testing.T) {
	value := func(name string) string {
		return map[string]string{"name": "Ada", "long": strings.Repeat("x", 300)}[name]
	}
	for _, row := range []struct{ name, text, html, want string }{
		{"nothing", "", "", ""},
		{"text", "Hello,\r\n\r\n  your order ", "<p>no</p>", "Hello, your order"},
		{"blank text", " \n", "<p>HTML</p>", "HTML"},
		{"merge tags", "Hello {{name}}!", "", "Hello Ada!"},
		{"a value that is long", "{{long}}", "", strings.Repeat("x", 140) + "…"},
		{"a tag that is cut", strings.Repeat("a ", 499) + "{{name}}", "", strings.Repeat("a ", 70) + "…"},
		{"a tag that does not end", "Hello {{name", "", "Hello"},
		{
			"HTML", "", `<!doctype html><html><head><title>T</title><style>p { color: red }</style></head><body><!-- <p>c</p> -->` +
				`<h1>Your order</h1><p class="a">is&nbsp;on &lt;its&gt; way, {{name}}</p><script>alert(1)</script>`,
			"Your order is on <its> way, Ada",
		},
		{"what does not end", "", "Hello<style>p {", "Hello"},
		{"a comment that does not end", "", "Hello<!-- p", "Hello"},
		{"a tag that does not end", "", "Hello<p class", "Hello"},
		{"a head that does not end", "", "<head><meta charset=utf-8>Hello", "Hello"},
		{"the end of another element", "", "<STYLE>p {}</title>q {}</Style >Hello<script", "Hello"},
		{"a start tag with a slash", "", "<style/>p {}</style><script/>q()</script>Hello", "Hello"},
		{"within a word", "", "Hel<style>p {}</style>l<!-- p -->o", "Hello"},
		{"elements with longer names", "", "<header>Hello</header><title-x>Ada</title-x>", "Hello Ada"},
		{"parts of a word", "", "739-<b>204</b><td>A<i>d</i>a</td>", "739-204 Ada"},
		{"for clients without scripts", "", "<noscript><p>Hello</p></noscript>", "Hello"},
		{"templates", "", "<template><template>a</template>b</template>Hello</template>", "Hello"},
		{"signs", "", "1 < 2 <3", "1 < 2 <3"},
		{"letters of many bytes", strings.Repeat("é", 141), "", strings.Repeat("é", 140) + "…"},
		{"cut within a letter", "x" + strings.Repeat("é", 999), "", "x" + strings.Repeat("é", 139) + "…"},
	} {
		assert.Equal(t, row.want, Snippet(row.text, row.html, value), row.name)
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("", "<p>a</p><style>x")
	f.Add("{{a}}", "")
	f.Add("", "<<!--<!-->")
	f.Fuzz(func(t *testing.T, text, markup string) {
		got := Snippet(text, markup, func(string) string { return "value" })
		if n := utf8.RuneCountInString(got); n > snippetLength+1 || !utf8.ValidString(got) || strings.ContainsAny(got, "\r\n\t") {
			t.Errorf("%d characters: %q", n, got)
		}
	})
}
