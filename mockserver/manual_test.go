package mockserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/mockserver"
)

// command is an example of the manual.
var command = regexp.MustCompile(`(?m)^curl(?: -X ([A-Z]+))? "\$MOCK/([^"]*)"(?: --json '(.*)')?$`)

// TestManualExamples makes every example of docs/control-api.md, each in a world
// of its own, and holds what is answered against /_mock/openapi.json: no member
// is missing there, or too many.
func TestManualExamples(t *testing.T) {
	manual, err := os.ReadFile(filepath.Join("..", "docs", "control-api.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := controlDocument(t)
	examples := command.FindAllStringSubmatch(string(manual), -1)
	if n := strings.Count(string(manual), "\ncurl "); n != len(examples) || n < 40 {
		t.Errorf("%d examples are commands, of %d", len(examples), n)
	}
	for _, example := range examples {
		t.Run(example[0], func(t *testing.T) {
			c := newControlled(t)
			c.must("POST", "/_mock/outbox/"+c.email+"/bounce", nil)
			c.must("POST", "/_mock/faults", `{"action":"status","operation":"listTags"}`)
			method, path, body := example[1], c.filled(example[2]), c.filled(example[3])
			if method == "" {
				method = map[bool]string{true: "GET", false: "POST"}[body == ""]
			}
			c.must("POST", "/_mock/wait", nil)
			c.makes(doc, method, path, body)
		})
	}
}

// filled puts what there is in the place of a name such as $ID.
func (c controlled) filled(text string) string {
	c.t.Helper()
	if text == "@snapshot.json" {
		return c.must("GET", "/_mock/state", nil).text
	}
	if strings.Contains(text, "$CONFIRMATION") {
		c.must("POST", c.list+"/contacts?send_double_opt_in=true", `{"email":"new@example.org"}`)
		return strings.ReplaceAll(text, "$CONFIRMATION", c.ids("/_mock/outbox?to=new@example.org"))
	}
	resource, _, _ := strings.Cut(text, "/")
	if resource == "templates" {
		return strings.ReplaceAll(text, "$ID", c.must("POST", "/templates", `{"name":"Welcome","content":{"html":"{{name}}"}}`).id("template_id"))
	}
	id := map[string]string{
		"outbox": c.email, "lists": strings.TrimPrefix(c.list, "/lists/"), "events": "evt-1", "deliveries": "dlv-1", "requests": "req-00000001", "faults": "fault-1",
	}[resource]
	return strings.ReplaceAll(text, "$ID", id)
}

// makes asks for a control route and holds its answer against the document.
func (c controlled) makes(doc *openapi3.T, method, path, body string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.URL()+"/_mock/"+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: c.Transport()}).Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(res.Body)
		c.t.Fatalf("got %s %s, want a success", res.Status, text)
	}
	media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	op := operationAt(doc, method, req.URL.Path)
	if op == nil {
		c.t.Fatalf("the document has no %s %s", method, req.URL.Path)
	}
	declared := op.Responses.Status(res.StatusCode)
	if declared == nil {
		declared = op.Responses.Value("2XX")
	}
	if declared == nil || media != "" && declared.Value.Content.Get(media) == nil {
		c.t.Fatalf("the document does not describe %d %s", res.StatusCode, media)
	}
	if media != "application/json" || declared.Value.Content.Get(media).Schema == nil {
		return
	}
	var value any
	if err := json.NewDecoder(res.Body).Decode(&value); err != nil {
		c.t.Fatal(err)
	}
	if err := declared.Value.Content.Get(media).Schema.Value.VisitJSON(value); err != nil {
		c.t.Error(err)
	}
}

// operationAt returns the operation that takes a path.
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

// controlDocument returns the document of the control routes, read so that its
// objects have no members but those that it names.
func controlDocument(t *testing.T) *openapi3.T {
	t.Helper()
	text := newProbe(t, mockserver.Config{}).must("GET", "/_mock/openapi.json", nil).text
	text = strings.ReplaceAll(text, `"type":"object"`, `"type":"object","additionalProperties":false`)
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	doc.OpenAPI = "3.0.3" // whose validator is faster, and knows all that is in it
	return doc
}
