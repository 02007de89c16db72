package mockserver_test

import (
	"testing"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

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
	type about struct {
		name                        events.Name
		message, recipient, subject string
	}
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
	own, err := p.SendEventTo("http://127.0.0.1:1/", parsedSecret(t, "s"), p.Events()[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Deliveries()[2]; d.ID != own || d.Recipient != "grace@example.org" {
		t.Errorf("an event of one's own is about %q, want grace@example.org", d.Recipient)
	}
}
