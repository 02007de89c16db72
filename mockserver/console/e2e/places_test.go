package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

// TestOverview: the console opens with the overview. If it is empty, it explains how to send an email. Later, it
// shows counts, a timeline of one or more hours, and pending work with its reasons.
func TestOverview(t *testing.T) {
	f, p := start(t, "")
	p.says("h1", "Overview")
	p.says(".waiting", "No pending work.")
	p.click(".first button", "Send a test email").until(`!document.querySelector('.first')`)
	p.says(".tile", "Messages sent1")

	hook := f.subscribe("/hook", "Email.Opened")
	f.status.Store(http.StatusInternalServerError)
	f.opens(f.srv.Outbox()[0].ID)
	p.says(".tiles", "100 % opened", "1 failed")
	p.says(".waits", "1 delivery to webhook "+hook.ID, "The last attempt failed.", "in 29:")
	p.until(`document.querySelector('.series:nth-of-type(4) .bars .bad')`)
	for name, want := range map[string]string{"Messages": "1 in the last hour", "Events": "1 in the last hour", "Attempts": "1 in the last hour, at most 1 in a minute"} {
		p.until(fmt.Sprintf(`document.querySelector('[role=img][aria-label^=%q]')?.ariaLabel.includes(%q)`, name, want))
	}
	p.click("summary", "As a table").says(".timeline .table", "Attempts").rows(1)

	f.status.Store(0)
	p.click("button", "Now") // the retry succeeds
	p.says(".waiting", "No pending work")
	p.says(".tiles", "Delivered1")

	f.check(f.srv.Advance(t.Context(), 5*time.Hour))
	p.until(`document.querySelector('[aria-label^="Messages: 0 in the last hour"]')`)
	p.click(".timeline label", "6 h")
	p.until(`document.querySelector('[aria-label^="Messages: 1 in the last 6 hours, at most 1 in 6 minutes"]')`)
	p.reload().until(`document.querySelector('[aria-label^="Messages: 1 in the last 6 hours"]')`)
	for width, rows := range map[int64]int{1280: 2, 1920: 1, 900: 4} { // full rows of 8 tiles
		p.do(chromedp.EmulateViewport(width, 1000))
		p.until(fmt.Sprintf(`rowsOf('.tile') === %d`, rows))
	}
}

// TestOverviewPendingWork: the overview names each reason to wait and links to the waiting records.
func TestOverviewPendingWork(t *testing.T) {
	f := newFixture(t)
	f.seedShop()
	f.join(101, pending(reader("kai@example.org", "Kai")))
	old := f.subscribe("/old", "Email.Opened")
	slow, err := f.sdk.Webhooks.Create(t.Context(), client.WebhookCreate{
		URL: f.receiver.URL + "/slow", Events: []events.Name{"Email.Opened"}, RateLimit: 1, RateLimitPeriod: "hour",
	})
	f.check(err)
	f.status.Store(http.StatusInternalServerError)
	id := f.send("ada@example.org", "Hello", order)
	for range 3 {
		f.check(f.srv.Open(id))
	}
	f.settle()
	f.check(f.sdk.Webhooks.Archive(t.Context(), old.ID))
	p := open(t, f.srv.URL(), "#/overview", desktop)
	p.says(".waits", "Winter catalogueThe campaign is scheduled.", "1 contact of ReadersThe recipients have not followed",
		"3 deliveries to webhook "+old.ID+"The webhook is archived", "2 deliveries to webhook "+slow.ID+"The webhook’s rate limit")
	p.click(".waits a", "Winter catalogue").says(".head", "is sent in 3 days")
	p.goTo("#/overview")
	p.click(".waits a", "1 contact of").says(".rows", "kai@example.org").rows(1)
	p.goTo("#/overview")
	p.click(".waits a", "2 deliveries").rows(2)
}

