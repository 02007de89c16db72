package control

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tools/markdown"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/engine"
)

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

// declared returns the routes of an empty engine.
func declared() []route { return (&Control{Engine: &engine.Engine{}}).routes() }

// complete returns the manual with the parameters and types of the routes, and the objects.
func complete(routes map[string]route) string {
	out := &bytes.Buffer{}
	objects := map[string]*contract.Schema{}
	seen := map[string]string{}
	head, _, _ := strings.Cut(manual, "\n## ")
	common := &bytes.Buffer{}
	parameterList(common, listParams())
	out.WriteString(strings.NewReplacer(
		"<!-- notice -->", "<!-- written by go generate from mockserver/internal/control: the text from manual.tmpl, the lists from the routes -->",
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
		rt.lists(out, seen)
		if !isPlain(e.example, e.title) {
			fmt.Fprintf(out, "\n```sh\n%s\n```\n", e.example)
		}
		for _, of := range []*contract.Schema{rt.body(), rt.response()} {
			if of != nil {
				collect(of, objects)
			}
		}
	}
	out.WriteString("\n## Objects\n")
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		if wholes[name] != "" || name == state {
			continue
		}
		fmt.Fprintf(out, "\n### %s\n\n", name)
		object := objects[name]
		for part, whole := range wholes {
			if whole == name {
				object = merged(out, object, objects[part])
			}
		}
		fieldList(out, object)
	}
	return shortened(out.String())
}

// isPlain reports whether an example only repeats the title of its route, so the manual omits it.
func isPlain(example, title string) bool {
	method, path, _ := strings.Cut(title, " /_mock")
	path = strings.ReplaceAll(path, "{id}", "$ID")
	example = strings.ReplaceAll(example, "$CONFIRMATION", "$ID")
	if method == "GET" {
		return example == fmt.Sprintf(`curl "$MOCK%s"`, path)
	}
	return example == fmt.Sprintf(`curl -X %s "$MOCK%s"`, method, path)
}

// shortened keeps the first copy of each long list of values, and replaces the others by a link to it.
func shortened(text string) string {
	first := map[string]string{} // the headings by list
	heading := ""
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if title, ok := strings.CutPrefix(line, "### "); ok {
			heading = strings.Trim(title, "`")
		}
		lines[i] = longList.ReplaceAllStringFunc(line, func(values string) string {
			if first[values] == "" {
				first[values] = heading
				return values
			}
			return fmt.Sprintf("[values](#%s)", markdown.Anchor(first[values]))
		})
		lines[i] = strings.ReplaceAll(lines[i], ") `*` ", ") or `*` ")
	}
	return strings.Join(lines, "\n")
}

// longList matches seven or more values.
var longList = regexp.MustCompile("(?:`[A-Za-z_.]+` ){6,}`[A-Za-z_.]+`")

// wholes maps types to types with almost the same fields, because the manual has one list for both.
var wholes = map[string]string{
	"MessageSummary": "Message", "DeliverySummary": "Delivery", "EventSummary": "Event", "RequestSummary": "Request", "Fault": "FaultRule",
}

// state is the name of a type without a list of fields, because most of its records are internal.
const state = "State"

// merged returns the fields of both types, and writes the differences. The fields of the argument part may have
// narrower types.
func merged(out *bytes.Buffer, whole, part *contract.Schema) *contract.Schema {
	all := &contract.Schema{}
	var absent, added []string
	for _, f := range whole.Properties {
		if narrower := part.Property(f.Name); narrower != nil {
			f = *narrower
		} else {
			absent = append(absent, "`"+f.Name+"`")
		}
		all.Properties = append(all.Properties, f)
	}
	for _, f := range part.Properties {
		if whole.Property(f.Name) == nil {
			added = append(added, "`"+f.Name+"`")
			all.Properties = append(all.Properties, f)
		}
	}
	fmt.Fprintf(out, "`%s` omits %s.", part.Name, strings.Join(absent, ", "))
	if added != nil {
		fmt.Fprintf(out, " Only `%s` contains %s.", part.Name, strings.Join(added, ", "))
	}
	out.WriteString("\n\n")
	return all
}

