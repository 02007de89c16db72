package mockserver_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/emailplatform/mockserver"
)

// Lists, streams and counts omit a rejected email. Streams and counts omit the reactions to a deleted message.
func TestRejectedEmailNotInOutbox(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	p.must("POST", "/suppressed-emails", `{"email":"eve@example.org"}`)
	stream := p.stream(t, p.HTTPClient())
	stream.next()
	rejected := p.email("eve@example.org")
	if r := stream.until("request"); r["operation"] != "submitEmail" {
		t.Errorf("published %v", r)
	}
	p.must("DELETE", "/_mock/outbox/"+rejected, nil)
	sent := p.email("ada@example.org")
	if r := stream.until("message"); r["id"] != sent {
		t.Errorf("published the message %v, want %s", r["id"], sent)
	}
	must(t, p.DeleteMessage(sent))
	must(t, p.Open(sent)) // the recipient still has the message
	another := p.email("bob@example.org")
	if r := stream.until("message"); r["id"] != another {
		t.Errorf("published the message %v, want %s", r["id"], another)
	}
	if got := p.overview("").Messages["sent"]; got != 1 {
		t.Errorf("%d messages are counted, want 1", got)
	}
}

// Events and deliveries contain the recipient and the message, even if the body does not.
func TestEventRecipientAndMessage(t *testing.T) {
	p := newProbe(t, mockserver.Config{RecordEvents: true})
	p.webhook("Email.Bounced", "Contact.Added")
	p.contact(p.list(), "grace@example.org")
	id := p.email("ada@example.org")
	must(t, p.Bounce(id, mockserver.HardBounce))
	_, err := p.SendEventTo("http://127.0.0.1:1/", parsedSecret(t, "s"), p.Events()[0].Body)
	must(t, err)
	var got []string
	for _, e := range p.Events() {
		got = append(got, fmt.Sprintln(e.Event, e.MessageID, e.Recipient, e.Subject))
	}
	for _, d := range p.Deliveries() {
		got = append(got, fmt.Sprintln(d.Event, d.MessageID, d.Recipient, d.Subject))
	}
	added, bounced := "Contact.Added  grace@example.org \n", "Email.Bounced "+id+" ada@example.org Hello\n"
	if want := []string{added, bounced, added, bounced, added}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRecipientErrors(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	list := p.list()
	p.must("POST", list+"/contacts/"+p.contact(list, "ada@example.org")+"/unsubscribe", nil)
	rejected := p.email("ada@example.org")
	for name, err := range map[string]error{
		"unknown email":    p.Open("nothing"),
		"rejected email":   p.Open(rejected),
		"deletion":         p.DeleteMessage("nothing"),
		"restoration":      p.RestoreMessage("nothing"),
		"unknown category": p.Bounce(p.email("bob@example.org"), "bounce_xx"),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "mockserver: ") {
			t.Errorf("%s: %v, want an error of mockserver", name, err)
		}
	}
}

// TestConcurrentMethods calls methods concurrently and modifies their results.
func TestConcurrentMethods(t *testing.T) {
	p := newProbe(t, mockserver.Config{RecordEvents: true})
	const email = `{"email":"open@mock.test","sender":{"email":"a@example.org"},"content":{"subject":"S","text":"T"}}`
	calls := []func(){
		func() { p.must(http.MethodPost, "/v2/emails", email) },
		func() {
			for _, m := range p.Outbox() {
				clear(m.Headers)
			}
		},
		func() {
			for _, r := range p.Requests() {
				clear(r.Body)
			}
		},
		func() {
			for _, e := range p.Events() {
				clear(e.Body)
			}
		},
		func() {
			rules, err := p.Inject(mockserver.Fault{Operation: "listTags", Action: mockserver.FaultReset})
			if err != nil || p.RemoveFault(rules[0].ID) != nil {
				t.Error("the rule that was added is not there", err)
			}
			clear(p.Faults())
		},
		func() {
			if err := errors.Join(p.Advance(t.Context(), time.Second), p.Snapshot(io.Discard), p.Wait(t.Context())); err != nil {
				t.Error(err)
			}
		},
		func() { clear(p.Deliveries()); p.SetLookupLimit(mockserver.LookupTokenBucket); _ = p.Clock() },
	}
	var all sync.WaitGroup
	for _, call := range calls {
		for range 2 {
			all.Go(func() {
				for range 20 {
					call()
				}
			})
		}
	}
	all.Wait()
	messages, requests := p.Outbox(), p.Requests()
	if len(messages) != 40 || len(messages[0].Headers) == 0 || messages[0].Headers[0].Name == "" || string(requests[0].Body) != email {
		t.Errorf("%d messages, the first with %q; the first request is %q", len(messages), messages[0].Headers, requests[0].Body)
	}
}
