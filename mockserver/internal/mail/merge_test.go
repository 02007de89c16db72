package mail

import (
	"html"
	"strings"
	"testing"
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
		if got := MergeText(row.in, value); got != row.text {
			t.Errorf("text of %q is %q, want %q", row.in, got, row.text)
		}
		if got := MergeHTML(row.in, value); got != row.html {
			t.Errorf("HTML of %q is %q, want %q", row.in, got, row.html)
		}
	}
	if got := MergeHTML("a{{name}}b", nil); got != "ab" {
		t.Errorf("a preview is %q", got)
	}
}

func FuzzMerge(f *testing.F) {
	for _, s := range []string{"", "{{a}}", "{{{{a}}}}", "}}{{", "{{a}}b{{c", "{{ a }} {{\n}}"} {
		f.Add(s, "<v>")
	}
	f.Fuzz(func(t *testing.T, s, v string) {
		// Merging with a value is merging with a marker and putting the value there.
		const marker = "\x00"
		if strings.Contains(s, marker) {
			t.Skip()
		}
		marked := MergeText(s, func(string) string { return marker })
		if got, want := MergeText(s, func(string) string { return v }), strings.ReplaceAll(marked, marker, v); got != want {
			t.Errorf("text of %q with %q is %q, want %q", s, v, got, want)
		}
		escaped := strings.ReplaceAll(marked, marker, html.EscapeString(v))
		if got := MergeHTML(s, func(string) string { return v }); got != escaped {
			t.Errorf("HTML of %q with %q is %q, want %q", s, v, got, escaped)
		}
	})
}
