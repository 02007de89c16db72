package mockserver_test

import (
	"reflect"
	"testing"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/record"
	"example.com/emailplatform/mockserver/internal/samples"
	"example.com/emailplatform/webhook"
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

// An event and its deliveries say whom they are about and which message, also
// where the body does not: an event of one's own has what its body says.
func TestEventsSayWhoAndWhat(t *testing.T) {
	p := newProbe(t, mockserver.Config{RecordEvents: true})
	p.webhook("Email.Bounced", "Contact.Added")
	p.contact(p.list(), "grace@example.org")
	id := p.email("ada@example.org")
	if err := p.Bounce(id, mockserver.HardBounce); err != nil {
		t.Fatal(err)
	}
	type about struct{ name, message, recipient, subject string }
	want := []about{{"Contact.Added", "", "grace@example.org", ""}, {"Email.Bounced", id, "ada@example.org", "Hello"}}
	for i, e := range p.Events() {
		d := p.Deliveries()[i]
		for _, got := range []about{
			{e.Event, e.MessageID, e.Recipient, e.Subject}, {d.Event, d.MessageID, d.Recipient, d.Subject},
		} {
			if got != want[i] {
				t.Errorf("got %+v, want %+v", got, want[i])
			}
		}
	}
	if n := len(p.Events()); n != len(want) {
		t.Errorf("%d events, want %d", n, len(want))
	}
	own, err := p.SendEventTo("http://127.0.0.1:1/", webhook.Secret{Key: "s"}, p.Events()[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Deliveries()[2]; d.ID != own || d.Recipient != "grace@example.org" {
		t.Errorf("an event of one's own is about %q, want grace@example.org", d.Recipient)
	}
}
