package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/internal/tools/must"
)

// contractTable returns the table of operations and schemas, for the mock server to validate requests, responses and
// events. It fails if the table does not support a keyword of a schema.
func contractTable(doc *document) []byte {
	c := &contract{named: map[string]bool{}}
	var operations []entry
	for _, op := range doc.operations {
		operations = append(operations, c.operation(op))
	}
	events := map[string]string{}
	for _, e := range doc.events {
		events[e.Name] = c.schema(e.schema(), "")
	}
	must.OK(errors.Join(c.errs...))
	return execute("contract", map[string]any{"Operations": operations, "Schemas": c.declared, "Events": events})
}

// entry is an operation in the table. Schemas are Go expressions.
type entry struct {
	ID, Method, Path string
	Deprecated       bool
	RejectUnknown    bool
	Parameters       map[string][]parameter // by "path" and "query"
	Body             string
	BodyRequired     bool
	Responses        []response
}

type parameter struct{ Name, Schema string }

type response struct{ Status, Media, Schema string }

// contract writes schemas as Go expressions.
type contract struct {
	named    map[string]bool // schemas that are declared
	declared []string        // each statement follows the statements that it refers to
	errs     []error
}

// fail adds an error about a part of openapi.yaml.
func (c *contract) fail(at *openapi3.Origin, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("openapi.yaml:%d: "+format, append([]any{at.Key.Line}, args...)...))
}

func (c *contract) operation(op operation) entry {
	e := entry{
		ID: op.id, Method: op.method, Path: op.path, Deprecated: op.Deprecated, RejectUnknown: op.rejectUnknown(),
		Parameters: map[string][]parameter{},
	}
	for _, ref := range op.parameters {
		p := ref.Value
		if p.In != "path" && (p.In != "query" || p.Required) {
			c.fail(p.Origin, "the mock server validates no parameter %s: in %s, required: %t", p.Name, p.In, p.Required)
		}
		e.Parameters[p.In] = append(e.Parameters[p.In], parameter{p.Name, c.schema(p.Schema, p.Description)})
	}
	if body := op.body(); body != nil {
		e.Body, e.BodyRequired = c.schema(body.Schema, ""), op.RequestBody.Value.Required
	}
	for status, r := range inOrder(op.Responses.Map()) {
		for name, header := range r.Value.Headers {
			if header.Value.Required {
				c.fail(header.Origin, "the mock server validates no header %s: required", name)
			}
		}
		out := response{status, "", "nil"}
		for media, content := range r.Value.Content {
			out.Media = media
			if media == "application/json" {
				out.Schema = c.schema(content.Schema, "")
			}
		}
		e.Responses = append(e.Responses, out)
	}
	return e
}

// schema returns the Go expression of a schema. If the schema has no description, its values
// have the given description.
func (c *contract) schema(ref *openapi3.SchemaRef, description string) string {
	name := schemaName(ref)
	if name == "" {
		return c.literal(ref.Value, description)
	}
	if !c.named[name] {
		c.named[name] = true
		literal := c.literal(ref.Value, description)
		c.declared = append(c.declared, "schema"+name+" := "+literal)
	}
	return "schema" + name
}

// literal writes a schema. A schema without rules allows any value.
func (c *contract) literal(s *openapi3.Schema, description string) string {
	typ, fields := c.typeOf(s)
	if typ == "integer" && s.Min == nil {
		fields = append(fields, "Min: math.MinInt64")
	}
	for _, keyword := range keywords(s) {
		if field := c.field(s, typ, keyword, description); field != "" {
			fields = append(fields, field)
		}
	}
	return "&Schema{" + strings.Join(fields, ", ") + "}"
}

// field writes the rule of a keyword, or "" if the keyword has no effect on the validation.
func (c *contract) field(s *openapi3.Schema, typ, keyword, description string) string {
	switch typ + " " + keyword {
	case "object properties":
		return "Properties: " + c.properties(s)
	case "object additionalProperties":
		return c.additional(s)
	case "object required":
		c.checkRequired(s)
		return ""
	case "object x-needs":
		return fmt.Sprintf("Needs: %#v", needs(s))
	case "array items":
		return "Items: " + c.schema(s.Items, "")
	case "array minItems", "string minLength":
		return fmt.Sprintf("Min: %d", max(s.MinItems, s.MinLength))
	case "array maxItems", "string maxLength":
		most := *cmp.Or(s.MaxItems, s.MaxLength)
		if most == 0 {
			c.fail(s.Origin, "the mock server validates no %s of 0", keyword)
		}
		return fmt.Sprintf("Max: %d", most)
	case "integer minimum":
		return "Min: " + number(*s.Min)
	case "integer maximum":
		return "Max: " + number(*s.Max)
	case "integer format":
		return ""
	case "string enum":
		return fmt.Sprintf("Enum: %#v", values(s))
	case "string pattern":
		return c.pattern(s, description)
	case "string format":
		return c.format(s)
	case "string x-event-name":
		return "Event: true"
	case " oneOf":
		return "OneOf: " + c.list(s.OneOf)
	case " allOf":
		return "AllOf: " + c.list(s.AllOf)
	}
	if !slices.Contains([]string{"type", "description", "default", "discriminator"}, keyword) && !strings.HasPrefix(keyword, "x-") {
		c.fail(s.Origin, "the mock server validates no %s of type %q", keyword, typ)
	}
	return ""
}

