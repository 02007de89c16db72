package mockserver_test

import (
	"bytes"
	"net/mail"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

// A message that is deleted is seen no longer, whether it is asked for by Go or by a
// control route, and stays so in a snapshot; the API knows its email.
func TestDeleteMessage(t *testing.T) {
	c := newControlled(t)
	kept := c.email
	id := c.probe.email("grace@example.org")
	c.must("POST", "/_mock/outbox/"+id+"/open", nil)
	c.must("POST", "/_mock/wait", nil)
	follower, whole := c.Follow(), &bytes.Buffer{}
	defer follower.Close()
	if err := follower.Write(whole); err != nil {
		t.Fatal(err)
	}
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
	if err := follower.Write(whole); err != nil {
		t.Fatal(err)
	}
	snapshot := &bytes.Buffer{}
	if err := c.Snapshot(snapshot); err != nil {
		t.Fatal(err)
	}
	for _, state := range []*bytes.Buffer{snapshot, whole} {
		c.must("DELETE", "/_mock/state", nil)
		if err := c.Restore(state); err != nil {
			t.Fatal(err)
		}
		c.gone(id, kept)
	}
}

// gone fails if a message is seen, or another one is not.
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

// A message can be had as a file, and with what is probably wrong with it.
func TestMessageAsFile(t *testing.T) {
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

// A message that was refused is in no list: nobody is told of it, and whoever
// deletes it takes nothing out of the count.
func TestRefusedIsNotInTheOutbox(t *testing.T) {
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
	if err := p.DeleteMessage(sent); err != nil {
		t.Fatal(err)
	}
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
