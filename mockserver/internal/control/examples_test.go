package control_test

import (
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
)

// command matches a curl example in the manual.
var command = regexp.MustCompile(`(?m)^curl(?: -X ([A-Z]+))? "\$MOCK/([^"]*)"(?: --json '(.*)')?$`)

// TestManualExamples runs each example of manual.tmpl on a new server, and validates the response with
// /_mock/openapi.json. It fails if a field is missing or not in the document.
func TestManualExamples(t *testing.T) {
	manual, err := os.ReadFile("manual.tmpl")
	require.NoError(t, err)
	doc := controlDocument(t)
	examples := command.FindAllStringSubmatch(string(manual), -1)
	n := strings.Count(string(manual), "\ncurl ")
	assert.Equal(t, len(examples), n)
	assert.GreaterOrEqual(t, n, 40)
	for _, example := range examples {
		t.Run(example[0], func(t *testing.T) {
			c := newControlled(t)
			c.Post("/_mock/outbox/"+c.email+"/bounce", nil).OK()
			c.Post("/_mock/faults", `{"action":"status","operation":"listTags"}`).OK()
			method, path, body := example[1], c.filled(example[2]), c.filled(example[3])
			if method == "" {
				method = map[bool]string{true: "GET", false: "POST"}[body == ""]
			}
			c.Post("/_mock/wait", nil).OK()
			c.makes(doc, method, path, body)
		})
	}
}

// filled replaces placeholders such as $ID.
func (c controlFixture) filled(text string) string {
	c.Helper()
	if text == "@snapshot.json" {
		return c.Get("/_mock/state").OK().Body
	}
	if strings.Contains(text, "$CONFIRMATION") {
		c.Post(c.list+"/contacts?send_double_opt_in=true", `{"email":"new@example.org"}`).OK()
		return strings.ReplaceAll(text, "$CONFIRMATION", c.ids("/_mock/outbox?to=new@example.org"))
	}
	resource, _, _ := strings.Cut(text, "/")
	if resource == "templates" {
		return strings.ReplaceAll(text, "$ID", c.Post("/templates", `{"name":"Welcome","content":{"html":"{{name}}"}}`).OK().Text("template_id"))
	}
	switch {
	case resource == "campaigns":
		return strings.ReplaceAll(text, "$ID", c.Post("/campaigns", `{"name":"May","content":{"html":"{{name}}"}}`).OK().Text("campaign_id"))
	case strings.HasSuffix(text, "/restore"):
		c.Delete("/_mock/outbox/" + c.email).OK()
	}
	id := map[string]string{
		"outbox": c.email, "lists": strings.TrimPrefix(c.list, "/lists/"), "events": "evt-1", "deliveries": "dlv-1", "requests": "req-00000001", "faults": "fault-1",
	}[resource]
	return strings.ReplaceAll(text, "$ID", id)
}

// makes calls a control route and validates the response.
func (c controlFixture) makes(doc *openapi3.T, method, path, body string) {
	c.Helper()
	req := rawhttp.NewRequest(c, method, c.URL()+"/_mock/"+path, "", body)
	res, err := c.HTTPClient().Do(req) // not exchange, because a stream does not end
	require.NoError(c, err)
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(res.Body)
		c.Fatalf("got %s %s, want a success", res.Status, text)
	}
	if strings.HasPrefix(path, "accounts/") {
		return // openapi.yaml describes this response
	}
	media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	op := operationAt(doc, method, req.URL.Path)
	if op == nil {
		c.Fatalf("the document has no %s %s", method, req.URL.Path)
	}
	declared := op.Responses.Status(res.StatusCode)
	if declared == nil || media != "" && declared.Value.Content.Get(media) == nil {
		c.Fatalf("the document does not describe %d %s", res.StatusCode, media)
	}
	if media != "application/json" || declared.Value.Content.Get(media).Schema == nil {
		return
	}
	var value any
	require.NoError(c, json.NewDecoder(res.Body).Decode(&value))
	assert.NoError(c, declared.Value.Content.Get(media).Schema.Value.VisitJSON(value))
}

func operationAt(doc *openapi3.T, method, path string) *openapi3.Operation {
	if item := doc.Paths.Value(path); item != nil {
		return item.GetOperation(method)
	}
	for pattern, item := range doc.Paths.Map() {
		parts := regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(pattern, "[^/]+")
		if regexp.MustCompile("^" + parts + "$").MatchString(path) {
			return item.GetOperation(method)
		}
	}
	return nil
}

// controlDocument returns /_mock/openapi.json, changed so that its objects reject additional fields.
func controlDocument(t *testing.T) *openapi3.T {
	t.Helper()
	text := probe.New(t, mockserver.Config{}).Get("/_mock/openapi.json").OK().Body
	text = strings.ReplaceAll(text, `"additionalProperties":false,`, "") // the next line adds it to each object
	text = strings.ReplaceAll(text, `"type":"object"`, `"type":"object","additionalProperties":false`)
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	require.NoError(t, err)
	doc.OpenAPI = "3.0.3" // the 3.0 validator is faster and supports all schemas of the control routes
	return doc
}
