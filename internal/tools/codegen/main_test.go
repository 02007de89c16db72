package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tools/must"
)

const root = "../../.."

// TestUpToDate: the files that codegen writes without oapi-codegen match openapi.yaml. Other files are not tested
// here.
func TestUpToDate(t *testing.T) {
	doc, err := readDocument(filepath.Join(root, "openapi.yaml"))
	require.NoError(t, err)
	for dir, files := range map[string]map[string][]byte{
		".":                   referenceFile(root, doc),
		"events":              eventFiles(doc),
		"mockserver/internal": mockFiles(doc),
	} {
		for name, content := range files {
			got, err := os.ReadFile(filepath.Join(root, dir, name))
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s/%s differs from openapi.yaml: run go generate ./... (%v)", dir, name, err)
			}
		}
	}
}

// missingParts contains changes of openapi.yaml, each with its error.
var missingParts = []struct{ name, old, new, want string }{
	{
		name: "in the list of names",
		old:  "        - Email.Error\n",
		want: "Email.Error is under webhooks, but not in the enum of the schema EventName",
	},
	{
		name: "the webhook",
		old:  "\n  Email.Error:\n", new: "\n  Email.Lost:\n",
		want: "event Email.Error: there is no webhook of this name",
	},
	{
		name: "its place among all events",
		old:  "        - $ref: '#/components/schemas/EmailErrorEvent'\n",
		want: "event Email.Error: it is not one of the schema Event, or not mapped there",
	},
	{
		name: "its name among all events",
		old:  "          Email.Error: '#/components/schemas/EmailErrorEvent'\n",
		want: "event Email.Error: it is not one of the schema Event, or not mapped there",
	},
	{
		name: "the data",
		old:  "data: {$ref: '#/components/schemas/EmailErrored'}", new: "data: {type: object}",
		want: "event Email.Error: the schema of its delivery names no schema of its data",
	},
	{
		name: "the value of an example",
		old:  "summary: 'To a list'\n                value:",
		new:  "summary: 'To a list'\n                values:",
		want: "event Contact.Added: example contact_added: it has no value",
	},
	{
		name: "a name of its own in the list",
		old:  "        - Email.Error\n", new: "        - Email.Error\n        - Email.Error\n",
		want: "the schema EventName lists Email.Error twice",
	},
	{
		name: "a name of its own for an example",
		old:  "              contact_unsubscribed:\n", new: "              contact_added:\n",
		want: "event Contact.Unsubscribed: example contact_added: another has this name",
	},
	{
		name: "whether an update is partial",
		old:  "    CampaignUpdate:\n      x-partial: true\n", new: "    CampaignUpdate:\n",
		want: "the schema CampaignUpdate must have x-partial: true",
	},
	{
		name: "whether a nested object is partial",
		old:  "    TemplateContentUpdate:\n      x-partial: true\n", new: "    TemplateContentUpdate:\n",
		want: "the schema TemplateContentUpdate must have x-partial: true",
	},
	{
		name: "what an endpoint is called",
		old:  "      operationId: renderTemplate\n",
		want: "get /templates/{template_id}/render: operationId is missing",
	},
	{
		name: "the mark of a delivery",
		old:  "    EmailErrorEvent:\n      x-events: true\n", new: "    EmailErrorEvent:\n",
		want: "the schema EmailErrorEvent must have x-events: true",
	},
	{
		name: "the mark of a schema of data",
		old:  "    EmailRef:\n      x-events: true\n", new: "    EmailRef:\n",
		want: "the schema EmailRef must have x-events: true",
	},
	{
		name: "an example of a body",
		old:  "            example:\n              name: Customers\n",
		want: "post /lists: the body has no example",
	},
	{
		name: "an example of a response",
		old: "              schema: {$ref: '#/components/schemas/List'}\n              example:\n                list_id: 81\n                name: Customers\n" +
			"                policy_accepted: false\n                created_on: 1760000000\n        '401'",
		new:  "              schema: {$ref: '#/components/schemas/List'}\n        '401'",
		want: "get /lists/{list_id}: the response 200 has no example",
	},
	{
		name: "the mark of a time",
		old:  "x-unix-time: true, description: 'When the list was created", new: "description: 'When the list was created",
		want: "List.created_on must have x-unix-time: true",
	},
	{
		name: "the mark of a time that can be null",
		old:  "x-unix-time: true, description: 'When the action happened", new: "description: 'When the action happened",
		want: "timestamp must have x-unix-time: true",
	},
	{
		name: "the type of a time",
		old:  "created_on: {x-decision: 10, type: integer, format: int64,", new: "created_on: {x-decision: 10, type: string,",
		want: "List.created_on must be an integer",
	},
	{
		name: "whether a number can be 0",
		old:  "x-never-zero: false, description: The number of opens.", new: "description: The number of opens.",
		want: "Email.opens must have x-never-zero: true if 0 is not a value",
	},
}

