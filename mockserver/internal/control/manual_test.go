package control

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver/internal/environment"
)

// go generate writes the manual.
//
//go:generate go test -run ^TestManual$ -update

var update = flag.Bool("update", false, "write docs/control-api.md")

// TestManual holds docs/control-api.md against the declarations of the routes.
func TestManual(t *testing.T) {
	head, err := os.ReadFile(filepath.Join("testdata", "manual.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := manual(string(head), declared().sections())
	path := filepath.Join("..", "..", "..", "docs", "control-api.md")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, []byte(want)) {
		t.Errorf("docs/control-api.md is not what the routes declare: run go generate ./mockserver/internal/control")
	}
	for _, s := range declared().sections() {
		for _, rt := range s.routes {
			if !strings.Contains(string(got), "### `"+rt.method+" "+rt.path+"`\n") {
				t.Errorf("docs/control-api.md does not describe %s", rt.pattern)
			}
		}
	}
}

// declared are the routes of a world that nobody asks.
func declared() *Control { return &Control{Environment: &environment.Environment{}} }

// manual writes the manual: its beginning, a chapter for each section, and the objects that several routes answer.
func manual(head string, sections []section) string {
	out := &bytes.Buffer{}
	out.WriteString(strings.Replace(head, "\n", "\n\n<!-- written by go generate from the routes of mockserver/internal/control -->\n", 1))
	answered := map[string]*schema{}
	for _, s := range sections {
		fmt.Fprintf(out, "\n## %s\n", s.title)
		paragraph(out, s.intro)
		for _, rt := range s.routes {
			rt.describe(out)
			if answer := rt.answer(); answer != nil {
				answer.collect(answered)
			}
		}
		paragraph(out, s.notes)
	}
	out.WriteString("\n## Objects\n")
	for _, name := range sortedNames(answered) {
		fmt.Fprintf(out, "\n### %s\n\n", name)
		fieldsTable(out, answered[name])
	}
	return out.String()
}

// paragraph writes text in lines of 120 columns at the most.
func paragraph(out *bytes.Buffer, text string) {
	if text == "" {
		return
	}
	out.WriteString("\n")
	width := 0
	for word := range strings.FieldsSeq(text) {
		if width > 0 && width+1+len([]rune(word)) > 120 {
			out.WriteString("\n")
			width = 0
		}
		if width > 0 {
			out.WriteString(" ")
			width++
		}
		out.WriteString(word)
		width += len([]rune(word))
	}
	out.WriteString("\n")
}

// describe writes what the manual says of a route.
func (rt route) describe(out *bytes.Buffer) {
	fmt.Fprintf(out, "\n### `%s %s`\n", rt.method, rt.path)
	paragraph(out, rt.summary)
	if len(rt.query) > 0 {
		out.WriteString("\n| parameter | description | values |\n|---|---|---|\n")
		for _, p := range rt.query {
			fmt.Fprintf(out, "| `%s` | %s | %s |\n", p.name, p.doc, p.describe())
		}
	}
	if body := rt.body(); body != nil && len(body.fields) > 0 {
		out.WriteString("\nRequest:\n\n")
		fieldsTable(out, body)
	}
	if answer := rt.answer(); answer != nil && answer.object == "" && len(answer.fields) > 0 && !answer.isList() {
		out.WriteString("\nResponse:\n\n")
		fieldsTable(out, answer)
	} else {
		paragraph(out, rt.describeAnswer())
	}
	if rt.handler.optional {
		paragraph(out, "Or 204.")
	}
	fmt.Fprintf(out, "\n```sh\n%s\n```\n", rt.curl())
}

// describe says what a parameter may be.
func (p param) describe() string {
	var words string
	switch {
	case p.values != nil:
		words = "`" + strings.Join(p.values, "` `") + "`"
	case p.integer || p.pattern != nil:
		words = p.wanted()
	default:
		words = "text"
	}
	if p.preset != "" {
		words += "; the default is " + p.preset
	}
	return words
}

func (rt route) describeAnswer() string {
	switch {
	case rt.handler.proxy:
		return ""
	case rt.handler.media != "":
		return "Response: `" + rt.handler.media + "`."
	case rt.status() == "204":
		return "Response: 204."
	}
	answer := rt.answer()
	if answer.isList() {
		return "Response: a list of " + answer.fields[0].schema.items.describe() + "."
	}
	return "Response: " + answer.describe() + "."
}

// answer describes the answer of a route, or is nil if that is no JSON.
func (rt route) answer() *schema {
	if rt.handler.response == nil {
		return nil
	}
	return schemaOf(rt.handler.response)
}

// isList reports whether an object is the answer of a list.
func (s *schema) isList() bool {
	return slices.Equal(s.names(), []string{"data", "total", "offset", "has_more"})
}

// curl is the example of a route as a command.
func (rt route) curl() string {
	path := rt.path
	if rt.example.path != "" {
		path = Prefix + rt.example.path
	}
	method, _, _ := strings.Cut(strings.Replace(rt.method, "*", "GET", 1), " ")
	for _, name := range pathNames(path) {
		path = strings.Replace(path, "{"+name+"}", "$"+strings.ToUpper(name), 1)
	}
	url := "$MOCK/" + strings.TrimPrefix(path, Prefix)
	if rt.example.query != "" {
		url += "?" + rt.example.query
	}
	command := "curl"
	if method != "GET" && (method != "POST" || rt.example.body == "") {
		command += " -X " + method
	}
	command += ` "` + url + `"`
	if rt.example.body != "" {
		command += " --json '" + rt.example.body + "'"
	}
	return command
}

// fieldsTable writes what an object has.
func fieldsTable(out *bytes.Buffer, s *schema) {
	out.WriteString("| field | type | description |\n|---|---|---|\n")
	for _, m := range s.fields {
		mark := ""
		if !m.required {
			mark = "?"
		}
		fmt.Fprintf(out, "| `%s`%s | %s | %s |\n", m.name, mark, m.schema.describe(), m.doc)
	}
}

// describe says what a value is.
func (s *schema) describe() string {
	if s.null {
		other := *s
		other.null = false
		return other.describe() + " or null"
	}
	switch {
	case s.object != "":
		return fmt.Sprintf("[%s](#%s)", s.object, strings.ToLower(s.object))
	case s.enum != nil:
		return "`" + strings.Join(s.enum, "` `") + "`"
	case s.format == "date-time":
		return "time"
	case s.items != nil:
		return "list of " + s.items.describe()
	case s.kind == "":
		return "JSON"
	case s.kind == "boolean":
		return "true or false"
	case s.kind == "object":
		var members []string
		for _, m := range s.fields {
			members = append(members, "`"+m.name+"`: "+m.schema.describe())
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	return s.kind
}

// collect adds the objects with a name that a schema is made of.
func (s *schema) collect(into map[string]*schema) {
	if s.object != "" {
		into[s.object] = s
	}
	if s.items != nil {
		s.items.collect(into)
	}
	for _, m := range s.fields {
		m.schema.collect(into)
	}
}

// Every field of every body has a description.
func TestFieldsAreDescribed(t *testing.T) {
	var check func(where string, s *schema)
	check = func(where string, s *schema) {
		for _, f := range s.fields {
			if f.doc == "" {
				t.Errorf("%s.%s has no description: add a tag doc", where, f.name)
			}
			check(where+"."+f.name, f.schema)
		}
		if s.items != nil {
			check(where, s.items)
		}
	}
	for _, s := range declared().sections() {
		for _, rt := range s.routes {
			if body := rt.body(); body != nil {
				check(rt.pattern+" request", body)
			}
			if response := rt.answer(); response != nil {
				check(rt.pattern+" response", response)
			}
		}
	}
}

// Two types of one name would be one object in the documents.
func TestObjectsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]reflect.Type{}
	for of, name := range objects() {
		if other := seen[name]; other != nil {
			t.Errorf("%s and %s are both called %s", of, other, name)
		}
		seen[name] = of
		if s := schemaOf(of); s.kind != "object" || len(s.fields) == 0 || slices.Contains(s.names(), "") {
			t.Errorf("%s has the members %q", name, s.names())
		}
	}
}
