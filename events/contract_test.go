package events_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/events"
)

// document loads openapi.yaml. As version "3.0.3" its schemas are validated by
// the faster engine, which the mock platform uses; the document keeps to what both
// engines understand.
func document(t testing.TB, version string) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil { // the examples too
		t.Fatal(err)
	}
	doc.OpenAPI = version
	return doc
}

func validate(doc *openapi3.T, schema *openapi3.SchemaRef, body []byte) error {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	var opts []openapi3.SchemaValidationOption
	if strings.HasPrefix(doc.OpenAPI, "3.1") {
		opts = append(opts, openapi3.EnableJSONSchema2020())
	}
	return schema.Value.VisitJSON(v, opts...)
}

// delivered returns the schema of the deliveries of an event.
func delivered(t testing.TB, doc *openapi3.T, event string) *openapi3.SchemaRef {
	t.Helper()
	item := doc.Webhooks[event]
	if item == nil {
		t.Fatalf("the document has no webhook %s", event)
	}
	return item.Post.RequestBody.Value.Content["application/json"].Schema
}

// Every delivery in testdata is one that the document describes, also when it is
// built from Go values, and with either engine.
func TestTestdataAgainstDocument(t *testing.T) {
	for _, version := range []string{"3.1.0", "3.0.3"} {
		doc := document(t, version)
		for name := range shapes {
			t.Run(version+"/"+name, func(t *testing.T) {
				body := delivery(t, name)
				ev := mustParse(t, body)
				built := marshal(t, events.Event{ID: ev.ID, Name: ev.Name, Time: ev.Time, AccountID: ev.AccountID, User: ev.User, IP: ev.IP, Data: ev.Data})
				for _, b := range [][]byte{body, built} {
					if err := validate(doc, delivered(t, doc, ev.Name), b); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// The document tells the four shapes of a bounce, and of a complaint, apart.
func TestDocumentTellsShapesApart(t *testing.T) {
	for _, version := range []string{"3.1.0", "3.0.3"} {
		doc := document(t, version)
		for name := range shapes {
			ev := mustParse(t, delivery(t, name))
			union := doc.Components.Schemas[strings.ReplaceAll(ev.Name, ".", "")+"Data"]
			if union == nil {
				continue
			}
			var fits []string
			for _, variant := range union.Value.OneOf {
				if validate(doc, variant, ev.RawData()) == nil {
					fits = append(fits, variant.Ref)
				}
			}
			if len(fits) != 1 {
				t.Errorf("%s: %s fits %v", version, name, fits)
			}
		}
	}
}

// Every example of the document is in a file of testdata, and the other way round.
func TestDocumentExamples(t *testing.T) {
	doc := document(t, "3.1.0")
	found := map[string]bool{}
	for _, item := range doc.Webhooks {
		for name, example := range item.Post.RequestBody.Value.Content["application/json"].Examples {
			found[name] = true
			if shapes[name] == nil {
				t.Errorf("testdata has no %s", name)
				continue
			}
			sameJSON(t, marshal(t, example.Value.Value), delivery(t, name))
		}
	}
	for name := range shapes {
		if !found[name] {
			t.Errorf("the document has no example %s", name)
		}
	}
}

// A document that no longer fits the test data would be noticed.
func TestDocumentRefuses(t *testing.T) {
	doc := document(t, "3.0.3")
	for _, row := range []struct{ name, file, old, new string }{
		{"a string for an integer", "campaign_bounce", `"id": 90210`, `"id": "90210"`},
		{"an integer for a string", "campaign_complaint", `"id": "90210"`, `"id": 90210`},
		{"a status that is not null", "workflow_bounce_trigger", `"status": null`, `"status": "spam"`},
		{"an unknown category", "transactional_bounce", `bounce_mb`, `bounce_xx`},
		{"an unknown reason", "email_rejected", `"reason": "unsubscribed"`, `"reason": "full"`},
		{"a missing member", "email_suppressed", `"suppressedEmail"`, `"suppressed_email"`},
		{"another event", "email_errored", `"Email.Error"`, `"Email.Rejected"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			body := delivery(t, row.file)
			event := mustParse(t, body).Name
			changed := bytes.Replace(body, []byte(row.old), []byte(row.new), 1)
			if bytes.Equal(changed, body) {
				t.Fatal("nothing was changed")
			}
			if validate(doc, delivered(t, doc, event), changed) == nil {
				t.Error("valid")
			}
		})
	}
}

// The constants are the names that the document lists, and each has a shape.
func TestNames(t *testing.T) {
	names := []string{
		events.NameContactAdded, events.NameContactUnsubscribed, events.NameEmailOpened, events.NameEmailClicked, events.NameEmailBounced,
		events.NameCampaignSent, events.NameCampaignScheduled, events.NameEmailReportedAsSpam, events.NameEmailUnsubscribed,
		events.NameEmailGlobalUnsubscribed, events.NameEmailRejected, events.NameEmailError, events.NameContactRemoved, events.NameSuppressedEmailAdded,
	}
	var listed []string
	doc := document(t, "3.1.0")
	for _, name := range doc.Components.Schemas["EventName"].Value.Enum {
		listed = append(listed, name.(string))
	}
	if !slices.Equal(names, listed) {
		t.Errorf("constants are\n%q\nthe document lists\n%q", names, listed)
	}
	shown := map[string]bool{}
	for name := range shapes {
		shown[mustParse(t, delivery(t, name)).Name] = true
	}
	for _, name := range names {
		if !shown[name] || doc.Webhooks[name] == nil {
			t.Errorf("%s is not in testdata or not in the document", name)
		}
	}
}