// TestMissingPartsAreReported: the error names the missing part of an event or an endpoint.
func TestMissingPartsAreReported(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(root, "openapi.yaml"))
	require.NoError(t, err)
	for _, tt := range missingParts {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.Replace(string(whole), tt.old, tt.new, 1)
			if changed == string(whole) {
				t.Fatalf("openapi.yaml has no %q", tt.old)
			}
			if _, err := parseDocument([]byte(changed)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestEnumerations: the error names a value without a meaning or a constant.
func TestEnumerations(t *testing.T) {
	doc, err := readDocument(filepath.Join(root, "openapi.yaml"))
	require.NoError(t, err)
	category := doc.schema("BounceCategory")
	category.Enum = append(category.Enum, "bounce_new")
	assert.ErrorContains(t, must.Run(func() { meanings(category) }), "the description has no meaning of bounce_new")
	category.Extensions = map[string]any{"x-go-constants": map[string]any{"bounce_hb": "Hard"}}
	assert.ErrorContains(t, must.Run(func() { nameConstants(doc.T) }), "the value bounce_sb of the schema BounceCategory has no name")
}

// TestErrorResponses: the error names a response that an operation lacks.
func TestErrorResponses(t *testing.T) {
	doc, err := readDocument(filepath.Join(root, "openapi.yaml"))
	require.NoError(t, err)
	responses := doc.Paths.Value("/lists").Post.Responses
	responses.Delete("413")
	responses.Delete("429")
	err = doc.checkErrorResponses()
	assert.ErrorContains(t, err, "openapi.yaml: post /lists: the response 413 is missing")
	assert.ErrorContains(t, err, "openapi.yaml: post /lists: the response 429 is missing")
}

// TestExamples: examples keep the order and the types of their fields.
func TestExamples(t *testing.T) {
	doc, err := parseDocument([]byte(`
paths:
  /a: {get: {operationId: getA, x-repeatable: true}, parameters: []}
webhooks:
  A.B:
    post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/E'}, examples: {one: {value: {z: '1', a: [1, -2.5, true, null, {}], m: a<b&c}}}}}}}
components:
  schemas:
    EventName: {enum: [A.B]}
    Event: {x-events: true, oneOf: [{$ref: '#/components/schemas/E'}], discriminator: {mapping: {A.B: '#/components/schemas/E'}}}
    E: {x-events: true, allOf: [{$ref: '#/components/schemas/GeneralEvent'}, {properties: {data: {$ref: '#/components/schemas/D'}}}]}
    D: {x-events: true, properties: {contact: {}, list_id: {}}}
    GeneralEvent: {x-events: true, type: object}
`))
	require.NoError(t, err)
	const want = `{"z":"1","a":[1,-2.5,true,null,{}],"m":"a<b&c"}`
	assert.Equal(t, want, doc.events[0].Examples[0].Body)
	if e := doc.events[0]; !e.General || e.Const() != "AB" || e.Shapes[0].Name != "D" {
		t.Errorf("the event is %+v", e)
	}
	if got := choices(doc.events[0].Shapes, "contact", "required", "optional", "list_id", "list", ""); !slices.Equal(got, []choice{{"D", "optional"}}) {
		t.Errorf("the expression for the first field is %q", got)
	}
	assert.Equal(t, []choice{{"D", "list"}}, choices(doc.events[0].Shapes, "email", "email", "", "list_id", "list", ""), "the expression for the second field")
}

// TestReference: the error names an endpoint without a client method.
func TestReference(t *testing.T) {
	ops := []operation{
		{id: "getA", method: "GET", path: "/a", repeatable: true},
		{id: "postA", method: "POST", path: "/a"},
	}
	err := everyOneCalled(ops, map[string][]string{"getA": {"A.Get", "A.Wait"}})
	if want := "no exported method calls postARequest: POST /a has none"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := everyOneCalled(ops[:1], map[string][]string{"getA": {"A.Get", "A.Wait"}}); err != nil {
		t.Errorf("got %v for an endpoint that is called", err)
	}
}

// TestBrief: the reference omits a description that repeats the name of the field. It never omits a condition.
func TestBrief(t *testing.T) {
	for _, tt := range []struct{ name, description, want string }{
		{"contact_id", "The id of the contact.", ""},
		{"contact_id", "The id of the contact; null if it is unknown.", "Null if it is unknown."},
		{"email", "The address to bounce.", "Address to bounce."},
		{"notes_id", "The id of the contact, not of the user.", "Id of the contact, not of the user."},
		{"status", "No status.", "No status."},
		{"error", "The message, if the contact is unsubscribed.", "Message, if the contact is unsubscribed."},
	} {
		assert.Equal(t, tt.want, brief(tt.description, tt.name), tt.description)
	}
}

// TestDecisions: exactly the operations that the specification does not list have the number of a decision.
func TestDecisions(t *testing.T) {
	doc, err := readDocument(filepath.Join(root, "openapi.yaml"))
	require.NoError(t, err)
	specification, err := os.ReadFile(filepath.Join(root, "docs", "specification.md"))
	require.NoError(t, err)
	for _, op := range doc.operations {
		n := decision(op.Extensions)
		listed := strings.Contains(string(specification), "| "+op.method+" | "+op.path+" |")
		if listed == (n != "") {
			t.Errorf("%s: the specification lists it: %t, decision %q", op.id, listed, n)
		}
		if n != "" && decisionAnchors()[n] == "" {
			t.Errorf("%s: there is no decision %s", op.id, n)
		}
	}
}