// TestTemplates: the preview shows a template with custom attributes, in two widths and two color schemes. It shows
// each change of the template, even a second one within a second or with a frozen clock.
func TestTemplates(t *testing.T) {
	f := newFixture(t)
	made := f.template("Welcome", `<p>Hello {{first_name}} of {{ shop }}</p>`, "Hello {{first_name}} of {{shop}}")
	p := open(t, f.srv.URL(), "#/templates", desktop)
	p.click("strong", "Welcome").says(".samples", "first_name", "shop")
	p.until(`document.querySelector('iframe').style.maxWidth === '600px'`)
	p.click(".preview label", "360").until(`document.querySelector('iframe').getBoundingClientRect().width === 360`)
	p.click(".preview label", "Dark").until(`document.querySelector('iframe').style.colorScheme === 'dark'`)
	p.until(`!/script|same-origin/.test(document.querySelector('iframe').getAttribute('sandbox'))`)
	p.fill(".samples .pick:nth-of-type(2) input", "Harbour <b>")
	p.until(`decodeURIComponent(document.querySelector('iframe').src).includes('Harbour <b>')`)
	p.contains(p.fetch("iframe"), "Hello Ada of Harbour &lt;b&gt;")
	p.click("button", "Text").says(".plain", "Hello Ada of Harbour <b>")
	f.srv.FreezeClock() // the preview is renewed nevertheless
	for _, change := range []struct{ text, shown string }{
		{"Second {{city}}", "Second London"},
		{"a {{constructor}} b {{__proto__}} c {{toString}}", "a constructor b __proto__ c toString"}, // names that every JavaScript object has
	} {
		_, err := f.sdk.Templates.Update(t.Context(), made, client.TemplateUpdate{Content: &client.TemplateContentUpdate{Text: client.Value(change.text)}})
		f.check(err)
		p.says(".plain", change.shown)
	}
}

// TestCreateATemplate: a template can be created and changed with only the keyboard. If there is an error, it
// appears next to its field, and the field gets the focus. After saving, the button that opened the form has
// the focus again.
func TestCreateATemplate(t *testing.T) {
	f, p := start(t, "#/templates")
	p.says(".list", "No templates yet")
	p.do(focus(".list .button.main"))
	p.press("\r").until(`document.querySelector('dialog.create[open]')`)
	p.focused("[name=name]")
	p.press("\r") // without a name
	p.says("dialog [name=name] + .note .field-error", "")
	p.until(`document.activeElement.name === 'name' && document.activeElement.ariaInvalid === 'true'`)
	p.until(`/^(?!.*body).{5}/.test(document.querySelector('dialog .field-error').textContent)`)
	p.press("Welcome\t<p>Hello {{name}}</p>\tHello {{name}}\t\r").says(".rows", "Welcome")
	p.until(`document.activeElement.textContent === 'New'`)
	p.click("strong", "Welcome")
	p.click("button", "Edit")
	p.fill("dialog [name=name]", "Hello")
	p.press("\r").says(".head h2", "Hello")
	made, err := f.sdk.Templates.Find(t.Context(), "Hello")
	f.check(err)
	p.equal(made.Content, client.TemplateContent{HTML: "<p>Hello {{name}}</p>", Text: "Hello {{name}}"})
	p.click("button", "Edit").until(`document.querySelector('dialog.create[open]')`)
	p.press(kb.Escape)
	p.until(`!document.querySelector('dialog.create') && document.activeElement.textContent === 'Edit'`)
}

