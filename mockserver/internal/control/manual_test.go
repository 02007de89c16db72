package control

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/environment"
	"example.com/emailplatform/mockserver/internal/schema"
)

// go generate updates docs/control-api.md.
//
//go:generate go test -run ^TestManual$ -update

var update = flag.Bool("update", false, "write docs/control-api.md")

// TestManual compares docs/control-api.md with manual.tmpl and the routes, and checks that manual.tmpl describes each route.
func TestManual(t *testing.T) {
	routes := map[string]route{}
	for _, rt := range declared() {
		routes[rt.name()] = rt
		if !slices.ContainsFunc(entries(), func(e entry) bool { return e.title == rt.name() && e.text != "" && e.example != "" }) {
			t.Errorf("manual.tmpl has no text and no example for %s", rt.name())
		}
	}
	want := complete(routes)
	path := filepath.Join("..", "..", "..", "docs", "control-api.md")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("docs/control-api.md is not up to date: run go generate ./mockserver/internal/control (%v)", err)
	}
}

// declared returns the routes of an empty environment.
func declared() []route { return (&Control{Environment: &environment.Environment{}}).routes() }

// complete returns the manual with the parameters and types of the routes, and the objects.
func complete(routes map[string]route) string {
	out := &bytes.Buffer{}
	objects := map[string]*schema.Schema{}
	head, _, _ := strings.Cut(manual, "\n## ")
	common := &bytes.Buffer{}
	parametersTable(common, listParams())
	out.WriteString(strings.NewReplacer(
		"<!-- notice -->", "<!-- written by go generate from mockserver/internal/control: the text from manual.tmpl, the tables from the routes -->",
		"<!-- list parameters -->\n", common.String()).Replace(head))
	for _, e := range entries() {
		rt, ok := routes[e.title]
		if !ok {
			fmt.Fprintf(out, "\n## %s\n", e.title)
			if e.text != "" {
				fmt.Fprintf(out, "\n%s\n", e.text)
			}
			continue
		}
		fmt.Fprintf(out, "\n### `%s`\n\n%s\n", e.title, e.text)
		rt.tables(out)
		fmt.Fprintf(out, "\n```sh\n%s\n```\n", e.example)
		for _, of := range []*schema.Schema{rt.body(), rt.response()} {
			if of != nil {
				collect(of, objects)
			}
		}
	}
	out.WriteString("\n## Objects\n")
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		if wholes[name] != "" {
			continue
		}
		fmt.Fprintf(out, "\n### %s\n\n", name)
		object := objects[name]
		for part, whole := range wholes {
			if whole == name {
				object = merged(out, object, objects[part])
			}
		}
		fieldsTable(out, object)
	}
	return out.String()
}

// wholes maps types to types with almost the same fields. The manual has one table for both.
var wholes = map[string]string{
	"MessageSummary": "Message", "DeliverySummary": "Delivery", "EventSummary": "Event", "RequestSummary": "Request", "Fault": "FaultRule",
}

// merged returns the fields of both types, and writes the differences. Fields of the part have narrower types.
func merged(out *bytes.Buffer, whole, part *schema.Schema) *schema.Schema {
	all := &schema.Schema{}
	var absent, added []string
	for _, f := range whole.Fields {
		if narrower := part.Field(f.Name); narrower != nil {
			f = *narrower
		} else {
			absent = append(absent, "`"+f.Name+"`")
		}
		all.Fields = append(all.Fields, f)
	}
	for _, f := range part.Fields {
		if whole.Field(f.Name) == nil {
			added = append(added, "`"+f.Name+"`")
			all.Fields = append(all.Fields, f)
		}
	}
	fmt.Fprintf(out, "`%s` omits %s.", part.Name, strings.Join(absent, ", "))
	if added != nil {
		fmt.Fprintf(out, " Only `%s` contains %s.", part.Name, strings.Join(added, ", "))
	}
	out.WriteString("\n\n")
	return all
}

