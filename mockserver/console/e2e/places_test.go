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
	"example.com/emailplatform/mockserver"
)

// resources creates templates, a workflow, and campaigns that are not sent yet.
func (w *world) resources(list int64) {
	w.Helper()
	welcome := w.template("Welcome", strings.ReplaceAll(order, "Hello Ada", "Hello {{first_name}} of {{city}}"), "Hello {{first_name}},\n\nwelcome.\n")
	w.template("Receipt", "", "Order {{order}}")
	greeting, err := w.sdk.Workflows.Create(w.Context(), client.WorkflowCreate{
		Name: "Welcome", ListID: list, Trigger: "subscribed", Sender: client.Sender{Name: "Harbour Books", Email: "hello@harbour.example"},
		Content: client.MessageContent{Subject: "Welcome, {{first_name}}", TemplateID: welcome},
	})
	w.check(err)
	w.check(w.sdk.Workflows.Activate(w.Context(), greeting.ID))
	w.join(list, reader("noor@example.org", "Noor"), reader("click@mock.test", "Noor"))
	winter := w.draft(list, "Winter catalogue", client.MessageContent{Subject: "Winter catalogue", HTML: order})
	_, err = w.sdk.Campaigns.Schedule(w.Context(), winter.ID, w.srv.Now().Add(48*time.Hour))
	w.check(err)
	w.draft(list, "A draft", client.MessageContent{Subject: "A draft", HTML: order})
	w.settle()
}

// morning creates orders within an hour and opens some of the emails to fill the timeline.
func (w *world) morning() {
	w.Helper()
	for minute := range 57 {
		for n := range []int{1, 0, 2, 3, 1, 4, 2}[minute%7] + minute/20 {
			id := w.send(fmt.Sprintf("reader%d.%d@example.net", minute, n), fmt.Sprintf("Your order 10 %d", 400+minute), order)
			if n%2 == 0 {
				w.check(w.srv.Open(id))
			}
			if n == 1 && minute%3 == 0 {
				w.check(w.srv.Bounce(id, mockserver.SoftBounce))
			}
		}
		w.settle()
		w.status.Store(map[bool]int64{true: http.StatusBadGateway}[minute > 30 && minute < 34])
		w.check(w.srv.Advance(w.Context(), time.Minute))
	}
	w.status.Store(0)
}

// TestOverview: the console opens with the overview. An empty overview explains how to send an email. Later, it
// shows counts, a timeline and pending work with its reasons.
func TestOverview(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "", desk)
	p.says("h1", "Overview")
	p.says(".first", "Send a test email")
	p.says(".waiting", "No pending work.")
	p.click("button", "Send a test email")
	p.until(`!document.querySelector('.first')`)
	p.says(".tile", "Messages sent1")

	hook := w.subscribe("/hook", "Email.Opened")
	w.status.Store(http.StatusInternalServerError)
	w.check(w.srv.Open(w.srv.Outbox()[0].ID))
	w.settle()
	p.says(".tiles", "100 % opened")
	p.says(".tiles", "1 failed")
	p.says(".waits", "1 delivery to webhook "+hook.ID)
	p.says(".waits", "The last attempt failed.")
	p.says(".waits", "in 29:")
	p.until(`document.querySelector('.series:nth-of-type(4) .bars .bad')`)
	for name, want := range map[string]string{"Messages": "1 in the last hour", "Events": "1 in the last hour", "Attempts": "1 in the last hour, at most 1 in a minute"} {
		p.until(fmt.Sprintf(`document.querySelector('[role=img][aria-label^=%q]')?.ariaLabel.includes(%q)`, name, want))
	}
	p.click("summary", "As a table")
	p.says(".timeline .table", "Attempts")
	p.rows(1)

	w.status.Store(0)
	p.click("button", "Now") // the retry succeeds
	p.says(".waiting", "No pending work")
	p.says(".tiles", "Delivered1")
	p.click("a", "Deliveries")
	p.says(".rows", "Email.Opened")
}

