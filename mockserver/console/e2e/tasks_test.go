package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
)

// atMost fails if the page needed more actions, and starts to count again.
func (p *page) atMost(n int) {
	p.Helper()
	if p.actions > n {
		p.Errorf("%d actions, want at most %d", p.actions, n)
	}
	p.actions = 0
}

// TestTaskNextSendsFail: a rule makes the next three sends of an account fail. The rule can be edited, and keeps its
// id.
func TestTaskNextSendsFail(t *testing.T) {
	f, p, other := startFourAccounts(t)
	p.goTo("#/overview?account=77").says("h1", "Overview")
	p.click("nav a", "Faults").says(".form", "submitEmail · POST /v2/emails")
	p.pick("Operation", "submitEmail").fill(".form input[placeholder='no limit']", "3").click("button", "Add rule")
	p.says(".rules", "submitEmail of account 77 · at most 3 times")
	p.atMost(6)
	send := func(c *client.Client) error {
		_, err := c.Emails.Send(t.Context(), client.EmailSubmission{To: "ada@example.org", Sender: client.Sender{Email: "s@example.com"}, Content: client.EmailContent{Subject: "x", Text: "x"}})
		return err
	}
	f.check(send(f.sdk))
	f.equal(send(other) != nil, true)
	rule := f.srv.Faults()[2]
	f.equal(rule.Fault, mockserver.Fault{AccountID: 77, Operation: "submitEmail", Times: 3, Action: mockserver.FaultStatus, Status: 503})

	p.click("[aria-label='Edit rule "+rule.ID+"']", "").says(".form h2", "Edit rule "+rule.ID)
	p.pickIn(".form select", "").pick("Operation", "").pick("Method", "POST").fill("[placeholder='/lists/{id}/contacts']", "/lists")
	p.pick("Action", "not_json").fill(".form input[placeholder='no limit']", "5")
	p.click("button", "Save rule").says(".rules", "POST /lists of all accounts · at most 5 times")
	f.equal(f.srv.Faults()[2].Fault, mockserver.Fault{Method: "POST", Path: "/lists", Times: 5, Action: mockserver.FaultNotJSON, Status: 503})
	p.says(".form h2", "Custom rule")
}

// TestTaskState: the state is saved as the baseline, reset, downloaded and loaded in one place.
func TestTaskState(t *testing.T) {
	f, p := start(t, "#/overview")
	f.list("Readers", reader("ada@example.org", "Ada"))
	p.click("button", "Save as baseline").says(".toast", "Baseline saved.")
	p.atMost(2)
	file := filepath.Join(t.TempDir(), "state.json")
	f.check(os.WriteFile(file, f.get(eval[string](p, `document.querySelector('.state a[download]').href`)), 0o600))
	f.list("More")
	p.click("button", "Reset to baseline").says(".scope", "This applies to the whole server: 2 lists, 0 messages, 0 rules.")
	p.click("button", "Yes, reset").says(".toast", "Baseline restored.")
	p.atMost(2)
	f.equal(lists(f, f.sdk), 1)
	f.srv.Clear()
	p.do(chromedp.SetUploadFiles(".state input[type=file]", []string{file}))
	p.says(".toast", "State loaded from")
	f.equal(lists(f, f.sdk), 1)
	f.check(os.WriteFile(file, []byte("{"), 0o600))
	p.do(chromedp.SetUploadFiles(".state input[type=file]", []string{file}))
	p.until(`document.querySelector('.toast') && !document.querySelector('.toast').textContent.includes('loaded')`)
	f.equal(lists(f, f.sdk), 1)
}

