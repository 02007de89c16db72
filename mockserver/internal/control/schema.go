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

// schema describes a type as JSON.
type schema struct {
	object string // its name in the documents, if it has one
	kind   string // object, array, string, integer, number, boolean; "" is any JSON
	format string // such as date-time
	enum   []string
	null   bool    // null is allowed as well
	fields []field // of an object, in their order
	items  *schema // of an array
}

// field is a field of an object.
type field struct {
	name     string
	doc      string
	required bool // always in a response, required in a request
	schema   *schema
}

// objects names the types that several routes return.
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
		reflect.TypeFor[webhook.HashFunction]():  {string(webhook.SHA256), string(webhook.SHA512)},
		reflect.TypeFor[platform.LookupLimit]():  lookupLimits(),
		reflect.TypeFor[waitKind]():              {"message", "delivery", "request", "event"},
	}
})

func deliveryStates() []record.DeliveryState {
	return []record.DeliveryState{
		record.DeliveryQueued, record.DeliveryInFlight, record.DeliveryRetrying, record.DeliveryDelivered,
		record.DeliveryFailed, record.DeliveryDropped,
	}
}

func sendingTypes() []events.SendingType {
	return []events.SendingType{
		events.SendingTypeCampaign, events.SendingTypeWorkflow, events.SendingTypeTransactional, events.SendingTypeEmailAPI,
	}
}

// bounceCategories returns all categories in the order of the console.
func bounceCategories() []events.BounceCategory {
	return []events.BounceCategory{
		events.BounceCategoryHard, events.BounceCategorySoft, events.BounceCategoryMailboxFull, events.BounceCategoryBlocked,
		events.BounceCategoryTransient, events.BounceCategoryDNSFailure, events.BounceCategoryAutoReply,
		events.BounceCategoryChallengeResponse, events.BounceCategoryAddressChange,
	}
}

func lookupLimits() []string {
	return []string{platform.LookupMinInterval.String(), platform.LookupTokenBucket.String(), platform.LookupFixedWindow.String()}
}

// named returns values as strings.
func named[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = string(value)
	}
	return out
}

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
		return &schema{kind: "object", object: objects()[t], fields: fieldsOf(t)}
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

// fieldsOf returns the fields of a struct. A *struct{} hides a field of an embedded
// struct; a field that may be omitted has omitempty or omitzero.
func fieldsOf(t reflect.Type) (out []field) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "-" || f.Type == reflect.TypeFor[*struct{}]() {
			continue
		}
		s := schemaOf(f.Type)
		if options == "string" {
			s = &schema{kind: "string"}
		}
		required := !strings.Contains(options, "omit")
		s.null = required && f.Type.Kind() == reflect.Pointer
		out = append(out, field{cmp.Or(name, f.Name), f.Tag.Get("doc"), required, s})
	}
	return out
}

// fieldOf returns the field with a name, or nil.
func (s *schema) fieldOf(name string) *field {
	if i := slices.IndexFunc(s.fields, func(f field) bool { return f.name == name }); i >= 0 {
		return &s.fields[i]
	}
	return nil
}

// names returns the names of all fields.
func (s *schema) names() []string {
	out := make([]string, len(s.fields))
	for i, f := range s.fields {
		out[i] = f.name
	}
	return out
}