// lists writes the parameters, the request body and the response of a route. seen contains the earlier lists.
func (rt route) lists(out *bytes.Buffer, seen map[string]string) {
	response := rt.response()
	query := rt.query
	if isList(response) {
		query = query[:len(query)-len(listParams())]
	}
	if len(query) > 0 {
		rt.parameters(out, seen, query)
	}
	if body := rt.body(); body != nil && body.Name != "" {
		fmt.Fprintf(out, "\nRequest: %s.\n", describe(body))
	} else if body != nil && len(body.Properties) > 0 {
		rt.list(out, seen, "Request:", body)
	}
	if response != nil && response.Name == "" && len(response.Properties) > 0 && !isList(response) {
		if body := rt.body(); body != nil && fieldsText(body) == fieldsText(response) {
			out.WriteString("\nResponse: the same as the request.\n")
		} else {
			rt.list(out, seen, "Response:", response)
		}
	} else if text := fmt.Sprintf("\nResponse: %s.\n", rt.describeResponse()); strings.Contains(text, "{") {
		rt.writeOnce(out, seen, "Response:", text)
	} else if !rt.handler.proxy {
		out.WriteString(text)
	}
	if rt.handler.optional {
		out.WriteString("\nOr status 204, without a body.\n")
	}
}

// list writes the list of the fields of a body, or a link to an earlier body that has the same fields and more.
func (rt route) list(out *bytes.Buffer, seen map[string]string, title string, body *contract.Schema) {
	rows := strings.Split(strings.TrimSpace(fieldsText(body)), "\n")
	earlier := seen[title+rows[0]]
	for _, row := range rows {
		if seen[title+row] != earlier {
			earlier = ""
		}
		seen[title+row] = cmp.Or(seen[title+row], rt.name())
	}
	if text := "\n" + title + "\n\n" + fieldsText(body); earlier == "" || seen[title+text] != "" {
		rt.writeOnce(out, seen, title, text)
		return
	}
	names := "`" + strings.Join(fieldNames(body), "`, `") + "`"
	if last := strings.LastIndex(names, ", "); last > 0 {
		names = names[:last] + " and" + names[last+1:]
	}
	fmt.Fprintf(out, "\n%s %s, as in [`%s`](#%s).\n", title, names, earlier, markdown.Anchor(earlier))
}

// parameters writes the list of the parameters, or a link to the route that has the same parameters except search.
func (rt route) parameters(out *bytes.Buffer, seen map[string]string, query []param) {
	all, rest := &bytes.Buffer{}, &bytes.Buffer{}
	parameterList(all, query)
	last := len(query) - 1
	parameterList(rest, query[:last])
	earlier := seen["Parameters:"+titled(rest)]
	if query[last].name == "search" && earlier != "" && seen["Parameters:"+titled(all)] == "" {
		fmt.Fprintf(out, "\nParameters: as in [`%s`](#%s), and `search`.\n", earlier, markdown.Anchor(earlier))
		seen["Parameters:"+titled(all)] = rt.name()
		return
	}
	rt.writeOnce(out, seen, "Parameters:", titled(all))
}

func titled(parameters *bytes.Buffer) string { return "\nParameters:\n\n" + parameters.String() }

// writeOnce writes the text, or a link to the earlier route that has the same text.
func (rt route) writeOnce(out *bytes.Buffer, seen map[string]string, title, text string) {
	first := cmp.Or(seen[title+text], rt.name())
	if first == rt.name() {
		out.WriteString(text)
	} else {
		fmt.Fprintf(out, "\n%s as in [`%s`](#%s).\n", title, first, markdown.Anchor(first))
	}
	seen[title+text] = first
}

