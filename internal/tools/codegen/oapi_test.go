package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tools/must"
)

// generateOrder generates readers and writers for an OpenAPI schema Order with one field, which the argument field
// defines. If the argument order is not nil, Order is the schema of a response, so its reader reports an error if the
// field is missing.
func generateOrder(t *testing.T, field string, order map[string][]string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	required := ""
	if order != nil {
		required = "required: [field], "
	}
	put("openapi.yaml", `
openapi: 3.1.0
info: {title: Test, version: '1'}
paths:
  /orders:
    post:
      operationId: createOrder
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
      responses: {'204': {description: created}}
components:
  schemas:
    Part: {type: object, properties: {size: {type: integer}}}
    Order: {type: object, `+required+`properties: {field: `+field+`}}
`)
	put("hand.go", "package test\n\nvar _ = readOrder\n")
	config := put("config.yaml", `
package: test
output-options: {prefer-skip-optional-pointer: true, type-mapping: {integer: {default: {type: int64}}}}
outputs:
  - {file: encode.gen.go, templates: {typedef: encode.tmpl}}
  - {file: decode.gen.go, templates: {typedef: decode.tmpl}}
`)
	err := must.Run(func() { oapiCodegen(dir, dir, config, order) })
	if err != nil {
		return "", err
	}
	out := ""
	for _, name := range []string{"encode.gen.go", "decode.gen.go"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		out += string(text)
	}
	return out, nil
}

// TestReadersAndWriters checks the generated statements for each kind of field. The tests of packages client and
// events prove what these statements do.
func TestReadersAndWriters(t *testing.T) {
	for _, row := range [][]string{ // a field, and the statements for it
		{`{type: string}`, `if v.Field != "" {`, "w.String(v.Field)", "v.Field = c.String()"},
		{`{type: integer}`, "if v.Field != 0 {", "w.Int(v.Field)", "v.Field = c.Int()"},
		{`{type: boolean}`, "if v.Field {", "w.Bool(v.Field)", "v.Field = c.Bool()"},
		{`{type: array, items: {type: string}}`, "if v.Field != nil {", "jsonwrite.Strings(w, v.Field)", "jsonscan.Slice(c, (*jsonscan.Cursor).String)"},
		{`{type: array, items: {type: integer}}`, "jsonwrite.Ints(w, v.Field)", "jsonscan.Slice(c, (*jsonscan.Cursor).Int)"},
		{`{type: array, items: {$ref: '#/components/schemas/Part'}}`, "jsonwrite.Slice(w, v.Field, (*Part).write)", "jsonscan.Slice(c, readPart)"},
		{`{$ref: '#/components/schemas/Part'}`, "if v.Field != (Part{}) {", "v.Field.write(w)", "v.Field = readPart(c)"},
		{`{type: string, x-go-type-skip-optional-pointer: false}`, "if v.Field != nil {", "w.String(*v.Field)", "jsonscan.Pointer(c, (*jsonscan.Cursor).String)"},
		{`{type: string, x-go-type: Kind}`, "w.String(string(v.Field))", "v.Field = readKind(c)"},
		{`{type: string, x-go-read: readAnyID(c)}`, "w.String(v.Field)", "v.Field = readAnyID(c)"},
		{`{type: string, x-go-read: c.Scalar()}`, "w.String(v.Field)", "v.Field = c.Scalar()"},
		{`{type: integer, x-go-type: time.Time, x-go-write: writeUnixTime}`, "writeUnixTime(w, v.Field)", "v.Field = readTime(c)"},
		{`{type: string, x-go-json-ignore: true}`, "w.Open('{')\n\tw.Close('}')"},
	} {
		out, err := generateOrder(t, row[0], nil)
		require.NoError(t, err, row[0])
		for _, text := range row[1:] {
			assert.Contains(t, out, text, row[0])
		}
	}
}

// TestUnsupportedFields: the generator names a field that it cannot read or write, and a response without an identity.
func TestUnsupportedFields(t *testing.T) {
	response := map[string][]string{}
	for _, row := range []struct {
		field, want string
		order       map[string][]string
	}{
		{`{type: number}`, "no writer for the field Field of type float32", nil},
		{`{type: array, items: {type: boolean}}`, "no writer for the items of the field Field", nil},
		{`{type: array, items: {type: array, items: {type: string}}}`, "no writer for the items of the field Field", nil},
		{`{type: object, additionalProperties: {type: string}}`, "no writer for the field Field of type map[string]string", nil},
		{`{type: integer, x-go-type: "func()"}`, "no reader for the type func()", nil},
		{`{type: string, x-go-json-ignore: true}`, "Order is a response or an item without a field ID or Data", response},
		{`{type: string}`, "", response},
		{`{type: string, x-go-name: ID, x-go-read: readAnyID(c)}`, "", response},
		{`{type: string, x-go-name: ID}`, "Order.ID is text: set x-go-read: readAnyID(c)", response},
	} {
		out, err := generateOrder(t, row.field, row.order)
		switch {
		case row.want == "":
			assert.NoError(t, err, row.field)
			assert.Contains(t, out, `c.Missing(start, "field")`, row.field)
		case err == nil || !strings.Contains(err.Error(), row.want):
			t.Errorf("%s: got %v, want the error %q", row.field, err, row.want)
		}
	}
}
