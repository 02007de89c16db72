package main

import (
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
)

// What a schema says is written as a shape; one that says more than a shape can is
// written as the shape that accepts nothing.
func TestShapes(t *testing.T) {
	for name, row := range map[string]struct{ schema, want string }{
		"an object": {
			"{type: object, description: D, required: [a], properties: {b: {type: boolean}, a: {type: string, minLength: 1}}}",
			"&Shape{Kind: Object, Members: []Member{\n{Name: \"a\", Required: true, Shape: &Shape{Kind: String, Min: 1}},\n" +
				"{Name: \"b\", Shape: &Shape{Kind: Boolean}},\n}}",
		},
		"any members":          {"{type: object, additionalProperties: {type: string}}", "&Shape{Kind: Object, Others: &Shape{Kind: String}}"},
		"a list":               {"{type: array, items: {type: string}, maxItems: 3}", "&Shape{Kind: Array, Item: &Shape{Kind: String}, Max: 3}"},
		"null":                 {"{type: [string, 'null']}", "&Shape{Kind: String, Nullable: true}"},
		"one of some":          {"{type: string, enum: [a, b], x-events: true}", `&Shape{Kind: String, Enum: []string{"a", "b"}}`},
		"a pattern":            {`{type: string, pattern: '^\d$'}`, "&Shape{Kind: String, Pattern: regexp.MustCompile(`^\\d$`)}"},
		"any integer":          {"{type: integer, format: int64}", "&Shape{Kind: Integer, Min: math.MinInt64}"},
		"a least":              {"{type: integer, minimum: 1}", "&Shape{Kind: Integer, Min: 1}"},
		"a reference":          {"{$ref: '#/components/schemas/A'}", "shapeA"},
		"two types":            {"{type: [string, integer]}", nothing},
		"no type":              {"{minLength: 1}", nothing},
		"a number":             {"{type: number}", nothing},
		"another keyword":      {"{type: string, multipleOf: 2}", nothing},
		"another format":       {"{type: string, format: date}", nothing},
		"one of shapes":        {"{type: object, oneOf: [{type: object}]}", nothing},
		"members and others":   {"{type: object, properties: {a: {}}, additionalProperties: {type: string}}", nothing},
		"what is not declared": {"{type: object, required: [a]}", nothing},
		"nothing at the most":  {"{type: array, items: {type: string}, maxItems: 0}", nothing},
		"a keyword of another": {"{type: integer, minLength: 1}", nothing},
	} {
		var root map[string]any
		text := "schema: " + row.schema + "\ncomponents: {schemas: {A: {type: boolean}}}"
		if err := yaml.Unmarshal([]byte(text), &root); err != nil {
			t.Fatal(err)
		}
		s := shapes{root: root, named: map[string]string{}}
		if got := s.shape(s.root.at("schema")); got != row.want {
			t.Errorf("%s: %s\nwant %s", name, got, row.want)
		}
		if declared := strings.Join(s.declared, "\n"); (row.want == "shapeA") != (declared == "shapeA := &Shape{Kind: Boolean}") {
			t.Errorf("%s: declared %q", name, declared)
		}
	}
}

// A parameter that package accept would not look at must not be left out.
func TestParametersElsewhere(t *testing.T) {
	doc := &document{
		operations: []operation{{id: "getA", method: "GET", path: "/a"}},
		root: node{"paths": map[string]any{"/a": map[string]any{"get": map[string]any{
			"parameters": []any{map[string]any{"name": "X-A", "in": "header", "schema": map[string]any{"type": "string"}}},
		}}}},
	}
	if _, err := acceptFiles(doc); err == nil || !strings.Contains(err.Error(), "GET /a: parameter X-A: in header") {
		t.Errorf("got %v", err)
	}
}