func parameterList(out *bytes.Buffer, params []param) {
	for _, p := range params {
		of, preset := *p.schema, ""
		if of.Kind == contract.String {
			of.Min = 0 // the introduction states that empty parameters are rejected
		}
		if p.preset != "" {
			preset = ", " + p.preset + " by default"
		}
		out.WriteString(markdown.Item("`"+p.name+"`", describe(&of)+preset, brief(p.doc, p.name)))
	}
}

func (rt route) describeResponse() string {
	switch {
	case rt.handler.media != "":
		return "`" + rt.handler.media + "`"
	case rt.status() == "204":
		return "204"
	case rt.handler.proxy:
		return ""
	case isList(rt.response()):
		return "a list of " + describe(rt.response().Properties[0].Schema.Items)
	}
	return describe(rt.response())
}

// response returns the schema of the response body, or nil if it is not JSON.
func (rt route) response() *contract.Schema {
	if rt.handler.response == nil {
		return nil
	}
	return types().Of(rt.handler.response)
}

// isList reports whether an object is the response of a list.
func isList(s *contract.Schema) bool {
	return s != nil && slices.Equal(fieldNames(s), []string{"data", "total", "offset", "has_more"})
}

func fieldsText(s *contract.Schema) string {
	out := &bytes.Buffer{}
	fieldList(out, s)
	return out.String()
}

// fieldList writes a list of the fields of an object.
func fieldList(out *bytes.Buffer, s *contract.Schema) {
	for _, f := range s.Properties {
		mark := ""
		if !f.Required {
			mark = "?"
		}
		out.WriteString(markdown.Item("`"+f.Name+"`"+mark, describe(f.Schema), strings.ReplaceAll(brief(f.Doc, f.Name), "*", `\*`)))
	}
}

// brief returns a description for a list. It omits an article at the beginning, and a first clause that only repeats
// the name of the field.
func brief(doc, name string) string {
	doc = strings.TrimSuffix(doc, "; by default the mock server assigns an id") // as manual.tmpl says
	shown := append(strings.Split(name, "_"), obvious...)
	first, rest, _ := strings.Cut(doc, "; ")
	words := strings.FieldsFunc(first, func(r rune) bool { return strings.ContainsRune(" -,", r) })
	if !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(shown, word) }) {
		return rest
	}
	return strings.TrimPrefix(doc, "the ")
}

// TestPlain: the manual omits an example only if it repeats the method and the path of its route.
func TestPlain(t *testing.T) {
	for _, tt := range []struct {
		title, example string
		want           bool
	}{
		{"GET /_mock/outbox/{id}", `curl "$MOCK/outbox/$ID"`, true},
		{"POST /_mock/outbox/{id}/confirm", `curl -X POST "$MOCK/outbox/$CONFIRMATION/confirm"`, true},
		{"POST /_mock/outbox/{id}/open", `curl "$MOCK/outbox/$ID/open"`, false},
		{"GET /_mock/outbox", `curl "$MOCK/outbox?to=ada@example.org"`, false},
		{"PUT /_mock/clock", `curl -X PUT "$MOCK/clock" --json '{"frozen":true}'`, false},
	} {
		assert.Equal(t, tt.want, isPlain(tt.example, tt.title), tt.example)
	}
}

// TestBrief: the manual omits a clause that the name of the field shows, and never a condition or a default.
func TestBrief(t *testing.T) {
	for _, tt := range []struct{ name, doc, want string }{
		{"account_id", "the id of the account", ""},
		{"account_id", "the account; all accounts if omitted", "all accounts if omitted"},
		{"account_id", "by default all accounts", "by default all accounts"},
		{"secret", "random by default", "random by default"},
		{"user", "omitted if the token is not valid", "omitted if the token is not valid"},
		{"limit", "the maximum number of messages", "maximum number of messages"},
	} {
		assert.Equal(t, tt.want, brief(tt.doc, tt.name), tt.doc)
	}
}