// TestOverviewPendingWork: the overview names each reason to wait and links to the waiting records.
func TestOverviewPendingWork(t *testing.T) {
	w := newWorld(t)
	list := w.list("Readers", reader("ada@example.org", "Ada"))
	w.join(list.ID, pending(reader("kai@example.org", "Kai")))
	w.resources(list.ID)
	old := w.subscribe("/old", "Email.Opened")
	slow, err := w.sdk.Webhooks.Create(t.Context(), client.WebhookCreate{
		URL: w.receiver.URL + "/slow", Events: []events.Name{"Email.Opened"}, RateLimit: 1, RateLimitPeriod: "hour",
	})
	w.check(err)
	w.status.Store(http.StatusInternalServerError)
	id := w.send("ada@example.org", "Hello", order)
	for range 3 {
		w.check(w.srv.Open(id))
	}
	w.settle()
	w.check(w.sdk.Webhooks.Archive(t.Context(), old.ID))
	p := open(t, w.srv.URL(), "#/overview", desk)
	for _, want := range []string{
		"Winter catalogueThe campaign is scheduled.", "1 contact of ReadersThe recipients have not followed",
		"3 deliveries to webhook " + old.ID + "The webhook is archived", "2 deliveries to webhook " + slow.ID + "The webhook’s rate limit",
	} {
		p.says(".waits", want)
	}
	p.click(".waits a", "Winter catalogue")
	p.says(".head", "is sent in")
	p.goTo("#/overview")
	p.click(".waits a", "1 contact of")
	p.says(".rows", "kai@example.org")
	p.rows(1)
	p.goTo("#/overview")
	p.click(".waits a", "2 deliveries")
	p.rows(2)
}

// TestOverviewGoesBack: the timeline can show earlier hours of the platform's clock.
func TestOverviewGoesBack(t *testing.T) {
	w := newWorld(t)
	w.send("ada@example.org", "Hello", order)
	w.check(w.srv.Advance(t.Context(), 5*time.Hour))
	p := open(t, w.srv.URL(), "#/overview", desk)
	p.until(`document.querySelector('[aria-label^="Messages: 0 in the last hour"]')`)
	p.click(".timeline label", "6 h")
	p.until(`document.querySelector('[aria-label^="Messages: 1 in the last 6 hours, at most 1 in 6 minutes"]')`)
	p.reload()
	p.until(`document.querySelector('[aria-label^="Messages: 1 in the last 6 hours"]')`)
}

// TestTemplates: the preview shows a template with custom attributes, in two widths and two color schemes.
func TestTemplates(t *testing.T) {
	w := newWorld(t)
	w.template("Welcome", `<p>Hello {{first_name}} of {{ shop }}</p>`, "Hello {{first_name}} of {{shop}}")
	p := open(t, w.srv.URL(), "#/templates", desk)
	p.click("strong", "Welcome")
	p.says(".samples", "first_name")
	p.says(".samples", "shop")
	p.until(`document.querySelector('iframe').style.maxWidth === '600px'`)
	p.click(".preview label", "360")
	p.until(`document.querySelector('iframe').getBoundingClientRect().width === 360`)
	p.click(".preview label", "Dark")
	p.until(`document.querySelector('iframe').style.colorScheme === 'dark'`)
	if sandbox := eval[string](p, `document.querySelector('iframe').getAttribute('sandbox')`); strings.Contains(sandbox, "script") || strings.Contains(sandbox, "same-origin") {
		t.Errorf("the frame may %s", sandbox)
	}
	p.fill(".samples .pick:nth-of-type(2) input", "Harbour <b>")
	p.until(`decodeURIComponent(document.querySelector('iframe').src).includes('Harbour <b>')`)
	if html := eval[string](p, `fetch(document.querySelector('iframe').src).then(r => r.text())`); !strings.Contains(html, "Hello Ada of Harbour &lt;b&gt;") {
		t.Errorf("the preview is %s", html)
	}
	p.click("button", "Text")
	p.says(".plain", "Hello Ada of Harbour <b>")
}

