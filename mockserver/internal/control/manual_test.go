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
			if !strings.Contains(string(got), "### `"+rt.method()+" "+rt.path()+"`\n") {
				t.Errorf("docs/control-api.md does not describe %s", rt.pattern)
			}
		}
	}
}

// declared are the routes of a world that nobody asks.
func declared() *Control { return &Control{Environment: &environment.Environment{}} }

// manual writes the manual: its beginning, a chapter for each section, and the
// objects that several routes answer.
func manual(head string, sections []section) string {
	out := &bytes.Buffer{}
	out.WriteString(strings.Replace(head, "\n", "\n\n<!-- written by go generate from the routes of mockserver/internal/control -->\n", 1))
	answered := map[string]*schema{}
	for _, s := range sections {
		fmt.Fprintf(out, "\n## %s\n", s.title)
		paragraph(out, s.about)
		for _, rt := range s.routes {
			rt.describe(out)
			if answer := rt.answer(); answer != nil {
				answer.collect(answered)
			}
		}
		paragraph(out, s.after)
	}
	out.WriteString("\n## Objects\n")
	for _, name := range sortedNames(answered) {
		fmt.Fprintf(out, "\n### %s\n\n", name)
		membersTable(out, answered[name])
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
	fmt.Fprintf(out, "\n### `%s %s`\n", rt.method(), rt.path())
	paragraph(out, rt.does)
	if len(rt.query) > 0 {
		out.WriteString("\n| parameter | what it is | values |\n|---|---|---|\n")
		for _, p := range rt.query {
			fmt.Fprintf(out, "| `%s` | %s | %s |\n", p.name, p.means, p.describe())
		}
	}
	if body := rt.body(); body != nil && len(body.members) > 0 {
		out.WriteString("\nTakes:\n\n")
		membersTable(out, body)
	}
	if answer := rt.answer(); answer != nil && answer.object == "" && len(answer.members) > 0 && !answer.lists() {
		out.WriteString("\nAnswers:\n\n")
		membersTable(out, answer)
	} else {
		paragraph(out, rt.describeAnswer())
	}
	if rt.handler.maybe {
		paragraph(out, "Or answers 204.")
	}
	fmt.Fprintf(out, "\n```sh\n%s\n```\n", rt.curl())
}

// describe says what a parameter may be.
func (p param) describe() string {
	var words string
	switch {
	case p.values != nil:
		words = "`" + strings.Join(p.values(), "` `") + "`"
	case p.integer || p.pattern != nil:
		words = strings.TrimPrefix(p.wanted(), "want ")
	default:
		words = "text"
	}
	if p.usual != "" {
		words += "; " + p.usual + " if left out"
	}
	return words
}

func (rt route) describeAnswer() string {
	switch {
	case rt.open:
		return ""
	case rt.handler.media != "":
		return "Answers `" + rt.handler.media + "`."
	case rt.status() == "204":
		return "Answers 204."
	}
	answer := rt.answer()
	if answer.lists() {
		return "Answers a list of " + answer.members[0].schema.items.describe() + "."
	}
	return "Answers " + answer.describe() + "."
}

// answer describes the answer of a route, or is nil if that is no JSON.
func (rt route) answer() *schema {
	if rt.handler.answers == nil {
		return nil
	}
	return schemaOf(rt.handler.answers)
}

// lists reports whether an object is the answer of a list.
func (s *schema) lists() bool { return slices.Equal(s.names(), []string{"data", "total", "more"}) }

// curl is the example of a route as a command.
func (rt route) curl() string {
	path := rt.path()
	if rt.example.path != "" {
		path = Prefix + rt.example.path
	}
	method, _, _ := strings.Cut(strings.Replace(rt.method(), "*", "GET", 1), " ")
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

// membersTable writes what an object has.
func membersTable(out *bytes.Buffer, s *schema) {
	out.WriteString("| member | kind | what it is |\n|---|---|---|\n")
	for _, m := range s.members {
		mark := ""
		if !m.always {
			mark = "?"
		}
		fmt.Fprintf(out, "| `%s`%s | %s | %s |\n", m.name, mark, m.schema.describe(), m.means)
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
		for _, m := range s.members {
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
	for _, m := range s.members {
		m.schema.collect(into)
	}
}

// Every member of every body and answer says what it means, and nothing is said
// of a member that there is not.
func TestEveryMemberHasItsWords(t *testing.T) {
	var check func(where string, s *schema)
	check = func(where string, s *schema) {
		for _, m := range s.members {
			if m.means == "" {
				t.Errorf("%s.%s: what it means is missing: add a tag means, or a line to words.go", where, m.name)
			}
			check(where+"."+m.name, m.schema)
		}
		if s.items != nil {
			check(where, s.items)
		}
	}
	for _, s := range declared().sections() {
		for _, rt := range s.routes {
			if body := rt.body(); body != nil {
				check(rt.pattern+" takes", body)
			}
			if answer := rt.answer(); answer != nil {
				check(rt.pattern+" answers", answer)
			}
		}
	}
	for of, members := range words() {
		for name := range members {
			if schemaOf(of).memberOf(name) == nil {
				t.Errorf("words.go has words for %s.%s, which is no member", of, name)
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
		if s := schemaOf(of); s.kind != "object" || len(s.members) == 0 || slices.Contains(s.names(), "") {
			t.Errorf("%s has the members %q", name, s.names())
		}
	}
}
