package control

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver/internal/environment"
	"example.com/emailplatform/mockserver/internal/schema"
)

// go generate updates docs/control-api.md.
//
//go:generate go test -run ^TestManual$ -update

var update = flag.Bool("update", false, "write docs/control-api.md")

// TestManual compares docs/control-api.md with the declarations of the routes.
func TestManual(t *testing.T) {
	head, err := os.ReadFile(filepath.Join("testdata", "manual.md"))
	must(t, err)
	want := manual(string(head), declared().sections())
	path := filepath.Join("..", "..", "..", "docs", "control-api.md")
	if *update {
		must(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got, err := os.ReadFile(path)
	must(t, err)
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

// declared returns the routes of an empty environment.
func declared() *Control { return &Control{Environment: &environment.Environment{}} }

// manual writes the manual: the introduction, a section for each group of routes, and the objects.
func manual(head string, sections []section) string {
	out := &bytes.Buffer{}
	out.WriteString(strings.Replace(head, "\n", "\n\n<!-- written by go generate from the routes of mockserver/internal/control -->\n", 1))
	answered := map[string]*schema.Schema{}
	for _, s := range sections {
		fmt.Fprintf(out, "\n## %s\n", s.title)
		paragraph(out, s.intro)
		for _, rt := range s.routes {
			rt.describe(out)
			for _, of := range []*schema.Schema{rt.body(), rt.response()} {
				if of != nil {
					collect(of, answered)
				}
			}
		}
		paragraph(out, s.notes)
	}
	out.WriteString("\n## Objects\n")
	for _, name := range slices.Sorted(maps.Keys(answered)) {
		fmt.Fprintf(out, "\n### %s\n\n", name)
		fieldsTable(out, answered[name])
	}
	return out.String()
}

// paragraph writes text in lines of at most 120 columns.
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

func (rt route) describe(out *bytes.Buffer) {
	fmt.Fprintf(out, "\n### `%s %s`\n", rt.method, rt.path)
	paragraph(out, rt.summary)
	if len(rt.query) > 0 {
		out.WriteString("\n| parameter | description | values |\n|---|---|---|\n")
		for _, p := range rt.query {
			fmt.Fprintf(out, "| `%s` | %s | %s |\n", p.name, p.doc, p.describe())
		}
	}
	if body := rt.body(); body != nil && body.Name != "" {
		paragraph(out, "Request: "+describe(body)+".")
	} else if body != nil && len(body.Fields) > 0 {
		out.WriteString("\nRequest:\n\n")
		fieldsTable(out, body)
	}
	if answer := rt.response(); answer != nil && answer.Name == "" && len(answer.Fields) > 0 && !isList(answer) {
		out.WriteString("\nResponse:\n\n")
		fieldsTable(out, answer)
	} else {
		paragraph(out, rt.describeAnswer())
	}
	if rt.handler.optional {
		paragraph(out, "Or status 204, without a body.")
	}
	fmt.Fprintf(out, "\n```sh\n%s\n```\n", rt.curl())
}

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
	answer := rt.response()
	if isList(answer) {
		return "Response: a list of " + describe(answer.Fields[0].Schema.Items) + "."
	}
	return "Response: " + describe(answer) + "."
}

// response returns the schema of the response body, or nil if it is not JSON.
func (rt route) response() *schema.Schema {
	if rt.handler.response == nil {
		return nil
	}
	return types().Of(rt.handler.response)
}

// isList reports whether an object is the response of a list.
func isList(s *schema.Schema) bool {
	return slices.Equal(s.FieldNames(), []string{"data", "total", "offset", "has_more"})
}

// curl returns the example of a route as a curl command.
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

// fieldsTable writes a table of the fields of an object.
func fieldsTable(out *bytes.Buffer, s *schema.Schema) {
	out.WriteString("| field | type | description |\n|---|---|---|\n")
	for _, f := range s.Fields {
		mark := ""
		if !f.Required {
			mark = "?"
		}
		fmt.Fprintf(out, "| `%s`%s | %s | %s |\n", f.Name, mark, describe(f.Schema), strings.ReplaceAll(f.Doc, "*", `\*`))
	}
}

// plural changes the type of list items to its plural form.
var plural = strings.NewReplacer("string", "strings", "integer", "integers")

func describe(s *schema.Schema) string {
	if s.Null {
		other := *s
		other.Null = false
		return describe(&other) + " or null"
	}
	limits := s.Rules.String()
	if limits != "" {
		limits = ", " + limits
	}
	switch {
	case s.Name != "":
		return fmt.Sprintf("[%s](#%s)", s.Name, strings.ToLower(s.Name))
	case s.Enum != nil:
		return "`" + strings.Join(s.Enum, "` `") + "`"
	case s.Format == "date-time":
		return "time"
	case s.Items != nil && (s.Items.Is("string") || s.Items.Is("integer")) && s.Items.Enum == nil:
		return "list of " + plural.Replace(describe(s.Items))
	case s.Items != nil:
		return "list of " + describe(s.Items)
	case len(s.Kinds) == 0:
		return "JSON"
	case s.Is("boolean"):
		return "true or false"
	case s.Is("string") && limits != "":
		return "string with " + limits[2:] + " characters"
	case s.Is("object"):
		var fields []string
		for _, f := range s.Fields {
			if f.Doc == "" {
				return "object"
			}
			fields = append(fields, "`"+f.Name+"`: "+describe(f.Schema))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return strings.Join(s.Kinds, " or ") + limits
}

// collect adds the named objects of a schema to a map.
func collect(s *schema.Schema, into map[string]*schema.Schema) {
	if s.Name != "" {
		into[s.Name] = s
	}
	if s.Items != nil {
		collect(s.Items, into)
	}
	for _, f := range s.Fields {
		collect(f.Schema, into)
	}
}

func TestFieldsAreDescribed(t *testing.T) {
	var check func(where string, s *schema.Schema)
	check = func(where string, s *schema.Schema) {
		for _, f := range s.Fields {
			if f.Doc == "" {
				t.Errorf("%s.%s has no description: add a tag doc", where, f.Name)
			}
			check(where+"."+f.Name, f.Schema)
		}
		if s.Items != nil {
			check(where, s.Items)
		}
	}
	for _, s := range declared().sections() {
		for _, rt := range s.routes {
			if body := rt.body(); body != nil && body.Name != "State" { // its records are internal or part of the API
				check(rt.pattern+" request", body)
			}
			if response := rt.response(); response != nil && response.Name != "State" {
				check(rt.pattern+" response", response)
			}
		}
	}
}

func TestSchemaNamesAreUnique(t *testing.T) {
	seen := map[string]reflect.Type{}
	for of, name := range types().Names {
		if other := seen[name]; other != nil {
			t.Errorf("%s and %s are both called %s", of, other, name)
		}
		seen[name] = of
		if s := types().Of(of); !s.Is("object") || len(s.Fields) == 0 || slices.Contains(s.FieldNames(), "") {
			t.Errorf("%s has the fields %q", name, s.FieldNames())
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