// TestCreateATemplate: the keyboard is enough to create and change a template. An error appears next to its field,
// which gets the focus. Afterwards, the button gets the focus again.
func TestCreateATemplate(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/templates", desk)
	p.says(".list", "No template yet")
	p.do(focus(".list .button.main"))
	p.press("\r")
	p.until(`document.querySelector('dialog.create[open]')`)
	p.until(`document.activeElement.name === 'name'`)
	p.press("\r") // without a name
	p.says("dialog [name=name] + .note .wrongly", "")
	p.until(`document.activeElement.name === 'name' && document.activeElement.ariaInvalid === 'true'`)
	if said := p.text("dialog .wrongly"); len(said) < 5 || strings.Contains(said, "body") {
		t.Errorf("without a name: %q", said)
	}
	p.press("Welcome\t<p>Hello {{name}}</p>\tHello {{name}}\t\r")
	p.says(".rows", "Welcome")
	p.until(`document.activeElement.textContent === 'New'`)
	p.click("strong", "Welcome")
	p.click("button", "Edit")
	p.fill("dialog [name=name]", "Hello")
	p.press("\r")
	p.says(".head h2", "Hello")
	made, err := w.sdk.Templates.Find(t.Context(), "Hello")
	if err != nil || made.Content.HTML != "<p>Hello {{name}}</p>" || made.Content.Text != "Hello {{name}}" {
		t.Errorf("%+v, %v", made, err)
	}
	p.click("button", "Edit")
	p.until(`document.querySelector('dialog.create[open]')`)
	p.press(kb.Escape)
	p.until(`!document.querySelector('dialog.create') && document.activeElement.textContent === 'Edit'`)
}

// TestLists: a list shows the statuses of its contacts, links to them, and accepts new contacts with or without
// double opt-in.
func TestLists(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/lists", desk)
	p.says(".page", "No list yet")
	p.click("button", "New list")
	p.until(`document.activeElement.name === 'name'`)
	p.press("Readers\r")
	p.says(".cards", "Readers")
	p.says(".cards", "policy accepted")
	p.says(".cards", "0 contacts")
	add := func(keys string) {
		p.click(".cards button", "Add")
		p.until(`document.activeElement.name === 'email'`)
		p.press(keys)
	}
	add("ada@example.org\tvip, customer\tbooks\tfirst_name=Ada\r\ncity=London")
	p.click("dialog button", "Add")
	p.says(".standing", "active1")
	add("grace@example.org\t\t\t\t \t\r")
	p.says(".standing", "pending1")
	p.says(".cards", "1 contact of a double opt-in has not confirmed yet.")
	p.until(`document.querySelector('.whole').ariaLabel === '1 active, 1 pending'`)
	add("ada@example.org\r")
	p.says("dialog .wrongly", "The list already contains ada@example.org, with the status active")
	p.until(`document.activeElement.name === 'email'`)
	p.press(kb.Escape)
	p.until(`document.activeElement.textContent === 'Add'`)

	list, err := w.sdk.Lists.Find(t.Context(), "Readers")
	w.check(err)
	ada, err := w.sdk.Contacts.Find(t.Context(), list.ID, "ada@example.org")
	if err != nil || len(ada.Tags) != 2 || len(ada.Interests) != 1 || len(ada.CustomAttributes) != 2 || ada.CustomAttributes[1].Value != "London" {
		t.Errorf("%+v, %v", ada, err)
	}
	p.click(".standing a", "pending")
	p.says(".rows", "grace@example.org")
	p.rows(1)
	p.goTo("#/lists")
	p.click(".cards a", "inbox")
	p.says(".rows", "Please confirm your subscription to Readers")
	_, err = w.sdk.Lists.Create(t.Context(), client.ListCreate{Name: "Unused"})
	w.check(err)
	p.goTo("#/lists")
	p.says(".cards", "policy not accepted") // without a reload
	p.fill("#filter", "unus")
	p.until(`document.querySelectorAll('.cards > li').length === 1`)
	p.click("button", "Accept policy")
	p.says(".cards", "policy accepted")
}

