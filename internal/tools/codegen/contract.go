package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"example.com/emailplatform/internal/tools/try"
)

// contractTable returns the table of operations and schemas. The mock server uses it to validate requests, responses and
// events. A schema keyword without support in the table is an error.
func contractTable(doc *document) (src []byte, err error) {
	defer try.Catch(&err)
	c := &contract{root: doc.root, named: map[string]bool{}}
	var operations []entry
	for _, op := range doc.operations {
		operations = append(operations, c.operation(op))
	}
	events := map[string]string{}
	for _, e := range doc.events {
		events[e.Name] = c.schema(doc.root.at("webhooks", e.Name, "post", "requestBody").json(), "")
	}
	try.OK(errors.Join(c.errs...))
	return execute("contract", map[string]any{"Operations": operations, "Schemas": c.declared, "Events": events}), nil
}

// entry is an operation in the table. Schemas are Go expressions.
type entry struct {
	ID, Method, Path string
	Deprecated       bool
	Parameters       map[string][]parameter // by "path" and "query"
	Body             string
	BodyRequired     bool
	Responses        []response
}

type parameter struct{ Name, Schema string }

type response struct{ Status, Media, Schema string }

// contract writes schemas as Go expressions.
type contract struct {
	root     tree
	named    map[string]bool // schemas that are declared
	declared []string        // each statement follows the statements that it refers to
	errs     []error
}

// fail adds an error about a part of openapi.yaml.
func (c *contract) fail(at tree, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("openapi.yaml:%d: "+format, append([]any{at.Line}, args...)...))
}

func (c *contract) operation(op operation) entry {
	e := entry{ID: op.id, Method: op.method, Path: op.path, Deprecated: op.text("deprecated") == "true", Parameters: map[string][]parameter{}}
	for _, p := range op.parameters {
		name, in := p.text("name"), p.text("in")
		if in != "path" && (in != "query" || p.text("required") == "true") {
			c.fail(p, "the mock server validates no parameter %s: in %s, required: %s", name, in, p.text("required"))
		}
		e.Parameters[in] = append(e.Parameters[in], parameter{name, c.schema(p.at("schema"), p.text("description"))})
	}
	if body := op.at("requestBody"); body.Node != nil {
		e.Body, e.BodyRequired = c.schema(body.json(), ""), body.text("required") == "true"
	}
	for status, r := range op.at("responses").all() {
		r = r.resolve(c.root)
		for name, header := range r.at("headers").all() {
			if header.resolve(c.root).text("required") == "true" {
				c.fail(header, "the mock server validates no header %s: required", name)
			}
		}
		out := response{status, "", "nil"}
		for media := range r.at("content").all() {
			out.Media = media
		}
		if body := r.json(); body.Node != nil {
			out.Schema = c.schema(body, "")
		}
		e.Responses = append(e.Responses, out)
	}
	return e
}

// schema returns the Go expression of a schema; description describes its values, unless
// it has a description itself.
func (c *contract) schema(s tree, description string) string {
	name := s.schemaNamed()
	if name == "" {
		return c.literal(s, description)
	}
	if !c.named[name] {
		c.named[name] = true
		literal := c.literal(s.resolve(c.root), description)
		c.declared = append(c.declared, "schema"+name+" := "+literal)
	}
	return "schema" + name
}

// literal writes a schema. A schema without rules allows any value.
func (c *contract) literal(s tree, description string) string {
	kind, fields := c.kind(s)
	if kind == "integer" && s.text("minimum") == "" {
		fields = append(fields, "Min: math.MinInt64")
	}
	for keyword, value := range s.all() {
		switch kind + " " + keyword {
		case "object properties":
			fields = append(fields, "Properties: "+c.properties(s))
		case "object additionalProperties":
			if value.Kind == yaml.MappingNode && s.at("properties").Node == nil {
				fields = append(fields, "Values: "+c.schema(value, ""))
			} else if value.Value != "true" {
				c.fail(s, "the mock server validates no additionalProperties but true, or a schema without properties")
			}
		case "array items":
			fields = append(fields, "Items: "+c.schema(value, ""))
		case "array minItems", "string minLength", "integer minimum":
			fields = append(fields, "Min: "+value.Value)
		case "array maxItems", "string maxLength", "integer maximum":
			fields = append(fields, "Max: "+value.Value)
			if value.Value == "0" {
				c.fail(s, "the mock server validates no %s of 0", keyword)
			}
		case "string enum":
			fields = append(fields, fmt.Sprintf("Enum: %#v", s.words("enum")))
		case "string pattern":
			fields = append(fields, c.pattern(s, value.Value, description))
		case "string format":
			if value.Value == "date-time" {
				fields = append(fields, "Time: true")
			} else if !slices.Contains([]string{"email", "uri", "uuid", "password"}, value.Value) {
				c.fail(s, "the mock server validates no format %s", value.Value)
			}
		case " oneOf", " allOf":
			fields = append(fields, c.list(keyword, value))
		case "object required":
			for _, name := range s.words("required") {
				if s.at("properties", name).Node == nil {
					c.fail(s, "%s is required, but not among the properties", name)
				}
			}
		case "integer format": // has no effect
		default:
			if !slices.Contains([]string{"type", "description", "default"}, keyword) && !strings.HasPrefix(keyword, "x-") {
				c.fail(s, "the mock server validates no %s of type %q", keyword, kind)
			}
		}
	}
	return "&Schema{" + strings.Join(fields, ", ") + "}"
}

// kind returns the type of a schema and the Go fields for it.
func (c *contract) kind(s tree) (kind string, fields []string) {
	words := s.words("type")
	if len(words) == 2 && words[1] == "null" {
		words, fields = words[:1], []string{"Nullable: true"}
	}
	known := []string{"object", "array", "string", "integer", "boolean", "null"}
	switch {
	case len(words) == 0:
		return "", nil
	case len(words) > 1 || !slices.Contains(known, words[0]):
		c.fail(s, "the mock server validates no type %v", words)
	}
	return words[0], append([]string{"Kind: " + strings.ToUpper(words[0][:1]) + words[0][1:]}, fields...)
}

// maxProperties is the maximum number of properties of an object in the mock server.
const maxProperties = 64

func (c *contract) properties(s tree) string {
	var out []string
	for name, field := range s.at("properties").all() {
		required := ""
		if s.requires(name) {
			required = "Required: true, "
		}
		out = append(out, fmt.Sprintf("{Name: %q, %sSchema: %s},\n", name, required, c.schema(field, "")))
	}
	if len(out) > maxProperties {
		c.fail(s, "%d properties, must be at most %d", len(out), maxProperties)
	}
	return "[]Property{\n" + strings.Join(out, "") + "}"
}

func (c *contract) list(keyword string, schemas tree) string {
	var out []string
	for _, s := range schemas.items() {
		out = append(out, c.schema(s, ""))
	}
	return strings.ToUpper(keyword[:1]) + keyword[1:] + ": []*Schema{" + strings.Join(out, ", ") + "}"
}

// pattern writes a pattern with its description. It omits the part about the default, because the description is for
// callers that set a value.
func (c *contract) pattern(s tree, text, description string) string {
	expected, _, _ := strings.Cut(strings.NewReplacer("`", "", "By default", "by default").Replace(description), "by default")
	if expected = strings.TrimRight(expected, " ;."); expected == "" {
		c.fail(s, "a pattern needs a description")
	}
	return fmt.Sprintf("Pattern: regexp.MustCompile(%#q), Expected: %q", text, expected)
}
