package main

import (
	"errors"
	"strings"
	"testing"
)

// TestContractSchemas: the table contains all rules of a schema. A rule that the mock server cannot validate is an
// error.
func TestContractSchemas(t *testing.T) {
	for name, row := range map[string]struct{ schema, want, err string }{
		"an object": {
			schema: "{type: object, description: D, required: [a], properties: {b: {type: boolean}, a: {type: string, minLength: 1}}}",
			want: "&Schema{Kind: Object, Properties: []Property{\n{Name: \"b\", Schema: &Schema{Kind: Boolean}},\n" +
				"{Name: \"a\", Required: true, Schema: &Schema{Kind: String, Min: 1}},\n}}",
		},
		"a map":          {schema: "{type: object, additionalProperties: {type: string}}", want: "&Schema{Kind: Object, Values: &Schema{Kind: String}}"},
		"any object":     {schema: "{type: object, additionalProperties: true}", want: "&Schema{Kind: Object}"},
		"a list":         {schema: "{type: array, items: {type: string}, maxItems: 3}", want: "&Schema{Kind: Array, Items: &Schema{Kind: String}, Max: 3}"},
		"nullable":       {schema: "{type: [string, 'null']}", want: "&Schema{Kind: String, Nullable: true}"},
		"null":           {schema: "{type: 'null'}", want: "&Schema{Kind: Null}"},
		"an enum":        {schema: "{type: string, enum: [a, b], x-events: true}", want: `&Schema{Kind: String, Enum: []string{"a", "b"}}`},
		"any integer":    {schema: "{type: integer, format: int64}", want: "&Schema{Kind: Integer, Min: math.MinInt64}"},
		"a minimum":      {schema: "{type: integer, minimum: 1}", want: "&Schema{Kind: Integer, Min: 1}"},
		"a time":         {schema: "{type: string, format: date-time}", want: "&Schema{Kind: String, Time: true}"},
		"a reference":    {schema: "{$ref: '#/components/schemas/A'}", want: "schemaA"},
		"a choice":       {schema: "{oneOf: [{type: string}, {$ref: '#/components/schemas/A'}]}", want: "&Schema{OneOf: []*Schema{&Schema{Kind: String}, schemaA}}"},
		"all of some":    {schema: "{allOf: [{type: string}]}", want: "&Schema{AllOf: []*Schema{&Schema{Kind: String}}}"},
		"two types":      {schema: "{type: [string, integer]}", err: "validates no type [string integer]"},
		"no type":        {schema: "{minLength: 1}", err: `validates no minLength of type ""`},
		"a number":       {schema: "{type: number}", err: "validates no type [number]"},
		"a keyword":      {schema: "{type: string, multipleOf: 2}", err: `openapi.yaml:1: the mock server validates no multipleOf of type "string"`},
		"another format": {schema: "{type: string, format: date}", err: "validates no format date"},
		"not declared":   {schema: "{type: object, required: [a]}", err: "a is required, but not among the properties"},
		"no others":      {schema: "{type: object, additionalProperties: false}", err: "validates no additionalProperties but true"},
		"a list of none": {schema: "{type: array, items: {type: string}, maxItems: 0}", err: "validates no maxItems of 0"},
		"of another":     {schema: "{type: integer, minLength: 1}", err: `validates no minLength of type "integer"`},
		"a pattern":      {schema: "{type: string, pattern: '^a'}", err: "a pattern needs a description"},
		"both":           {schema: "{type: object, properties: {}, additionalProperties: {type: string}}", err: "validates no additionalProperties but true"},
	} {
		root, err := parseTree([]byte("schema: " + row.schema + "\ncomponents: {schemas: {A: {type: boolean}}}"))
		must(t, err)
		c := contract{root: root, named: map[string]bool{}}
		got := c.schema(root.at("schema"), "")
		if text := errors.Join(c.errs...); row.err == "" && (text != nil || got != row.want) {
			t.Errorf("%s: got %s %v\nwant %s", name, got, text, row.want)
		} else if row.err != "" && (text == nil || !strings.Contains(text.Error(), row.err)) {
			t.Errorf("%s: got %s, want the error %q", name, got, row.err)
		}
		if declared := strings.Join(c.declared, "\n"); strings.Contains(row.want, "schemaA") != (declared == "schemaA := &Schema{Kind: Boolean}") {
			t.Errorf("%s: declared %q", name, declared)
		}
	}
}

// TestContractUnsupported: parameters and headers that the mock server cannot validate are errors.
func TestContractUnsupported(t *testing.T) {
	for operation, want := range map[string]string{
		"parameters: [{name: X-A, in: header, schema: {type: string}}]":                     "validates no parameter X-A: in header",
		"parameters: [{name: a, in: query, required: true, schema: {type: string}}]":        "validates no parameter a: in query, required: true",
		"responses: {'200': {headers: {X-B: {required: true, schema: {type: string}}}}}":    "validates no header X-B: required",
		"responses: {'200': {content: {text/csv: {schema: {type: string, enum: [a, b]}}}}}": "",
	} {
		doc, err := parseDocument([]byte("paths: {/a: {get: {operationId: getA, x-repeatable: true, " + operation + "}}}"))
		must(t, err)
		if _, err := contractTable(doc); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", operation, err, want)
		}
	}
}
