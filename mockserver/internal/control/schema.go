package control

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/record"
	"example.com/emailplatform/webhook"
)

// schema is what a type is as JSON. A type of package encoding/json that says
// it itself has none: it may be anything.
type schema struct {
	object  string // its name in the documents, if it has one
	kind    string // object, array, string, integer, number, boolean; "" is anything
	format  string // such as date-time
	enum    []string
	null    bool     // may be null as well
	members []member // of an object, in their order
	items   *schema  // of an array
}

// member is one of an object.
type member struct {
	name   string
	means  string
	always bool // there in every answer, or needed in a body
	schema *schema
}

// objects names the types that several routes answer.
var objects = sync.OnceValue(func() map[reflect.Type]string {
	return map[reflect.Type]string{
		reflect.TypeFor[platform.Record]():       "Message",
		reflect.TypeFor[platform.Summary]():      "MessageSummary",
		reflect.TypeFor[delivery.Record]():       "Delivery",
		reflect.TypeFor[delivery.Summary]():      "DeliverySummary",
		reflect.TypeFor[delivery.AttemptWire]():  "Attempt",
		reflect.TypeFor[record.FiredEvent]():     "Event",
		reflect.TypeFor[delivery.EventSummary](): "EventSummary",
		reflect.TypeFor[gateway.Record]():        "Request",
		reflect.TypeFor[gateway.Summary]():       "RequestSummary",
		reflect.TypeFor[fault.RuleWire]():        "FaultRule",
		reflect.TypeFor[record.Sample]():         "Sample",
	}
})

// enums lists the values of types that have few.
var enums = sync.OnceValue(func() map[reflect.Type][]string {
	return map[reflect.Type][]string{
		reflect.TypeFor[record.DeliveryState]():  named(deliveryStates()),
		reflect.TypeFor[events.SendingType]():    named(sendingTypes()),
		reflect.TypeFor[events.BounceCategory](): named(bounceCategories()),
		reflect.TypeFor[record.FaultAction]():    named(fault.Actions()),
		reflect.TypeFor[webhook.Hash]():          {string(webhook.SHA256), string(webhook.SHA512)},
		reflect.TypeFor[platform.LookupLimit]():  lookupLimits(),
		reflect.TypeFor[waitKind]():              named(waitables()),
	}
})

// schemaOf describes a type by what encoding/json does with it.
func schemaOf(t reflect.Type) *schema {
	if values := enums()[t]; values != nil {
		return &schema{kind: "string", enum: values}
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &schema{kind: "string", format: "date-time"}
	case t == reflect.TypeFor[clock.Milliseconds]():
		return &schema{kind: "number"}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return &schema{kind: "string"}
	case t.Implements(reflect.TypeFor[json.Marshaler]()):
		return &schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return &schema{kind: "object", object: objects()[t], members: membersOf(t)}
	case reflect.Slice:
		return &schema{kind: "array", items: schemaOf(t.Elem())}
	case reflect.String:
		return &schema{kind: "string"}
	case reflect.Bool:
		return &schema{kind: "boolean"}
	case reflect.Float32, reflect.Float64:
		return &schema{kind: "number"}
	case reflect.Map, reflect.Interface:
		return &schema{}
	}
	return &schema{kind: "integer"}
}

// membersOf returns the members of a struct in their order. Of two with the same
// name the one that is less deep is meant; one that is a *struct{} hides another
// and is never there. One that may be left out says omitzero.
func membersOf(t reflect.Type) []member {
	fields := slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
		return !f.IsExported() || f.Anonymous && f.Tag.Get("json") == "" || f.Tag.Get("json") == "-"
	})
	depth := map[string]int{}
	for _, f := range fields {
		name := jsonName(f)
		if d, seen := depth[name]; !seen || len(f.Index) < d {
			depth[name] = len(f.Index)
		}
	}
	var out []member
	for _, f := range fields {
		name := jsonName(f)
		if len(f.Index) == depth[name] && f.Type != reflect.TypeFor[*struct{}]() {
			m := member{name, meaning(t, f, name), !strings.Contains(f.Tag.Get("json"), ",omit"), schemaOf(f.Type)}
			m.schema.null = m.always && f.Type.Kind() == reflect.Pointer
			out = append(out, m)
		}
	}
	return out
}

// meaning is what the documents say of a member: its tag, or else the words of the
// struct that has the field itself.
func meaning(t reflect.Type, f reflect.StructField, name string) string {
	for _, i := range f.Index[:len(f.Index)-1] {
		t = t.Field(i).Type
	}
	return cmp.Or(f.Tag.Get("means"), words()[t][name])
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, f.Name)
}

// memberOf returns the member with a name, or nil.
func (s *schema) memberOf(name string) *member {
	if i := slices.IndexFunc(s.members, func(m member) bool { return m.name == name }); i >= 0 {
		return &s.members[i]
	}
	return nil
}

// names returns the names of all members.
func (s *schema) names() []string {
	out := make([]string, len(s.members))
	for i, m := range s.members {
		out[i] = m.name
	}
	return out
}
