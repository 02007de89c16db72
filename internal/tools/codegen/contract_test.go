package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tools/must"
)

// TestUnsupportedSchemas: a rule that the mock server cannot validate is an error.
func TestUnsupportedSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		"{type: [string, integer]}":                                            "validates no type [string integer]",
		"{minLength: 1}":                                                       `validates no minLength of type ""`,
		"{type: number}":                                                       "validates no type [number]",
		"{type: string, multipleOf: 2}":                                        `openapi.yaml:1: the mock server validates no multipleOf of type "string"`,
		"{type: string, format: date}":                                         "validates no format date",
		"{type: object, required: [a]}":                                        "a is required, but not among the properties",
		"{type: object, additionalProperties: false}":                          "validates no additionalProperties but true",
		"{type: array, items: {type: string}, maxItems: 0}":                    "validates no maxItems of 0",
		"{type: integer, minLength: 1}":                                        `validates no minLength of type "integer"`,
		"{type: string, pattern: '^a'}":                                        "a pattern needs a description",
		"{type: object, properties: {}, additionalProperties: {type: string}}": "validates no additionalProperties but true",
	} {
		doc, err := parseDocument([]byte("components: {schemas: {a: " + schema + "}}"))
		require.NoError(t, err)
		c := contract{named: map[string]bool{}}
		if got, err := c.schema(doc.Components.Schemas["a"], ""), errors.Join(c.errs...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %s, %v, want the error %q", schema, got, err, want)
		}
	}
}

// TestUnsupportedParts: parameters and headers that the mock server cannot validate are errors.
func TestUnsupportedParts(t *testing.T) {
	for operation, want := range map[string]string{
		"parameters: [{name: X-A, in: header, schema: {type: string}}]":                     "validates no parameter X-A: in header",
		"parameters: [{name: a, in: query, required: true, schema: {type: string}}]":        "validates no parameter a: in query, required: true",
		"responses: {'200': {headers: {X-B: {required: true, schema: {type: string}}}}}":    "validates no header X-B: required",
		"responses: {'200': {content: {text/csv: {schema: {type: string, enum: [a, b]}}}}}": "",
	} {
		doc, err := parseDocument([]byte("paths: {/a: {get: {operationId: getA, x-repeatable: true, " + operation + "}}}"))
		require.NoError(t, err)
		if err := must.Run(func() { contractTable(doc) }); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", operation, err, want)
		}
	}
}
