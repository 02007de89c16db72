package events_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/events"
)

// document loads openapi.yaml. For version "3.0.3" the faster engine validates, which the mock server uses.
func document(t testing.TB, version string) *openapi3.T {
	t.Helper()
	doc, err := documents[version]()
	fatal(t, err)
	return doc
}

// documents are read once, because that takes long.
var documents = map[string]func() (*openapi3.T, error){
	"3.0.3": sync.OnceValues(func() (*openapi3.T, error) { return load("3.0.3") }),
	"3.1.0": sync.OnceValues(func() (*openapi3.T, error) { return load("3.1.0") }),
}

func load(version string) (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromFile("../openapi.yaml")
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil { // the examples too
		return nil, err
	}
	doc.OpenAPI = version
	return doc, nil
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
func delivered(t testing.TB, doc *openapi3.T, event events.Name) *openapi3.SchemaRef {
	t.Helper()
	item := doc.Webhooks[string(event)]
	if item == nil {
		t.Fatalf("the document has no webhook %s", event)
	}
	return item.Post.RequestBody.Value.Content["application/json"].Schema
}

// TestTestdataFitsSchemas: each delivery in testdata is valid with both engines, and its data fits one schema of its event.
// TestParsePayloadType shows that a delivery that is built from Go values is the same JSON.
func TestTestdataFitsSchemas(t *testing.T) {
	for _, version := range []string{"3.1.0", "3.0.3"} {
		doc := document(t, version)
		for _, name := range deliveries(t) {
			ev := mustParse(t, delivery(t, name))
			if err := validate(doc, delivered(t, doc, ev.Name), ev.Raw()); err != nil {
				t.Errorf("%s, OpenAPI %s: %v", name, version, err)
			}
			fitting(t, doc, ev)
		}
	}
}

// fitting returns the name of the only schema of the event that its data is valid for.
func fitting(t testing.TB, doc *openapi3.T, ev *events.Event) string {
	t.Helper()
	var fits []string
	for _, part := range delivered(t, doc, ev.Name).Value.AllOf {
		data := part.Value.Properties["data"]
		if part.Ref != "" || data == nil {
			continue // the envelope
		}
		variants := data.Value.OneOf
		if variants == nil {
			variants = openapi3.SchemaRefs{data}
		}
		for _, variant := range variants {
			if validate(doc, variant, ev.RawData()) == nil {
				fits = append(fits, filepath.Base(variant.Ref))
			}
		}
	}
	if len(fits) != 1 {
		t.Fatalf("the data of %s fits the schemas %q, want one", ev.Name, fits)
	}
	return fits[0]
}

// TestSchemasRejectOtherDeliveries: the schemas are strict enough to detect a change of testdata.
func TestSchemasRejectOtherDeliveries(t *testing.T) {
	doc := document(t, "3.0.3")
	for _, row := range []struct{ name, file, old, new string }{
		{name: "a string for an integer", file: "campaign_bounce", old: `"id": 90210`, new: `"id": "90210"`},
		{name: "an integer for a string", file: "campaign_complaint", old: `"id": "90210"`, new: `"id": 90210`},
		{name: "a status that is not null", file: "workflow_bounce_trigger", old: `"status": null`, new: `"status": "spam"`},
		{name: "an unknown category", file: "transactional_bounce", old: `bounce_mb`, new: `bounce_xx`},
		{name: "an unknown reason", file: "email_rejected", old: `"reason": "unsubscribed"`, new: `"reason": "full"`},
		{name: "a missing member", file: "email_suppressed", old: `"suppressedEmail"`, new: `"suppressed_email"`},
		{name: "another event", file: "email_errored", old: `"Email.Error"`, new: `"Email.Rejected"`},
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

// TestIDFieldsHaveTypeID: the platform writes ids as numbers or strings, so id fields have the type ID, with three
// exceptions.
func TestIDFieldsHaveTypeID(t *testing.T) {
	others := map[string]string{
		"EmailRef.id":           "string", // what POST /v2/emails returned
		"TransactionalEmail.id": "string", // what POST /emails returned
		"BounceDetail.id":       "events.Null[int64]",
	}
	for _, typ := range types(t) {
		for f := range typ.Fields() {
			member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if member != "id" && !strings.HasSuffix(member, "_id") {
				continue
			}
			name, want := typ.Name()+"."+member, "events.ID"
			if other := others[name]; other != "" {
				want = other
			}
			if got := f.Type.String(); got != want {
				t.Errorf("%s is of type %s, want %s: see \"Ids\" in internal/tools/codegen/events.overlay.yaml", name, got, want)
			}
		}
	}
}

// types returns all struct types of event data.
func types(t testing.TB) (all []reflect.Type) {
	t.Helper()
	seen := map[reflect.Type]bool{}
	var add func(reflect.Type)
	add = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			add(typ.Elem())
		case reflect.Struct:
			if seen[typ] {
				return
			}
			seen[typ] = true
			all = append(all, typ)
			for f := range typ.Fields() {
				add(f.Type)
			}
		}
	}
	for _, name := range deliveries(t) {
		add(reflect.TypeOf(mustParse(t, delivery(t, name)).Data))
	}
	return all
}