// TestStateOfFourAccounts: an action for all accounts names them before anything happens, whatever account is selected.
func TestStateOfFourAccounts(t *testing.T) {
	f, p, _ := startFourAccounts(t)
	p.goTo("#/overview?account=77").says("h1", "Overview")
	p.click("button", "Save as baseline").says(".scope", "This applies to all 4 accounts")
	p.click("button", "Yes, save").says(".toast", "Baseline saved.")
	p.atMost(2)
	before := lists(f, f.sdk)
	file := filepath.Join(t.TempDir(), "state.json")
	f.check(os.WriteFile(file, []byte("{"), 0o600))
	p.do(chromedp.SetUploadFiles(".state input[type=file]", []string{file}))
	p.says(".scope", "This applies to all 4 accounts").click("button", "Keep it")
	f.equal(lists(f, f.sdk), before)
}

// exported is the URL of the last download that a script of the page started.
const exported = `new Promise(done => { HTMLAnchorElement.prototype.click = function () { window.exported = this.href; }; done(true); })`

// get returns the content at a URL, such as a downloaded file.
func (f *fixture) get(url string) []byte {
	f.Helper()
	_, content := rawhttp.Send(f, http.DefaultClient, rawhttp.NewRequest(f, http.MethodGet, url, "", ""))
	return []byte(content)
}

// TestTaskExport: all messages that match the search are exported as JSON and as a zip archive.
func TestTaskExport(t *testing.T) {
	f, p := start(t, "#/inbox")
	for n := range 3 {
		f.send(fmt.Sprintf("reader%d@example.org", n), "Order", order)
	}
	p.rows(3)
	eval[bool](p, exported)
	p.click("[aria-label=Export]", "").click(":popover-open button", "JSON")
	p.atMost(2)
	var messages []mockserver.Message
	f.check(json.Unmarshal(f.get(eval[string](p, `exported`)), &messages))
	f.equal(len(messages), 3)
	p.fill("#filter", "reader1").rows(1)
	p.click("[aria-label=Export]", "").click(":popover-open button", ".eml")
	packed := f.get(eval[string](p, `exported`))
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	f.check(err)
	f.equal(len(archive.File), 1)
}

// TestTaskNoEmail: a search for an address without messages explains why it got no email.
func TestTaskNoEmail(t *testing.T) {
	f, p := start(t, "#/inbox")
	l := f.list("Readers", reader("ada@example.org", "Ada"), reader("ruth@example.org", "Ruth"))
	_, err := f.sdk.SuppressedEmails.Add(t.Context(), "*@blocked.example")
	f.check(err)
	for _, to := range []string{"ada@blocked.example", "error@mock.test", "ruth@example.org"} {
		if to == "ruth@example.org" {
			c, err := f.sdk.Contacts.Find(t.Context(), l.ID, to)
			f.check(err)
			f.check(f.sdk.Contacts.Unsubscribe(t.Context(), l.ID, c.ID))
		}
		_, _ = f.sdk.Emails.Send(t.Context(), client.EmailSubmission{To: to, Sender: client.Sender{Email: "s@example.com"}, Content: client.EmailContent{Subject: "Your order", Text: "x"}})
	}
	for n := range 205 { // newer lists
		f.list(fmt.Sprint("Other ", n))
	}
	p.actions = 0
	p.fill("#filter", "ada@blocked.example").says(".why", "rejected", "suppressed · Your order", "*@blocked.example")
	p.atMost(3)
	p.fill("#filter", "error@mock.test").says(".why", "error", "the message could not be queued")
	p.fill("#filter", "ruth@example.org").says(".why", "rejected", "unsubscribed · Your order", "ruth@example.org on list Readers")
	p.fill("#filter", "ada@example.org").says(".why", "active", "ada@example.org on list Readers")
	p.fill("#filter", "nobody@example.org").says(".why", "No email was rejected or failed")
	p.fill("#filter", "ada@blocked.example").click(".why a", "suppressed · Your order")
	p.says(".head .actions", "The message was rejected, because its recipient is suppressed.")
	p.click(".head .actions a", "suppressed").says(".table", "*@blocked.example")
	p.goTo("#/inbox?q=ruth@example.org").click(".why a", "unsubscribed · Your order")
	p.click(".head .actions a", "unsubscribed").says(".head h2", "ruth@example.org")
}

