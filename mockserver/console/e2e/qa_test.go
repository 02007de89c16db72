package e2e

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// hands count what a person does: clicks, pastes, texts that are typed, and single keys.
type hands struct {
	*page
	actions int
	log     []string
}

func (h *hands) did(what string) {
	h.actions++
	h.log = append(h.log, what)
}

func (h *hands) click(kind, text string) {
	h.Helper()
	h.page.click(kind, text)
	h.did("click " + text)
}

// paste puts a text where the focus is.
func (h *hands) paste(what, text string) {
	h.Helper()
	if _, err := chromedp.Call(h.ctx, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		h.Fatal(err)
	}
	h.did(what)
}

// into clicks a field, which a person counts with its text, and puts a text into it.
func (h *hands) into(selector, text string) {
	h.Helper()
	h.until(fmt.Sprintf(`document.querySelector(%q)`, selector))
	h.do(focus(selector))
	h.paste("fill in "+selector, text)
}

func (h *hands) press(key string) {
	h.Helper()
	h.page.press(key)
	h.did("press " + key)
}

// tick clicks the box of the nth row, with Shift through all rows since the last one.
func (h *hands) tick(n int, through bool) {
	h.Helper()
	box := fmt.Sprintf(`document.querySelectorAll('.rows li')[%d].querySelector('.select')`, n)
	h.until(box)
	eval[bool](h.page, `new Promise(done => { `+box+`.scrollIntoView({ block: 'nearest' }); setTimeout(done, 100, true) })`)
	at := eval[[]float64](h.page, `(() => { const r = `+box+`.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()`)
	var modifiers []chromedp.MouseOption
	if through {
		modifiers = append(modifiers, chromedp.ButtonModifiers(chromedp.ModifierShift))
	}
	h.do(chromedp.MouseClickXY(at[0], at[1], modifiers...))
	h.did(fmt.Sprintf("tick row %d", n))
}

// A QA engineer's task, from an empty server with a webhook to an exported email, takes at most 30 actions.
func TestQATask(t *testing.T) {
	w := newWorld(t)
	w.subscribe("/hook", "Email.Bounced", "Email.ReportedAsSpam", "Contact.Removed")
	h := &hands{page: open(t, w.srv.URL(), "#/overview", desk)}
	var pasted strings.Builder
	for n := range 20 {
		fmt.Fprintf(&pasted, "reader%d@example.org\n", n)
	}

	h.click("nav a", "Lists")
	h.click("button", "New list")
	h.until(`document.activeElement.name === 'name'`)
	h.paste("the name", "Readers")
	h.into("dialog [name=contacts]", pasted.String())
	h.says("dialog", "20 contacts found.")
	h.click("dialog button.main", "Create the list")
	h.says(".toast", "20 contacts imported to Readers")

	h.click("nav a", "Campaigns")
	h.says("h1", "Campaigns")
	h.click("main button", "New")
	h.until(`document.querySelector('dialog [name=list_id]')?.value`) // the only list is chosen
	h.into("dialog [name=name]", "Autumn")
	h.into("dialog [name='sender.email']", "hello@harbour.example")
	h.into("dialog [name='content.subject']", "The autumn catalogue")
	h.into("dialog [name='content.html']", `<p>Hello</p><p><a href="{{unsubscribe_url}}" style="display: block; padding: 80px; background: #eee">Unsubscribe</a></p>`)
	h.click("dialog button.main", "Create the campaign")
	h.click(".detail button", "Send now")
	h.says(".detail .chip", "delivered")
	w.settle()

	h.click("nav a", "Inbox")
	h.says("h1", "Inbox")
	h.rows(20)
	h.click(".rows a", "reader10@")
	h.rest()
	h.frameLink(w)
	h.exports(w)

	h.tick(0, false)
	h.tick(2, true)
	h.says(".selected", "3 messages selected")
	h.press("b")
	h.says(".toast", "3 messages bounced. Email.Bounced: 3 deliveries queued.")
	h.tick(3, false)
	h.tick(4, true)
	h.press("s")
	h.says(".toast", "2 messages reported as spam. Email.ReportedAsSpam: 2 deliveries queued.")
	w.settle()

	h.click(".toast a", "Show")
	h.says(".head h2", "Email.ReportedAsSpam")
	h.click(".detail button", "Redeliver")
	h.says(".attempts", "redelivery")
	h.click("[role=tab]", "Signature")
	d := w.shown(h.page)
	raw, err := base64.StdEncoding.DecodeString(d.Signature)
	w.check(err)
	h.into("#theirs", hex.EncodeToString(raw))
	h.says("#theirs-verdict", "The right value in hexadecimal")
	before := w.srv.Now()
	h.click(".passing button", "+1 h")
	h.says(".toast", "Clock set to")

	w.outcome(list(w, "Readers"), before)
	t.Logf("%d actions: %s", h.actions, strings.Join(h.log, ", "))
	if h.actions > 30 {
		t.Errorf("%d actions, want at most 30: %q", h.actions, h.log)
	}
}