// tables writes the parameters, the request body and the response of a route.
func (rt route) tables(out *bytes.Buffer) {
	response := rt.response()
	query := rt.query
	if isList(response) {
		query = query[:len(query)-len(listParams())]
	}
	if len(query) > 0 {
		out.WriteString("\n")
		parametersTable(out, query)
	}
	if body := rt.body(); body != nil && body.Name != "" {
		fmt.Fprintf(out, "\nRequest: %s.\n", describe(body))
	} else if body != nil && len(body.Fields) > 0 {
		out.WriteString("\nRequest:\n\n")
		fieldsTable(out, body)
	}
	if response != nil && response.Name == "" && len(response.Fields) > 0 && !isList(response) {
		out.WriteString("\nResponse:\n\n")
		fieldsTable(out, response)
	} else if !rt.handler.proxy {
		fmt.Fprintf(out, "\nResponse: %s.\n", rt.describeResponse())
	}
	if rt.handler.optional {
		out.WriteString("\nOr status 204, without a body.\n")
	}
}

func parametersTable(out *bytes.Buffer, params []param) {
	out.WriteString("| parameter | type | description |\n|---|---|---|\n")
	for _, p := range params {
		of, preset := *p.schema, ""
		if of.Is("string") {
			of.Rules.Min = "" // the introduction states that empty parameters are rejected
		}
		if p.preset != "" {
			preset = ", " + p.preset + " by default"
		}
		fmt.Fprintf(out, "| `%s` | %s%s | %s |\n", p.name, describe(&of), preset, p.doc)
	}
}

func (rt route) describeResponse() string {
	switch {
	case rt.handler.media != "":
		return "`" + rt.handler.media + "`"
	case rt.status() == "204":
		return "204"
	case isList(rt.response()):
		return "a list of " + describe(rt.response().Fields[0].Schema.Items)
	}
	return describe(rt.response())
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
	return s != nil && slices.Equal(s.FieldNames(), []string{"data", "total", "offset", "has_more"})
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
var plural = strings.NewReplacer("string with", "strings, each with", "string", "strings", "integer", "integers", "object", "objects")

func describe(s *schema.Schema) string {
	if s.Null {
		other := *s
		other.Null = false
		return describe(&other) + " or null"
	}
	limits := limitsOf(s.Rules)
	switch {
	case s.Name != "":
		return fmt.Sprintf("[%s](#%s)", s.Name, strings.ToLower(cmp.Or(wholes[s.Name], s.Name)))
	case s.Enum != nil:
		return "`" + strings.Join(s.Enum, "` `") + "`"
	case s.Format == "date-time":
		return "time"
	case s.Items != nil && s.Items.Enum == nil && (s.Items.Is("string") || s.Items.Is("integer") || describe(s.Items) == "object"):
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

// limitsOf returns ", " and the range of valid numbers, or "" if the limits are those of the type.
func limitsOf(r schema.Rules) string {
	if len(r.Max) > 18 { // the limit of a Go integer
		r.Max = ""
	}
	switch {
	case r.Above != "":
		return fmt.Sprintf(", more than %s, up to %s", r.Above, r.Max)
	case r.Min != "" && r.Max != "":
		return fmt.Sprintf(", %s to %s", r.Min, r.Max)
	case r.Min != "":
		return fmt.Sprintf(", %s or more", r.Min)
	case r.Max != "":
		return fmt.Sprintf(", at most %s", r.Max)
	}
	return ""
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
	for _, rt := range declared() {
		if body := rt.body(); body != nil && body.Name != "State" { // its records are internal or part of the API
			check(rt.name()+" request", body)
		}
		if response := rt.response(); response != nil && response.Name != "State" {
			check(rt.name()+" response", response)
		}
	}
}

func TestSchemaNamesAreUnique(t *testing.T) {
	seen := map[string]reflect.Type{}
	for of, name := range names() {
		if other := seen[name]; other != nil {
			t.Errorf("%s and %s are both called %s", of, other, name)
		}
		seen[name] = of
		if s := types().Of(of); !s.Is("object") || len(s.Fields) == 0 || slices.Contains(s.FieldNames(), "") {
			t.Errorf("%s has the fields %q", name, s.FieldNames())
		}
	}
}