// TestTaskBouncePercent: 5 % of the recipients of a campaign bounce.
func TestTaskBouncePercent(t *testing.T) {
	f := newFixture(t)
	var readers []client.ContactCreate
	for n := range 60 {
		readers = append(readers, reader(fmt.Sprintf("reader%d@example.org", n), "Ada"))
	}
	l := f.list("Readers", readers...)
	c := f.draft(l.ID, "Autumn", client.MessageContent{Subject: "Hello", HTML: `<a href="https://harbour.example/">x</a>`})
	_, err := f.sdk.Campaigns.Send(t.Context(), c.ID)
	f.check(err)
	f.settle()
	f.subscribe("/hook", "Email.Bounced")
	p := open(t, f.srv.URL(), fmt.Sprintf("#/campaigns/%d", c.ID), desktop)
	p.click(".head button", "Simulate")
	p.click("dialog button.main", "Simulate").says(".toast", "3 messages bounced. Email.Bounced: 3 deliveries queued.")
	p.atMost(2)
	p.says(".shares", "Bounced35 %")
	p.click(".head button", "Simulate").fill("dialog [name=percent]", "50")
	p.pickIn("dialog [name=action]", "click").click("dialog button.main", "Simulate").says(".toast", "29 messages clicked.")
	p.says(".shares", "Clicked29")
	p.click(".meta a", "list Readers").says("h1", "Contacts")
}

// TestTaskRequest: a rejected request is copied as curl and as Go without its token, sent again, and becomes a fault rule.
func TestTaskRequest(t *testing.T) {
	f, p := start(t, "#/requests")
	f.ask("POST", "/v2/emails", `{"email":"ada's","sender":{"email":"shop@example.com"},"content":{"subject":"x","text":"x"}}`)
	p.click("strong", "/v2/emails").says(".wrong", "body.email")
	p.says(".head .meta", "user 1 of account 1")
	p.actions = 0
	eval[bool](p, `(Object.defineProperty(navigator, 'clipboard', { value: { writeText: async s => { window.copied = s } } }), true)`)
	p.click("button", "Copy as curl").until(`window.copied`)
	p.atMost(1)
	command := eval[string](p, `copied`)
	p.contains(command, `-H "Authorization: Bearer $TOKEN"`)
	p.equal(strings.Contains(command, f.srv.Token()), false)
	run := exec.CommandContext(t.Context(), "sh", "-c", command)
	run.Env = append(os.Environ(), "TOKEN="+f.srv.Token())
	out, err := run.Output()
	f.check(err)
	p.contains(string(out), "422")
	p.until(`(window.copied = '') === ''`)
	p.click("button", "Copy as Go").until(`window.copied`)
	p.atMost(1)
	p.contains(eval[string](p, `copied`), "c.Emails.Send(context.Background(), body)")
	p.equal(strings.Contains(eval[string](p, `copied`), f.srv.Token()), false)
	p.click("button", "Send again").says(".toast", "Sent again. The response has the status 422.")
	p.atMost(1)
	p.rows(3)
	p.click("a", "Make a rule").says(".form h2", "Custom rule")
	p.until(`[...document.querySelectorAll('.form select')].some(s => s.value === 'submitEmail')`)
}