// TestSendNow: one click sends a draft. Long waits are shown in days, and tiles and buttons form full rows.
func TestSendNow(t *testing.T) {
	w := newWorld(t)
	list := w.list("Readers", reader("ada@example.org", "Ada"))
	later := w.draft(list.ID, "Autumn", client.MessageContent{Subject: "Hello", HTML: order})
	_, err := w.sdk.Campaigns.Schedule(t.Context(), later.ID, w.srv.Now().Add(30*24*time.Hour))
	w.check(err)
	c := w.draft(list.ID, "Autumn", client.MessageContent{Subject: "Hello", HTML: order})
	p := open(t, w.srv.URL(), fmt.Sprintf("#/campaigns/%d", later.ID), desk)
	p.says(".head", "is sent in 30 days")
	p.goTo(fmt.Sprintf("#/campaigns/%d", c.ID))
	p.click(".detail button", "Send now")
	p.says(".detail .chip", "delivered")
	p.goTo("#/inbox/" + w.srv.Outbox()[0].ID)
	const rows = `new Set([...document.querySelectorAll('.detail .actions .button')].map(b => Math.round(b.getBoundingClientRect().top))).size`
	p.until(`document.querySelectorAll('.detail .actions .button').length >= 6`)
	if n := eval[int](p, rows); n != 1 {
		t.Errorf("at %d px the buttons of an email are in %d rows", desk.width, n)
	}
	p.goTo("#/overview")
	p.until(`document.querySelectorAll('.tile').length === 8`)
	for width, want := range map[int64]int{1280: 2, 1920: 1, 900: 4} {
		p.do(chromedp.EmulateViewport(width, 1000))
		p.until(fmt.Sprintf(`new Set([...document.querySelectorAll('.tile')].map(b => Math.round(b.getBoundingClientRect().top))).size === %d`, want))
	}
}

// TestCampaigns: a campaign is created, scheduled and sent. The page shows its events when they happen.
func TestCampaigns(t *testing.T) {
	w := newWorld(t)
	list := w.list("Readers", reader("ada@example.org", "Ada"), reader("grace@example.org", "Grace"), reader("bounce@mock.test", "B"), reader("open@mock.test", "O"))
	p := open(t, w.srv.URL(), "#/campaigns", desk)
	p.says(".list", "No campaign yet")
	p.click("button", "New")
	p.until(`document.activeElement.name === 'name'`)
	p.press("Autumn")
	p.until(`document.querySelector('dialog [name="sender.email"]').value === 'user@example.com'`) // the user's address
	p.fill("dialog [name='sender.email']", "hello@harbour.example")
	p.pickIn("dialog [name=list_id]", strconv.FormatInt(list.ID, 10))
	p.fill("dialog [name='content.subject']", "Hello {{first_name}}")
	p.fill("dialog [name='content.html']", "<p>Hello</p>")
	p.click("dialog button", "Create the campaign")
	p.says(".rows", "draft")
	p.says(".detail", "Not sent yet. Send it now or schedule it.") // the new campaign is open
	p.click(".list button", "New")
	p.until(`document.querySelector('dialog [name="sender.email"]').value === 'hello@harbour.example'`) // the last sender
	p.press(kb.Escape)
	p.click(".detail button", "Schedule")
	p.click("dialog button", "Schedule")
	p.says(".head", "is sent in 59:")
	w.check(w.srv.Advance(t.Context(), 2*time.Hour))
	p.says(".detail .chip", "delivered")
	p.says(".shares", "Sent4")
	p.says(".shares", "Bounced125 %")
	p.says(".shares", "Opened125 %")
	p.says(".links", "ada@example.org")
	w.check(w.srv.Complain(w.srv.OutboxTo("ada@example.org")[0].ID, "Gmail"))
	p.says(".shares", "Reported as spam125 %") // without a reload
	p.says(".rows", "4 sent, 25 % opened")
	p.click(".links a", "ada@example.org")
	p.says(".head h2", "Hello Ada")
	p.goTo("#/campaigns")
	p.click("strong", "Autumn")
	p.click(".detail a", "Events")
	p.says(".rows", "Campaign.Sent")
	p.says(".rows", "Email.ReportedAsSpam")
}