// obvious lists words that explain no field. Words such as not, if and default are not among them, because a description
// without them would be wrong.
var obvious = strings.Fields(`
	a access account accounts add address addresses algorithm all attempt attribute bounce by campaign campaigns clock
	contact contacts control create deliveries delivery effect email emails event events faults for format header HTML
	HTTP http in is limit link links list lists lookup matching message messages name names number of on operationId
	owns part problems rate recipient records redirect related request requests require response revoke routes rule
	sample samples scheduled send sender sender's sending sent signatures signing state states status statuses summary
	target template that the time timeout to token tokens type types URL user value values virtual wait webhook whether
	work workflow workflows
`)

// plural changes the type of list items to its plural form.
var plural = strings.NewReplacer("string, not empty", "strings, each not empty", "string with", "strings, each with", "string", "strings", "integer", "integers", "object", "objects")

func describe(s *contract.Schema) string {
	if s.Nullable {
		other := *s
		other.Nullable = false
		return describe(&other) + " or null"
	}
	limits := limitsOf(s)
	switch {
	case s.Name == state:
		return "JSON"
	case s.Name != "":
		return fmt.Sprintf("[%s](#%s)", s.Name, strings.ToLower(cmp.Or(wholes[s.Name], s.Name)))
	case s.Enum != nil:
		return "`" + strings.Join(s.Enum, "` `") + "`"
	case s.Time:
		return "time"
	case s.Items != nil && s.Items.Enum == nil && (s.Items.Kind == contract.String || s.Items.Kind == contract.Integer || describe(s.Items) == "object"):
		return "list of " + plural.Replace(describe(s.Items))
	case s.Items != nil:
		return "list of " + describe(s.Items)
	case s.OneOf != nil:
		return describe(s.OneOf[0]) + " or " + describe(s.OneOf[1])
	case s.Kind == contract.Any:
		return "JSON"
	case s.Kind == contract.Boolean:
		return "boolean"
	case s.Kind == contract.String && limits != "":
		if limits == ", 1 or more" {
			return "string, not empty"
		}
		return "string with " + limits[2:] + " characters"
	case s.Kind == contract.Object:
		var fields []string
		for _, f := range s.Properties {
			if f.Doc == "" {
				return "object"
			}
			fields = append(fields, "`"+f.Name+"`: "+describe(f.Schema))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	_, kind, _ := strings.Cut(s.Kind.String(), " ")
	return kind + limits
}

// limitsOf returns ", " and the range of valid numbers, or "" if only the type limits them.
func limitsOf(s *contract.Schema) string {
	least, most := s.Min > 0 || s.Kind == contract.Integer && s.Min == 0, s.Max > 0 && s.Max != math.MaxInt64
	switch {
	case s.Exclusive:
		return fmt.Sprintf(", more than %d, up to %d", s.Min, s.Max)
	case least && most:
		return fmt.Sprintf(", %d to %d", s.Min, s.Max)
	case least:
		return fmt.Sprintf(", %d or more", s.Min)
	case most:
		return fmt.Sprintf(", at most %d", s.Max)
	}
	return ""
}

func fieldNames(s *contract.Schema) (names []string) {
	for _, p := range s.Properties {
		names = append(names, p.Name)
	}
	return names
}

// collect adds the named objects of a schema to a map.
func collect(s *contract.Schema, into map[string]*contract.Schema) {
	if s.Name != "" {
		into[s.Name] = s
	}
	if s.Items != nil {
		collect(s.Items, into)
	}
	for _, f := range s.Properties {
		collect(f.Schema, into)
	}
}

func TestFieldsAreDescribed(t *testing.T) {
	var check func(where string, s *contract.Schema)
	check = func(where string, s *contract.Schema) {
		for _, f := range s.Properties {
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
		if body := rt.body(); body != nil && body.Name != state { // its records are internal or part of the API
			check(rt.name()+" request", body)
		}
		if response := rt.response(); response != nil && response.Name != state {
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
		if s := types().Of(of); s.Kind != contract.Object || len(s.Properties) == 0 || slices.Contains(fieldNames(s), "") {
			t.Errorf("%s has the fields %q", name, fieldNames(s))
		}
	}
}