// TestLists: a list shows the statuses of its contacts, links to them, and accepts new contacts with or without
// double opt-in.
func TestLists(t *testing.T) {
	f, p := start(t, "#/lists")
	p.says(".page", "No lists yet")
	p.click("button", "New list")
	p.enter("[name=name]", "Readers\r").says(".cards", "Readers", "policy accepted", "0 contacts")
	add := func(keys string) {
		p.click(".cards button", "Add")
		p.enter("[name=email]", keys)
	}
	add("ada@example.org\tvip, customer\tbooks\tfirst_name=Ada\r\ncity=London")
	p.click("dialog button", "Add").says(".standing", "active1")
	add("grace@example.org\t\t\t\t \t\r")
	p.says(".standing", "pending1")
	p.says(".cards", "1 contact of a double opt-in has not confirmed yet.")
	p.until(`document.querySelector('.whole').ariaLabel === '1 active, 1 pending'`)
	add("ada@example.org\r")
	p.says("dialog .field-error", "The list already contains ada@example.org, with the status active")
	p.enter("[name=email]", kb.Escape).until(`document.activeElement.textContent === 'Add'`)

	list, err := f.sdk.Lists.Find(t.Context(), "Readers")
	f.check(err)
	ada, err := f.sdk.Contacts.Find(t.Context(), list.ID, "ada@example.org")
	f.check(err)
	p.equal(ada.Tags, "[vip customer]")
	p.equal(ada.Interests, "[books]")
	p.equal(ada.CustomAttributes, "[{Name:first_name Value:Ada} {Name:city Value:London}]")
	p.click(".standing a", "pending").says(".rows", "grace@example.org").rows(1)
	p.goTo("#/lists")
	p.click(".cards a", "inbox").says(".rows", "Please confirm your subscription to Readers")
	_, err = f.sdk.Lists.Create(t.Context(), client.ListCreate{Name: "Unused"})
	f.check(err)
	p.goTo("#/lists").says(".cards", "policy not accepted") // without a reload
	p.fill("#filter", "unus").until(`document.querySelectorAll('.cards > li').length === 1`)
	p.click("button", "Accept policy").says(".cards", "policy accepted")
}

// TestCampaigns: a campaign can be created, scheduled and sent. The page shows its events when they happen.
func TestCampaigns(t *testing.T) {
	f := newFixture(t)
	list := f.list("Readers", reader("ada@example.org", "Ada"), reader("grace@example.org", "Grace"), reader("bounce@mock.test", "B"), reader("open@mock.test", "O"))
	p := open(t, f.srv.URL(), "#/campaigns", desktop)
	p.says(".list", "No campaigns yet")
	p.click("button", "New")
	p.enter("[name=name]", "Autumn")
	p.until(`document.querySelector('dialog [name="sender.email"]').value === 'user@example.com'`) // the user's address
	p.fill("dialog [name='sender.email']", "hello@harbour.example")
	p.pickIn("dialog [name=list_id]", strconv.FormatInt(list.ID, 10))
	p.fill("dialog [name='content.subject']", "Hello {{first_name}}")
	p.fill("dialog [name='content.html']", "<p>Hello</p>")
	p.click("dialog button", "Create campaign").says(".rows", "draft")
	p.says(".detail", "Not sent yet. Send it now or schedule it.") // the new campaign is open
	p.click(".list button", "New")
	p.until(`document.querySelector('dialog [name="sender.email"]').value === 'hello@harbour.example'`) // the last sender
	p.press(kb.Escape)
	p.click(".detail button", "Schedule")
	p.click("dialog button", "Schedule").says(".head", "is sent in 59:").says(".detail", "To send it, advance the clock.")
	f.check(f.srv.Advance(t.Context(), 2*time.Hour))
	p.says(".detail .chip", "delivered")
	p.says(".shares", "Sent4", "Bounced125 %", "Opened125 %")
	p.says(".links", "ada@example.org")
	f.check(f.srv.Complain(f.srv.OutboxTo("ada@example.org")[0].ID, "Gmail"))
	p.says(".shares", "Reported as spam125 %") // without a reload
	p.says(".rows", "4 sent, 25 % opened")
	p.click(".links a", "ada@example.org").says(".head h2", "Hello Ada")
	p.goTo("#/campaigns")
	p.click("strong", "Autumn")
	p.click(".detail a", "Events").says(".rows", "Campaign.Sent", "Email.ReportedAsSpam")
	none, err := f.sdk.Campaigns.Send(t.Context(), f.draft(f.list("Empty").ID, "None", client.MessageContent{Subject: "S", Text: "T"}).ID)
	f.check(err)
	p.goTo(fmt.Sprintf("#/campaigns/%d", none.ID)).says(".detail", "No contact on the list could receive it.")
}