// TestWorkflows: a workflow can be created, activated and deactivated. An active workflow sends email.
func TestWorkflows(t *testing.T) {
	w := newWorld(t)
	list := w.list("Readers")
	w.resources(list.ID)
	p := open(t, w.srv.URL(), "#/workflows", desk)
	p.says(".rows", "active")
	p.click(".list button", "New")
	p.until(`document.activeElement.name === 'name'`)
	p.press("Second")
	p.pickIn("dialog [name=list_id]", strconv.FormatInt(list.ID, 10))
	p.fill("dialog [name='sender.email']", "hello@harbour.example")
	p.click("dialog button", "Create the workflow")
	p.until(`document.activeElement.name?.startsWith('content.')`) // no content: its first field has the focus
	template, err := w.sdk.Templates.Find(t.Context(), "Welcome")
	w.check(err)
	p.pickIn("dialog [name='content.template_id']", strconv.FormatInt(template.ID, 10))
	p.until(`!document.querySelector('dialog [name="content.html"]')`)
	p.click("dialog button", "Create the workflow")
	p.says(".rows", "inactive")
	p.click("strong", "Second")
	p.click("button", "Activate")
	p.until(`document.querySelector('.detail .chip')?.textContent === 'active'`) // "inactive" contains it
	w.join(list.ID, reader("ada@example.org", "Ada"))
	p.says(".shares", "Sent1")
	p.says(".links", "ada@example.org")
	p.click("button", "Deactivate")
	p.says(".detail .chip", "inactive")
}

// TestWebhookAndRotation: the form shows the secret of a new webhook. A rotation creates another webhook and
// archives the old webhook on request.
func TestWebhookAndRotation(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/deliveries/webhooks", desk)
	p.says(".detail", "No webhook yet")
	p.click("button", "New webhook")
	p.until(`document.activeElement.name === 'url'`)
	p.press(w.receiver.URL + "/hook")
	p.click("dialog button", "Create the webhook")
	p.says("dialog fieldset .wrongly", "")
	p.until(`document.activeElement.type === 'checkbox'`)
	p.click("dialog label", "Email.Opened")
	p.fill("dialog [name=rate_limit]", "100")
	p.pickIn("dialog [name=rate_limit_period]", "minute")
	p.click("dialog button", "Create the webhook")
	p.says("dialog .secret", "The secret that signs")
	secret := p.secret()
	p.click("dialog button", "Close")
	p.says(".cards", "100 a minute")
	hook := w.onlyHook(0)
	if hook.Secret.Reveal() != secret || len(hook.Events) != 1 || hook.RateLimit != 100 {
		t.Errorf("%+v; the page shows %q", hook, secret)
	}

	p.click("button", "Rotate the secret")
	p.says("dialog .how", "both secrets")
	p.click("dialog button", "Create the successor")
	p.says("dialog .secret", "The secret that signs")
	second := p.secret()
	p.until(`document.querySelectorAll('.cards > li').length === 2`)
	id := w.send("ada@example.org", "Hello", order)
	w.check(w.srv.Open(id))
	w.settle()
	if n := len(w.srv.Deliveries()); n != 2 || second == secret {
		t.Errorf("%d deliveries, want 2; the secrets are equal: %v", n, second == secret)
	}
	p.click("dialog button", "Archive webhook "+hook.ID)
	p.until(`!document.querySelector('dialog.create')`)
	p.says(".cards", "archived")
	w.check(w.srv.Open(id))
	w.settle()
	successor := w.onlyHook(1)
	if n := len(w.srv.Deliveries()); n != 3 || successor.Secret.Reveal() != second || successor.URL != hook.URL || successor.RateLimit != 100 {
		t.Errorf("%d deliveries, want 3; the successor is %+v", n, successor)
	}
}

// secret returns the secret in the dialog.
func (p *page) secret() string {
	p.Helper()
	return strings.TrimSpace(p.text("dialog .secret .id"))
}

// onlyHook returns webhook number n with its secret.
func (w *world) onlyHook(n int) client.Webhook {
	w.Helper()
	all, err := w.sdk.Webhooks.List(w.Context(), client.ListWebhooksParams{})
	w.check(err)
	hook, err := w.sdk.Webhooks.Get(w.Context(), all.Data[n].ID)
	w.check(err)
	return hook
}
