package events_test

import (
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

// document loads openapi.yaml once, because that takes long.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromFile("../openapi.yaml")
	if err != nil {
		return nil, err
	}
	return doc, doc.Validate(context.Background()) // the examples too
})

func validate(schema *openapi3.SchemaRef, body []byte) error {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	return schema.Value.VisitJSON(v, openapi3.EnableJSONSchema2020())
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
			if validate(variant, ev.RawData()) == nil {
				fits = append(fits, filepath.Base(variant.Ref))
			}
		}
	}
	if len(fits) != 1 {
		t.Fatalf("the data of %s fits the schemas %q, want one", ev.Name, fits)
	}
	return fits[0]
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