// TestWorkflows: a workflow can be created, activated and deactivated. An active workflow sends email.
func TestWorkflows(t *testing.T) {
	f := newFixture(t)
	f.seedShop()
	p := open(t, f.srv.URL(), "#/workflows", desktop)
	p.says(".rows", "active")
	p.click(".list button", "New")
	p.enter("[name=name]", "Second")
	p.pickIn("dialog [name=list_id]", "101")
	p.fill("dialog [name='sender.email']", "hello@harbour.example")
	p.click("dialog button", "Create workflow")
	p.focused("[name^='content.']") // no content: its first field has the focus
	p.pickIn("dialog [name='content.template_id']", "201")
	p.until(`!document.querySelector('dialog [name="content.html"]')`)
	p.click("dialog button", "Create workflow").says(".rows", "inactive")
	p.click("strong", "Second").says(".detail", "Activate it, and then add a contact to its list.")
	p.click("button", "Activate")
	p.until(`document.querySelector('.detail .chip')?.textContent === 'active'`) // "inactive" contains it
	f.join(101, reader("new@example.org", "Ada"))
	p.says(".shares", "Sent1")
	p.says(".links", "new@example.org")
	p.click("button", "Deactivate").says(".detail .chip", "inactive")
}

// TestWebhookAndRotation: the form shows the secret of a new webhook. A rotation creates another webhook, and
// archives the old webhook if the user requests it.
func TestWebhookAndRotation(t *testing.T) {
	f, p := start(t, "#/deliveries/webhooks")
	p.says(".detail", "No webhooks yet")
	p.click("button", "New webhook")
	p.enter("[name=url]", f.receiver.URL+"/hook")
	p.click("dialog button", "Create webhook").says("dialog fieldset .field-error", "")
	p.focused("[type=checkbox]")
	p.click("dialog label", "Email.Opened")
	p.fill("dialog [name=rate_limit]", "100")
	p.pickIn("dialog [name=rate_limit_period]", "minute")
	p.click("dialog button", "Create webhook")
	secret := p.secret()
	p.click("dialog button", "Close").says(".cards", "100 a minute")
	hook := f.webhook(0, secret)

	p.click("button", "Rotate secret").says("dialog .how", "both secrets")
	p.click("dialog button", "Create successor")
	second := p.secret()
	p.until(`document.querySelectorAll('.cards > li').length === 2`)
	id := f.send("ada@example.org", "Hello", order)
	f.opens(id)
	if n := len(f.srv.Deliveries()); n != 2 || second == secret {
		t.Errorf("%d deliveries to both webhooks, want 2; the secrets are equal: %v", n, second == secret)
	}
	p.click("dialog button", "Archive webhook "+hook.ID).until(`!document.querySelector('dialog.create')`)
	p.says(".cards", "archived")
	f.opens(id)
	if successor := f.webhook(1, second); len(f.srv.Deliveries()) != 3 || successor.URL != hook.URL {
		t.Errorf("%d deliveries, want 3; the successor is %+v", len(f.srv.Deliveries()), successor)
	}
}

// secret returns the secret in the dialog.
func (p *page) secret() string {
	p.Helper()
	p.says("dialog .secret", "The secret that signs")
	return strings.TrimSpace(p.text("dialog .secret .id"))
}

// webhook returns the webhook at position n, and checks the fields that the form has set.
func (f *fixture) webhook(n int, secret string) client.Webhook {
	f.Helper()
	all, err := f.sdk.Webhooks.List(f.Context(), client.ListWebhooksParams{})
	f.check(err)
	hook, err := f.sdk.Webhooks.Get(f.Context(), all.Data[n].ID)
	f.check(err)
	if hook.Secret.Reveal() != secret || len(hook.Events) != 1 || hook.RateLimit != 100 {
		f.Errorf("%+v; the page shows %q", hook, secret)
	}
	return hook
}