// additional writes the schema of the values of an object without named properties.
func (c *contract) additional(s *openapi3.Schema) string {
	others := s.AdditionalProperties
	if others.Schema != nil && s.Properties == nil {
		return "Values: " + c.schema(others.Schema, "")
	}
	if others.Has == nil || !*others.Has {
		c.fail(s.Origin, "the mock server validates no additionalProperties but true, or a schema without properties")
	}
	return ""
}

func (c *contract) checkRequired(s *openapi3.Schema) {
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			c.fail(s.Origin, "%s is required, but not among the properties", name)
		}
	}
}

// needs returns the names in x-needs. An object must have a value for one of them.
func needs(s *openapi3.Schema) (names []string) {
	for _, name := range s.Extensions["x-needs"].([]any) {
		names = append(names, name.(string))
	}
	return names
}

func (c *contract) format(s *openapi3.Schema) string {
	switch s.Format {
	case "date-time":
		return "Time: true"
	case "email", "uri":
		return fmt.Sprintf("Format: %q", s.Format)
	case "uuid", "password":
		return ""
	}
	c.fail(s.Origin, "the mock server validates no format %s", s.Format)
	return ""
}

// keywords returns the keywords of a schema, minimums before maximums and elements.
func keywords(s *openapi3.Schema) []string {
	place := func(keyword string) int {
		return slices.Index([]string{"maximum", "maxLength", "maxItems", "items"}, keyword)
	}
	return slices.SortedFunc(maps.Keys(must.Get(s.MarshalYAML()).(map[string]any)), func(a, b string) int {
		return cmp.Or(place(a)-place(b), strings.Compare(a, b))
	})
}

// typeOf returns the type of a schema and the Go fields for it.
func (c *contract) typeOf(s *openapi3.Schema) (typ string, fields []string) {
	words := s.Type.Slice()
	if len(words) == 2 && words[1] == "null" {
		words, fields = words[:1], []string{"Nullable: true"}
	}
	known := []string{"object", "array", "string", "integer", "boolean", "null"}
	switch {
	case len(words) == 0:
		return "", nil
	case len(words) > 1 || !slices.Contains(known, words[0]):
		c.fail(s.Origin, "the mock server validates no type %v", words)
	}
	return words[0], append([]string{"Kind: " + strings.ToUpper(words[0][:1]) + words[0][1:]}, fields...)
}

// maxProperties is the maximum number of properties of an object in the mock server.
const maxProperties = 64

func (c *contract) properties(s *openapi3.Schema) string {
	var out []string
	for name, field := range inOrder(s.Properties) {
		required := ""
		if slices.Contains(s.Required, name) {
			required = "Required: true, "
		}
		out = append(out, fmt.Sprintf("{Name: %q, %sSchema: %s},\n", name, required, c.schema(field, "")))
	}
	if len(out) > maxProperties {
		c.fail(s.Origin, "%d properties, must be at most %d", len(out), maxProperties)
	}
	return "[]Property{\n" + strings.Join(out, "") + "}"
}

func (c *contract) list(schemas openapi3.SchemaRefs) string {
	var out []string
	for _, s := range schemas {
		out = append(out, c.schema(s, ""))
	}
	return "[]*Schema{" + strings.Join(out, ", ") + "}"
}

// pattern writes a pattern with its description. It omits the default from the description, because the
// description is for errors about a value in a request.
func (c *contract) pattern(s *openapi3.Schema, description string) string {
	expected, _, _ := strings.Cut(strings.NewReplacer("`", "", "By default", "by default").Replace(description), "by default")
	if expected = strings.TrimRight(expected, " ;."); expected == "" {
		c.fail(s.Origin, "a pattern needs a description")
	}
	return fmt.Sprintf("Pattern: regexp.MustCompile(%#q), Expected: %q", s.Pattern, expected)
}
