package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/mockserver/internal/api"
)

// TestViolations makes sure that broken answers and events are noticed: a
// checker that finds nothing would be of no use.
func TestViolations(t *testing.T) {
	c := Load()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/lists/1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"1"}}
	get := c.Operations["GET /lists/{list_id}"]
	for name, row := range map[string]struct {
		status int
		body   string
		broken bool
	}{
		"good":            {200, `{"list_id":1,"name":"L"}`, false},
		"more members":    {200, `{"list_id":1,"name":"L","later":true}`, false},
		"missing member":  {200, `{"list_id":1}`, true},
		"wrong type":      {200, `{"list_id":"1","name":"L"}`, true},
		"not JSON":        {200, `<html>`, true},
		"unknown status":  {299, `{}`, true},
		"good problem":    {404, `{"detail":[{"loc":["path","list_id"],"msg":"no list","type":"not_found"}]}`, false},
		"problem in text": {404, `{"detail":"no list"}`, true},
		"5XX":             {503, `{"detail":[]}`, false},
	} {
		if err := get.validateResponse(r, row.status, header, []byte(row.body)); (err != nil) != row.broken {
			t.Errorf("%s: %v", name, err)
		}
	}

	const added = `{"event":"Contact.Added","timestamp":"2026-01-02T03:04:05Z","data":{"contact_id":"1","list_id":"2",` +
		`"email_address":"a@example.org","added_at":"2026-01-02T03:04:05Z"}}`
	for name, row := range map[string]struct {
		event, body string
		broken      bool
	}{
		"good":           {"Contact.Added", added, false},
		"other event":    {"Contact.Removed", added, true},
		"integer id":     {"Contact.Added", strings.Replace(added, `"1"`, `1`, 1), true},
		"unknown event":  {"Contact.Moved", added, true},
		"missing member": {"Contact.Added", `{"event":"Contact.Added","timestamp":"2026-01-02T03:04:05Z","data":{}}`, true},
	} {
		if err := c.ValidateEvent(row.event, []byte(row.body)); (err != nil) != row.broken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestExamples holds the document's own examples of events against their
// schemas, by the fast engine that traffic is held against and by the exact one.
func TestExamples(t *testing.T) {
	exact, err := openapi3.NewLoader().LoadFromFile("../../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, item := range exact.Webhooks {
		media := item.Post.RequestBody.Value.Content.Get("application/json")
		for id, example := range media.Examples {
			n++
			if err := media.Schema.Value.VisitJSON(example.Value.Value, openapi3.EnableJSONSchema2020()); err != nil {
				t.Errorf("%s %s: exact: %v", name, id, err)
			}
			fast := document().Webhooks[name].Post.RequestBody.Value.Content.Get("application/json")
			if err := fast.Schema.Value.VisitJSON(example.Value.Value); err != nil {
				t.Errorf("%s %s: fast: %v", name, id, err)
			}
		}
	}
	if n < 14 {
		t.Errorf("only %d examples", n)
	}
}

// TestMaxImport holds the constant against the document that it repeats.
func TestMaxImport(t *testing.T) {
	contacts := document().Components.Schemas["ContactImport"].Value.Properties["contacts"].Value
	if contacts.MaxItems == nil || *contacts.MaxItems != api.MaxImport {
		t.Errorf("maxItems is %v, api.MaxImport %d", contacts.MaxItems, api.MaxImport)
	}
}