// TestSelectAll: "Select all" selects the whole list, not only the loaded rows, and an action on it is one request.
func TestSelectAll(t *testing.T) {
	f := newFixture(t)
	f.check(f.srv.Seed(strings.NewReader(`{"lists":[{"list_id":1001,"name":"Many","policy_accepted":true,"contacts":[` + contactsJSON("user", 1200) + `]}],
		"campaigns":[{"campaign_id":9001,"name":"Autumn","list_id":1001,"sender":{"email":"hello@harbour.example"},"content":{"subject":"Hi","html":"<a href='https://x.example/'>x</a>"}}]}`)))
	_, err := f.sdk.Campaigns.Send(t.Context(), 9001)
	f.check(err)
	f.settle()
	f.send("grace@example.org", "Other", order)
	p := open(t, f.srv.URL(), "#/inbox?q=user", desktop)
	p.says(".count", "1,200")
	eval[bool](p, `(window.posts = 0, window.fetch = (f => (u, o) => { if (o?.method === 'POST') posts++; return f(u, o); })(fetch), true)`)
	p.tick(0)
	p.click(".selected button", "Select all 1,200").says(".selected", "1,200 messages selected")
	p.click(".selected button", "Click").says(".toast", "1,200 messages clicked. Email.Clicked occurred.")
	p.equal(eval[int](p, `posts`), 1)
	p.equal(len(f.srv.OutboxTo("grace@example.org")), 1)
	p.equal(f.srv.OutboxTo("grace@example.org")[0].Clicks, 0)
	p.tick(0)
	p.click(".selected button", "Select all")
	p.click(".selected button", "Delete").says(".toast", "1,200 messages deleted.").says(".list", "No matches")
	p.equal(len(f.srv.Outbox()), 1)
	p.press("z").says(".toast", "Undone.").says(".count", "1,200")
	p.goTo("#/contacts/1001").says(".count", "1,200")
	p.tick(0)
	p.click(".selected button", "Select all 1,200").says(".selected", "1,200 contacts selected")
	p.click(".selected button", "Tag")
	p.enter("[name=tags]", "vip\r").says(".toast", "1,200 contacts tagged.")
	eval[bool](p, `(posts = 0, true)`)
	p.tick(0)
	p.click(".selected button", "Select all 1,200").says(".selected", "1,200 contacts selected")
	p.click(".selected button", "Unsubscribe").says(".toast", "1,200 contacts unsubscribed from Many.")
	p.equal(eval[int](p, `posts`), 1)
	p.press("z").says(".toast", "Undone.")
	p.fill("#filter", "user11").says(".count", "111") // 11, 110 to 119, 1100 to 1199
	p.tick(0)
	p.click(".selected button", "Select all 111").says(".selected", "111 contacts selected")
	p.click(".selected button", "Delete").says(".toast", "111 contacts deleted from Many.")
	p.equal(strings.Contains(p.text(".toast"), "failed"), false)
	p.pick("Status", "active").says(".list", "No matching contacts")
	p.fill("#filter", "").says(".count", "1,089")
	p.equal(eval[bool](p, `document.querySelector('.list').scrollWidth <= document.querySelector('.list').clientWidth`), true)
}

// TestAttemptsAfterRedelivery: a redelivered delivery shows the attempts that were made, and times on another day have seconds.
func TestAttemptsAfterRedelivery(t *testing.T) {
	f := newFixture(t)
	f.subscribe("/hook", "Email.Opened")
	f.status.Store(http.StatusInternalServerError)
	f.opens(f.send("ada@example.org", "Hello", order))
	id := f.srv.Deliveries()[0].ID
	f.check(f.srv.Advance(t.Context(), 30*time.Minute))
	p := open(t, f.srv.URL(), "#/deliveries/"+id, desktop)
	p.says(".head .meta", "2 of 4 attempts")
	f.status.Store(0)
	p.click("button", "Redeliver").says(".head .meta", "3 attempts")
	const squares = `document.querySelectorAll('%s .track i').length`
	p.until(fmt.Sprintf(squares+` === 3`, ".head"))
	p.until(fmt.Sprintf(squares+` === 3`, ".rows"))
	f.check(f.srv.Advance(t.Context(), 48*time.Hour))
	p.reload()
	p.until(`[...document.querySelectorAll('.attempts time, .rows time')].every(e => /\d\d:\d\d:\d\d/.test(e.textContent) && e.textContent.includes(','))`)
}
