package main

import (
	"slices"
	"strings"
	"testing"
)

// TestKinds: schemas are described in words, with their rules.
func TestKinds(t *testing.T) {
	root, err := parseTree([]byte(`
components:
  schemas:
    Sender: {type: object, properties: {email: {type: string}}}
    Status: {type: string, enum: [open, done]}
    Place: {type: array, items: {oneOf: [{type: string}, {type: integer}]}}
`))
	must(t, err)
	for _, tt := range []struct{ name, schema, want string }{
		{"a type", `{type: string}`, "string"},
		{"a type, or null", `{type: [string, 'null']}`, "string or null"},
		{"true and false", `{type: boolean, default: false}`, "true or false, false by default"},
		{"a format", `{type: string, format: date-time}`, "time as ISO 8601"},
		{"a range", `{type: integer, minimum: 1, maximum: 100, default: 50}`, "integer, 1 to 100, 50 by default"},
		{"a least number", `{type: integer, minimum: 1}`, "integer, at least 1"},
		{"a greatest number", `{type: integer, maximum: 9}`, "integer, at most 9"},
		{"a text that is not empty", `{type: string, minLength: 1}`, "string, not empty"},
		{"a text with a least length", `{type: string, minLength: 3}`, "string, at least 3 long"},
		{"a pattern", `{type: string, pattern: '^a'}`, "string, `^a`"},
		{"a list", `{type: array, items: {type: string}, maxItems: 9}`, "list of strings, at most 9"},
		{"a list with two rules", `{type: array, items: {type: integer}, minItems: 1, maxItems: 9}`, "list of integers, not empty, at most 9"},
		{"a list of what has rules", `{type: array, items: {type: string, minLength: 1}, minItems: 1}`, "list of (strings, not empty), not empty"},
		{"an object of texts", `{type: object, additionalProperties: {type: string}}`, "object of string"},
		{"an object of anything", `{type: object, additionalProperties: true}`, "object"},
		{"a schema with members", `{$ref: '#/components/schemas/Sender'}`, "[Sender](#sender)"},
		{"a schema without members", `{$ref: '#/components/schemas/Status'}`, "`open` `done`"},
		{"one of several", `{$ref: '#/components/schemas/Place'}`, "list of strings or integers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			schema, err := parseTree([]byte(tt.schema))
			must(t, err)
			if got := (writer{doc: &document{root: root}}).kind(schema); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestBrief: descriptions do not repeat the type or the name of their field.
func TestBrief(t *testing.T) {
	for _, tt := range []struct{ name, description, field, want string }{
		{"other words", "The name that recipients see.", "Sendername", "The name that recipients see."},
		{"only words of the field and its schema", "The id of the template.", "Templatetemplate_id", ""},
		{"a time", "When the list was created, in Unix seconds.", "Listcreated_on", ""},
		{"a default", "The page size, from 1 to 100. The default is 50. It may change.", "per_page", "The page size. It may change."},
		{"future values", "Known values are a and b. The platform may add values.", "type", "Known values are a and b."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := brief(tt.description, tt.field); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestSchemaTables: schemas that create or update a resource are in the table of the resource.
func TestSchemaTables(t *testing.T) {
	for name, want := range map[string]string{"Template": "Template", "TemplateContentUpdate": "TemplateContent", "NoListRef": "ListRef"} {
		if got := home(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestVariantRows: each field has one row with its type in each shape.
func TestVariantRows(t *testing.T) {
	got := rowsOf([]section{
		{Members: []row{{Name: "a", Kind: "string", Description: "One."}, {Name: "b", Kind: "integer", Description: "B."}}},
		{Members: []row{{Name: "c", Kind: "null"}, {Name: "a", Kind: "integer", Description: "Another.", Optional: true}}},
	})
	var lines []string
	for _, r := range got {
		lines = append(lines, r.Name+": "+strings.Join(r.Kinds, " | ")+": "+r.Description)
	}
	want := []string{"a: string | integer?: One. Another.", "b: integer | –: B.", "c: – | null: "}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}

// TestClientMethods includes methods that send requests through other methods of their service.
func TestClientMethods(t *testing.T) {
	methods := clientMethods("../../../client")
	for op, want := range map[string][]string{
		"getEmail":       {"Emails.Get", "Emails.GetAll", "Emails.Wait"},
		"createWebhook":  {"Webhooks.Create", "Webhooks.Ensure", "Webhooks.Rotate"},
		"getWebhook":     {"Webhooks.Active", "Webhooks.Ensure", "Webhooks.Get", "Webhooks.Rotate"},
		"importContacts": {"Contacts.Import", "Contacts.ImportBatch"},
		"listTags":       {"Tags.All", "Tags.List"},
	} {
		if got := slices.Sorted(slices.Values(methods[op])); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", op, got, want)
		}
	}
}
