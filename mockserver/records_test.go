package mockserver_test

import (
	"reflect"
	"testing"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/record"
	"example.com/emailplatform/mockserver/internal/samples"
)

// The structs that are documented here say the same as JSON as those inside, from
// which they are converted: the compiler compares their fields, but no tags.
func TestDocumentedStructs(t *testing.T) {
	for _, twins := range []struct{ documented, inside reflect.Type }{
		{reflect.TypeFor[mockserver.Request](), reflect.TypeFor[record.Request]()},
		{reflect.TypeFor[mockserver.Message](), reflect.TypeFor[record.Message]()},
		{reflect.TypeFor[mockserver.Delivery](), reflect.TypeFor[record.Delivery]()},
		{reflect.TypeFor[mockserver.FiredEvent](), reflect.TypeFor[record.FiredEvent]()},
		{reflect.TypeFor[mockserver.Sample](), reflect.TypeFor[samples.Sample]()},
		{reflect.TypeFor[mockserver.Fault](), reflect.TypeFor[fault.Fault]()},
		{reflect.TypeFor[mockserver.FaultRule](), reflect.TypeFor[fault.Rule]()},
	} {
		documented, inside := tags(twins.documented), tags(twins.inside)
		for name, tag := range inside {
			if got, ok := documented[name]; !ok || got != tag {
				t.Errorf("%s.%s: got %q, want %q as in %s", twins.documented, name, got, tag, twins.inside)
			}
		}
		if len(documented) != len(inside) {
			t.Errorf("%s has %d fields, %s %d", twins.documented, len(documented), twins.inside, len(inside))
		}
	}
}

// tags returns the tags of the exported fields of a struct.
func tags(of reflect.Type) map[string]reflect.StructTag {
	out := map[string]reflect.StructTag{}
	for _, f := range reflect.VisibleFields(of) {
		if f.IsExported() {
			out[f.Name] = f.Tag
		}
	}
	return out
}
