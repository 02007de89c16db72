package mockserver_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// A deleted message is in no list, route or snapshot, but the API still returns its email.
func TestDeleteMessage(t *testing.T) {
	c := newControlled(t)
	kept := c.email
	id := c.probe.email("grace@example.org")
	c.must("POST", "/_mock/outbox/"+id+"/open", nil)
	c.must("POST", "/_mock/wait", nil)
	follower, whole := c.Follow(), &bytes.Buffer{}
	defer follower.Close()
	must(t, follower.Write(whole))
	c.must("DELETE", "/_mock/outbox/"+id, nil)
	c.gone(id, kept)
	if err := c.DeleteMessage(id); err == nil {
		t.Error("it was deleted twice")
	}
	if got := c.must("GET", "/v2/emails/"+id, nil); got.object["email"] != "grace@example.org" {
		t.Errorf("the API answers %v", got.object)
	}
	if events := c.ids("/_mock/events?search=" + id); events == "" {
		t.Error("its events are gone")
	}
	must(t, follower.Write(whole))
	snapshot := &bytes.Buffer{}
	must(t, c.Snapshot(snapshot))
	for _, state := range []*bytes.Buffer{snapshot, whole} {
		c.must("DELETE", "/_mock/state", nil)
		must(t, c.Restore(state))
		c.gone(id, kept)
	}
	c.must("POST", "/_mock/outbox/"+id+"/restore", nil)
	if got, sent := c.ids("/_mock/outbox"), c.overview("").Messages["sent"]; got != id+" "+kept || sent != 2 {
		t.Errorf("after it was restored the outbox has %s, and %d messages are counted", got, sent)
	}
	if err := c.RestoreMessage(id); err == nil {
		t.Error("it was restored twice")
	}
	if got := c.do("POST", "/_mock/outbox/"+id+"/restore", nil); got.status != 404 {
		t.Errorf("to restore it again answers %d", got.status)
	}
}

// gone fails if a message is still there, or if the other one is not.
func (c controlled) gone(id, kept string) {
	c.t.Helper()
	if got := c.ids("/_mock/outbox"); got != kept {
		c.t.Errorf("the outbox has %s, want %s", got, kept)
	}
	if all := c.Outbox(); len(all) != 1 || all[0].ID != kept {
		c.t.Errorf("Outbox has %v", all)
	}
	for _, route := range []string{"", "/html", "/source", "/eml", "/checks"} {
		if got := c.do("GET", "/_mock/outbox/"+id+route, nil); got.status != 404 {
			c.t.Errorf("%s answers %d", route, got.status)
		}
	}
	if got := c.do("DELETE", "/_mock/outbox/"+id, nil); got.status != 404 {
		c.t.Errorf("to delete it answers %d", got.status)
	}
}

func TestMessageEMLAndChecks(t *testing.T) {
	c := newControlled(t)
	id := c.must("POST", "/v2/emails", `{"email":"ada@example.org","sender":{"name":"Zoë","email":"shop@example.com"},
		"content":{"subject":"Grüße","html":"<a href=\"#\">go</a>","type":"transactional"}}`).id("id")
	res := c.do("GET", "/_mock/outbox/"+id+"/eml", nil)
	if got := res.header.Get("Content-Type"); got != "message/rfc822" {
		t.Errorf("it is %s", got)
	}
	if got := res.header.Get("Content-Disposition"); got != `attachment; filename=`+id+`.eml` {
		t.Errorf("it is %s", got)
	}
	m, err := mail.ReadMessage(strings.NewReader(res.text))
	if err != nil || m.Header.Get("Subject") != "=?utf-8?q?Gr=C3=BC=C3=9Fe?=" || m.Header.Get("To") != "ada@example.org" {
		t.Errorf("%v, %v", m, err)
	}
	var found []string
	for _, f := range c.must("GET", "/_mock/outbox/"+id+"/checks", nil).object["findings"].([]any) {
		found = append(found, f.(map[string]any)["check"].(string))
	}
	if strings.Join(found, " ") != "dead_link no_text" {
		t.Errorf("found %q", found)
	}
	if err := c.DeleteMessage("nothing"); err == nil {
		t.Error("a message that is not there was deleted")
	}
}

// A rejected email is in no list, no stream and no count.
func TestRejectedEmailNotInOutbox(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	p.must("POST", "/suppressed-emails", `{"email":"eve@example.org"}`)
	stream := p.stream(t, p.HTTPClient())
	stream.next()
	refused := p.email("eve@example.org")
	if r := stream.until("request"); r["operation"] != "submitEmail" {
		t.Errorf("told %v", r)
	}
	p.must("DELETE", "/_mock/outbox/"+refused, nil)
	sent := p.email("ada@example.org")
	if r := stream.until("message"); r["id"] != sent {
		t.Errorf("told of the message %v, want %s", r["id"], sent)
	}
	if got := p.overview("").Messages["sent"]; got != 1 {
		t.Errorf("%d messages are counted, want 1", got)
	}
	must(t, p.DeleteMessage(sent))
	if err := p.Open(sent); err != nil { // it is in the recipient's mailbox
		t.Fatal(err)
	}
	another := p.email("bob@example.org")
	if r := stream.until("message"); r["id"] != another {
		t.Errorf("told of the message %v, want %s", r["id"], another)
	}
	if got := p.overview("").Messages["sent"]; got != 1 {
		t.Errorf("%d messages are counted, want 1", got)
	}
}

