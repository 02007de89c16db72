package e2e

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/console"
)

// TestRowContents: rows of deliveries and events name the recipient and the message, including rows added while the
// page is open.
func TestRowContents(t *testing.T) {
	f := newFixture(t)
	f.subscribe("/hook", "Email.Opened", "Email.Bounced")
	before := f.send("ada@example.org", "Your order is on its way", order)
	f.opens(before)
	p := open(t, f.srv.URL(), "#/overview", desktop)
	for _, place := range []string{"deliveries", "events"} {
		p.goTo("#/"+place).says(".rows", "ada@example.org", "Your order is on its way")
		live := f.send("grace@example.org", "Seen live, "+place, order)
		f.check(f.srv.Bounce(live, mockserver.HardBounce)) // its body contains no address
		p.says(".rows li:first-child", "grace@example.org", "Seen live, "+place)
		p.click("strong", "Email.Bounced").says(".head", "grace@example.org")
		p.goTo("#/" + place)
		p.fill("#filter", "grace@example.org").rows(map[string]int{"deliveries": 1, "events": 2}[place])
		f.settle()
	}
}

// TestErrorMessageFormat: error messages contain no locations such as path.id, and each view reports a missing record.
func TestErrorMessageFormat(t *testing.T) {
	_, p := start(t, "#/inbox")
	for place, want := range map[string]string{
		"inbox": "Message 77 does not exist.", "campaigns": "Campaign 77 does not exist.", "workflows": "Workflow 77 does not exist.", "templates": "Not found",
	} {
		p.goTo("#/"+place+"/77").says(".detail", want)
		p.until(`!document.querySelector('.detail').textContent.includes('path.')`)
	}
	p.goTo("#/suppressed")
	p.fill("form input", "not an address")
	p.click("button", "Add").until(`/^email: (?!.*body\.)/.test(document.querySelector('.toast')?.textContent)`)
}

// TestNoServer: without a server, the console keeps its content, shows a banner at every width, and disables all
// actions. It recovers when the server is back.
func TestNoServer(t *testing.T) {
	for _, width := range []int64{1280, 320} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			f := newFixture(t)
			id := f.send("ada@example.org", "Your order is on its way", order)
			p := open(t, f.srv.URL(), "#/inbox/"+id, view{width, "light"})
			p.says(".actions", "Bounce")
			sending := open(t, f.srv.URL(), "#/lists", view{width, "light"})
			f.srv.Close()
			sending.goTo("#/trigger").says("main", "The server does not respond.")
			p.says("[role=alert]", "No server")
			p.until(`document.querySelector('[role=alert]').getBoundingClientRect().right <= innerWidth &&
				document.querySelector('[role=alert] p').checkVisibility()`)
			p.until(`document.querySelectorAll('.detail .actions button').length > 3 &&
				[...document.querySelectorAll('.detail .actions button')].every(b => b.matches(':disabled'))`)
			p.says(".rows", "Your order is on its way")
			for _, place := range []string{"overview", "templates", "campaigns", "workflows", "requests"} {
				p.goTo("#/"+place).says("main", "The server does not respond.")
			}

			listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", strings.TrimPrefix(f.srv.URL(), "http://"))
			f.check(err)
			again := mockserver.StartOn(listener, mockserver.Config{Console: console.Handler()})
			t.Cleanup(again.Close)
			p.until(`!document.querySelector('[role=alert]').textContent`)
			res, err := http.Get(again.URL() + "/lists") // a 401, which is recorded
			f.check(err)
			f.check(res.Body.Close())
			p.says(".rows", "/lists")
			sending.says("main", "Set new id and time")
		})
	}
}

// TestSourceWithoutServer: the source of a message is not empty text if the server does not respond.
func TestSourceWithoutServer(t *testing.T) {
	f := newFixture(t)
	p := open(t, f.srv.URL(), "#/inbox/"+f.send("ada@example.org", "Your order is on its way", order), desktop)
	p.says(".head h2", "Your order")
	f.srv.Close()
	p.click("[role=tab]", "Source").says(".tabpanel", "The server does not respond.")
}

// TestInvalidStoredSender: another page of this origin can store an invalid sender.
func TestInvalidStoredSender(t *testing.T) {
	_, p := start(t, "#/lists")
	p.until(`localStorage.setItem("sender", "{") === undefined`)
	p.goTo("#/campaigns").says(".list", "No campaigns yet")
}

// TestFormStaysWhenItsTemplateChanges: if another client changes the template while the form is open, the form stays
// open and shows a notice. Saving it then overwrites the change.
func TestFormStaysWhenItsTemplateChanges(t *testing.T) {
	f := newFixture(t)
	made := f.template("Welcome", "<p>First</p>", "")
	p := open(t, f.srv.URL(), fmt.Sprintf("#/templates/%d", made), desktop)
	p.click("button", "Edit")
	p.fill("dialog [name='content.html']", "<p>Mine</p>")
	p.equal(p.text("dialog .changed"), "")
	_, err := f.sdk.Templates.Update(t.Context(), made, client.TemplateUpdate{Name: new("Theirs"), Content: &client.TemplateContentUpdate{HTML: new("<p>Theirs</p>")}})
	f.check(err)
	p.says("dialog .changed", "The record has changed")
	p.says("dialog h2", "Edit Theirs")
	p.equal(eval[string](p, `document.querySelector("dialog [name='content.html']").value`), "<p>Mine</p>")
	p.click("dialog button", "Save").until(`!document.querySelector('dialog.create')`)
	now, err := f.sdk.Templates.Get(t.Context(), made)
	f.check(err)
	p.equal(now.Name+now.Content.HTML, "Welcome<p>Mine</p>")
	p.says(".head h2", "Welcome") // instead of Theirs
	p.click("button", "Edit")
	p.until(`document.querySelector("dialog [name='content.html']")?.value === '<p>Mine</p>' && !document.querySelector('dialog .changed')`)
}

// TestCampaignAmongMany: a campaign is found by its id, even if many names contain the same digits.
func TestCampaignAmongMany(t *testing.T) {
	f := newFixture(t)
	content := client.MessageContent{Subject: "S", Text: "T"}
	first := f.draft(f.list("Readers").ID, "The first", content)
	for range 1000 {
		f.draft(first.ListID, fmt.Sprintf("Copy of %d", first.ID), content)
	}
	p := open(t, f.srv.URL(), fmt.Sprintf("#/campaigns/%d", first.ID), desktop)
	p.says(".detail h2", "The first")
}