// frameLink clicks the link in the frame of an email, which opens in a tab of its own.
func (h *hands) frameLink(w *world) {
	h.Helper()
	at := eval[[]float64](h.page, `(() => { const r = document.querySelector('iframe').getBoundingClientRect(); return [r.x + r.width / 2, r.y + 120] })()`)
	for deadline := time.Now().Add(patience / 3); !unsubscribed(w) && time.Now().Before(deadline); {
		h.do(chromedp.MouseClickXY(at[0], at[1]), chromedp.Sleep(time.Second)) // again, if the frame was still loading
	}
	h.did("click the link in the email")
	if _, err := chromedp.Call(h.ctx, cdppage.BringToFront, cdp.Empty{}); err != nil {
		h.Fatal(err)
	}
	h.did("close the tab of the link")
	h.until(`document.querySelector('.head [aria-label="unsubscribed"]')`)
}

func unsubscribed(w *world) bool {
	return slices.ContainsFunc(w.srv.Outbox(), func(m mockserver.Message) bool { return m.Unsubscribed })
}

// exports downloads the email that is open.
func (h *hands) exports(w *world) {
	h.Helper()
	h.until(`document.querySelector('.head a[download]')`)
	h.did("click Download .eml")
	file := eval[string](h.page, `fetch(document.querySelector('.head a[download]').href).then(r => r.text())`)
	if !strings.Contains(file, "To: reader10@example.org") {
		w.Errorf("the exported file is %.300s", file)
	}
}

// shown is the delivery that is open.
func (w *world) shown(p *page) mockserver.Delivery {
	w.Helper()
	hash := eval[string](p, `location.hash`)
	for _, d := range w.srv.Deliveries() {
		if strings.Contains(hash, d.ID) {
			return d
		}
	}
	w.Fatalf("no delivery is open at %s", hash)
	return mockserver.Delivery{}
}

func list(w *world, name string) int64 {
	w.Helper()
	l, err := w.sdk.Lists.Find(w.Context(), name)
	w.check(err)
	return l.ID
}

// outcome checks what the QA engineer's actions did on the platform.
func (w *world) outcome(list int64, before time.Time) {
	w.Helper()
	got := map[events.ContactStatus]int{}
	for c, err := range w.sdk.Contacts.All(w.Context(), list, client.ListContactsParams{}) {
		w.check(err)
		got[c.Status]++
	}
	want := map[events.ContactStatus]int{"active": 14, "bounced": 3, "spam": 2, "unsubscribed": 1}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.Errorf("the contacts are %v, want %v", got, want)
	}
	replays := 0
	for _, d := range w.srv.Deliveries() {
		for _, a := range d.Attempts {
			if a.Manual {
				replays++
			}
		}
	}
	if passed := w.srv.Now().Sub(before); replays != 1 || passed < time.Hour || passed > time.Hour+time.Minute {
		w.Errorf("%d replays and %v, want one and an hour", replays, passed)
	}
}
