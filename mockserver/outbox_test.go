package mockserver_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
)

// Lists and routes omit a deleted message, even after a restore of a snapshot. The API still returns its email.
func TestDeleteMessage(t *testing.T) {
	c := newControlled(t)
	kept := c.email
	id := c.probe.email("grace@example.org")
	must(t, c.Open(id))
	must(t, c.Wait(t.Context()))
	follower, whole, snapshot := c.Follow(), &bytes.Buffer{}, &bytes.Buffer{}
	defer follower.Close()
	must(t, follower.Write(whole))
	c.must("DELETE", "/_mock/outbox/"+id, nil)
	c.wantDeleted(id, kept)
	if got := c.must("GET", "/v2/emails/"+id, nil); got.object["email"] != "grace@example.org" {
		t.Errorf("the API returns %v", got.object)
	}
	if events := c.ids("/_mock/events?search=" + id); events == "" {
		t.Error("its events are deleted")
	}
	must(t, follower.Write(whole))
	must(t, c.Snapshot(snapshot))
	for _, state := range []*bytes.Buffer{snapshot, whole} {
		c.must("DELETE", "/_mock/state", nil)
		must(t, c.Restore(state))
		c.wantDeleted(id, kept)
	}
	c.must("POST", "/_mock/outbox/"+id+"/restore", nil)
	if got, sent := c.ids("/_mock/outbox"), c.overview("").Messages["sent"]; got != id+" "+kept || sent != 2 {
		t.Errorf("after it was restored the outbox has %s, and %d messages are counted", got, sent)
	}
	if a := c.do("POST", "/_mock/outbox/"+id+"/restore", nil); a.status != 404 || c.RestoreMessage(id) == nil {
		t.Errorf("restored again: %d %s, want 404", a.status, a.text)
	}
}

// wantDeleted fails the test unless the message with this id is deleted and only the message kept remains.
func (c controlled) wantDeleted(id, kept string) {
	c.t.Helper()
	if all := c.Outbox(); c.ids("/_mock/outbox") != kept || len(all) != 1 || all[0].ID != kept {
		c.t.Errorf("the outbox has %v, want %s", all, kept)
	}
	for _, request := range []string{"GET ", "GET /html", "GET /source", "GET /eml", "GET /checks", "DELETE "} {
		method, route, _ := strings.Cut(request, " ")
		if got := c.do(method, "/_mock/outbox/"+id+route, nil); got.status != 404 {
			c.t.Errorf("%s: %d, want 404", request, got.status)
		}
	}
	if err := c.DeleteMessage(id); err == nil {
		c.t.Error("DeleteMessage accepts a deleted message")
	}
}

func TestMessageEMLAndChecks(t *testing.T) {
	c := newControlled(t)
	path := "/_mock/outbox/" + c.must("POST", "/v2/emails", `{"email":"ada@example.org","sender":{"email":"shop@example.com"},
		"content":{"subject":"Grüße","html":"<a href=\"#\">go</a>"}}`).id("id")
	res := c.do("GET", path+"/eml", nil)
	kind, disposition := res.header.Get("Content-Type"), res.header.Get("Content-Disposition")
	if kind != "message/rfc822" || !strings.HasPrefix(disposition, "attachment; filename=") || !strings.HasSuffix(disposition, ".eml") {
		t.Errorf("it is %s, %s", kind, disposition)
	}
	m, err := mail.ReadMessage(strings.NewReader(res.text))
	if err != nil || m.Header.Get("Subject") != "=?utf-8?q?Gr=C3=BC=C3=9Fe?=" || m.Header.Get("To") != "ada@example.org" {
		t.Errorf("%v, %v", m, err)
	}
	if a := c.must("GET", path+"/checks", nil); !strings.Contains(a.text, `"check":"dead_link"`) || !strings.Contains(a.text, `"check":"no_text"`) {
		t.Errorf("found %s", a.text)
	}
}

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

func TestMagicRecipients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, mockserver.Config{Targets: receiver()})
		list := p.list()
		for _, name := range []string{"unsubscribe", "global-unsubscribe+3"} {
			p.contact(list, name+"@"+mockserver.MagicDomain)
		}
		p.webhook(everything...)
		n := 0
		for _, row := range []struct{ local, shows, fires string }{
			{"bounce", "bounce_hb", "Email.Bounced"},
			{"bounce+2", "bounce_hb", "Email.Bounced"},
			{"bounce+fm+2", "bounce_fm", "Email.Bounced"},
			{"BOUNCE+AC", "bounce_ac", "Email.Bounced"},
			{"complaint+1", `"reported_as_spam":true`, "Email.ReportedAsSpam"},
			{"error+1", `"error":"internal error;`, "Email.Error"},
			{"open", `"opens":1`, "Email.Opened"},
			{"click", `"clicks":1`, "Email.Clicked"},
			{"unsubscribe", `"unsubscribed":true`, "Email.Unsubscribed Contact.Removed Contact.Unsubscribed"},
			{"global-unsubscribe+3", `"global_unsubscribed":true`, "SuppressedEmail.Added Email.GlobalUnsubscribed"},
			{"ada", `"status":"delivered"`, ""},
		} {
			id := p.email(row.local + "@" + mockserver.MagicDomain)
			fired := p.fired()[n:]
			n += len(fired)
			if got := strings.Trim(fmt.Sprint(fired), "[]"); got != row.fires {
				t.Errorf("%s: fired %s, want %s", row.local, got, row.fires)
			}
			time.Sleep(time.Second) // lookups are limited to one per second
			if a := p.must("GET", "/v2/emails/"+id, nil); !strings.Contains(a.text, row.shows) {
				t.Errorf("%s: the lookup shows %s, want %s", row.local, a.text, row.shows)
			}
		}
	})
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

// A magic recipient that unsubscribes, complains or bounces hard gets no email of the next workflow.
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
