package mail

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/net/html"
)

func TestMerge(t *testing.T) {
	value := func(name string) string {
		return map[string]string{"name": "Ada", "markup": `<b>&"`, "nested": "{{name}}", "first name": "A"}[name]
	}
	for _, row := range []struct{ in, text, html string }{
		{"", "", ""},
		{"Hello", "Hello", "Hello"},
		{"Hello {{name}}!", "Hello Ada!", "Hello Ada!"},
		{"{{name}}{{name}}", "AdaAda", "AdaAda"},
		{"{{ name }}", "Ada", "Ada"},
		{"{{first name}}", "A", "A"},
		{"{{unknown}}.", ".", "."},
		{"{{}}", "", ""},
		{"{{name", "{{name", "{{name"},
		{"name}} {name}", "name}} {name}", "name}} {name}"},
		{"{{markup}}", `<b>&"`, "&lt;b&gt;&amp;&#34;"},
		{"<i>{{nested}}</i>", "<i>{{name}}</i>", "<i>{{name}}</i>"},
	} {
		assert.Equal(t, row.text, MergeText(row.in, value), "text of %q", row.in)
		assert.Equal(t, row.html, MergeHTML(row.in, value), "HTML of %q", row.in)
	}
	assert.Equal(t, "ab", MergeHTML("a{{name}}b", nil), "a preview")
}

// A short content with repeated tags cannot exhaust the memory.
func TestMergeLimit(t *testing.T) {
	value := strings.Repeat("v", 1<<20)
	got := MergeText(strings.Repeat("{{a}}", 1000), func(string) string { return value })
	assert.Len(t, got, maxMerged+len(value)+len(cutOff))
	assert.True(t, strings.HasSuffix(got, cutOff))
}

func FuzzMerge(f *testing.F) {
	for _, s := range []string{"", "{{a}}", "{{{{a}}}}", "}}{{", "{{a}}b{{c", "{{ a }} {{\n}}"} {
		f.Add(s, "<v>\r")
	}
	f.Fuzz(func(t *testing.T, s, v string) {
		// Merging a value is the same as merging a marker and replacing the marker with the value.
		const marker = "\x00"
		if strings.Contains(s, marker) {
			t.Skip()
		}
		marked := MergeText(s, func(string) string { return marker })
		assert.Equal(t, strings.ReplaceAll(marked, marker, v), MergeText(s, func(string) string { return v }), "text of %q with %q", s, v)
		escaped := strings.ReplaceAll(marked, marker, html.EscapeString(v))
		assert.Equal(t, escaped, MergeHTML(s, func(string) string { return v }), "HTML of %q with %q", s, v)
	})
}