// Events and deliveries have the recipient and the message, even if the body has not.
func TestEventRecipientAndMessage(t *testing.T) {
	p := newProbe(t, mockserver.Config{RecordEvents: true})
	p.webhook("Email.Bounced", "Contact.Added")
	p.contact(p.list(), "grace@example.org")
	id := p.email("ada@example.org")
	must(t, p.Bounce(id, mockserver.HardBounce))
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
	must(t, err)
	if d := p.Deliveries()[2]; d.ID != own || d.Recipient != "grace@example.org" {
		t.Errorf("an event of one's own is about %q, want grace@example.org", d.Recipient)
	}
}

func TestMagicRecipients(t *testing.T) { synctest.Test(t, testMagicRecipients) }

func testMagicRecipients(t *testing.T) {
	p := newProbe(t, mockserver.Config{Targets: receiver()})
	list := p.list()
	for _, name := range []string{"unsubscribe", "global-unsubscribe+3"} {
		p.contact(list, name+"@"+mockserver.MagicDomain)
	}
	p.webhook(everything...)
	n := 0
	for _, row := range []struct {
		local string
		fires []events.Name
		says  string
	}{
		{local: "bounce", fires: []events.Name{events.NameEmailBounced}, says: "bounce_hb"},
		{local: "bounce+2", fires: []events.Name{events.NameEmailBounced}, says: "bounce_hb"},
		{local: "bounce+fm+2", fires: []events.Name{events.NameEmailBounced}, says: "bounce_fm"},
		{local: "BOUNCE+AC", fires: []events.Name{events.NameEmailBounced}, says: "bounce_ac"},
		{local: "complaint+1", fires: []events.Name{events.NameEmailReportedAsSpam}, says: `"reported_as_spam":true`},
		{local: "error+1", fires: []events.Name{events.NameEmailError}, says: `"error":"internal error;`},
		{local: "open", fires: []events.Name{events.NameEmailOpened}, says: `"opens":1`},
		{local: "click", fires: []events.Name{events.NameEmailClicked}, says: `"clicks":1`},
		{
			local: "unsubscribe",
			fires: []events.Name{events.NameEmailUnsubscribed, events.NameContactRemoved, events.NameContactUnsubscribed},
			says:  `"unsubscribed":true`,
		},
		{
			local: "global-unsubscribe+3",
			fires: []events.Name{events.NameSuppressedEmailAdded, events.NameEmailGlobalUnsubscribed},
			says:  `"global_unsubscribed":true`,
		},
		{local: "ada", says: `"status":"delivered"`},
	} {
		id := p.email(row.local + "@" + mockserver.MagicDomain)
		fired := p.fired()[n:]
		n += len(fired)
		if !slices.Equal(fired, row.fires) {
			t.Errorf("%s: fired %v, want %v", row.local, fired, row.fires)
		}
		time.Sleep(time.Second) // the limit of lookups
		if a := p.must("GET", "/v2/emails/"+id, nil); !strings.Contains(a.text, row.says) {
			t.Errorf("%s: the lookup says %s, want %s", row.local, a.text, row.says)
		}
	}
}

func TestRecipientErrors(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	list := p.list()
	p.in("unsubscribed", list, "ada@example.org")
	rejected := p.email("ada@example.org")
	for name, err := range map[string]error{
		"unknown email":    p.Open("nothing"),
		"rejected email":   p.Open(rejected),
		"unknown category": p.Bounce(p.email("bob@example.org"), "bounce_xx"),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "mockserver: ") {
			t.Errorf("%s: %v, want an error of mockserver", name, err)
		}
	}
}

// A magic recipient that unsubscribes or bounces hard gets no email of the next workflow.
func TestMagicRecipientsWithWorkflows(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	list := p.list()
	for range 2 {
		workflow := p.must("POST", "/workflows", `{"name":"Welcome","list_id":`+strings.TrimPrefix(list, "/lists/")+`,"trigger":"subscribed",
			"sender":{"email":"shop@example.com"},"content":{"subject":"Welcome","text":"Hello"}}`).id("workflow_id")
		p.must("POST", "/workflows/"+workflow+"/activate", nil)
	}
	for local, want := range map[string]int{
		"ada": 2, "open": 2, "bounce+sb": 2, "bounce": 1, "unsubscribe": 1, "global-unsubscribe": 1, "complaint": 1,
	} {
		p.contact(list, local+"@"+mockserver.MagicDomain)
		if got := len(p.OutboxTo(local + "@" + mockserver.MagicDomain)); got != want {
			t.Errorf("%s is sent %d emails, want %d", local, got, want)
		}
	}
}

// TestConcurrentMethods calls methods at the same time, and changes what they return.
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
