package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestKeysOfRecipients: each recipient action has a key, and the help lists the keys.
func TestKeysOfRecipients(t *testing.T) {
	f := newFixture(t)
	f.send("ada@example.org", "The first", order)
	id := f.send("grace@example.org", "The second", order)
	p := open(t, f.srv.URL(), "#/inbox/"+id, desktop)
	p.until(`document.querySelectorAll('.detail .actions .button').length >= 6`)
	p.equal(eval[int](p, `rowsOf('.detail .actions .button')`), 1)
	p.press("o").says(".toasts", "Email.Opened")
	for key, menu := range map[string]string{"c": "harbour.example/track", "u": "From all email"} {
		p.press(key).says(":popover-open", menu)
		p.focused(":popover-open button")
		p.until(`!document.querySelector(':popover-open').textContent.includes('From this list')`) // the recipient is not on a list
		p.press(kb.Escape).until(`!document.querySelector(':popover-open')`)
	}
	p.press("c")
	p.enter(":popover-open button", "\r").says(".toasts", "Email.Clicked")
	p.press("s") // without a menu
	p.says(".toasts", "Message reported as spam. Email.ReportedAsSpam occurred.")
	p.press("b").says(".toasts", "Message bounced. Email.Bounced occurred.")
	p.equal(f.srv.Outbox()[1].BounceCategory, mockserver.HardBounce)
	p.equal(f.srv.Outbox()[1].ReportedAsSpam, true)
	p.click(".detail [aria-label='Bounce: more']", "")
	p.click(":popover-open button", "The mailbox is full").says(".head", "bounce_fm")
	p.fill("#filter", "obcsu") // keys typed in a field are not actions
	p.press(kb.Escape)
	p.equal(f.srv.Outbox()[1].Opens, 1)
	p.press("?").says("dialog[open]", "a bounce", "a click", "an unsubscribe", "select the item", "undo")
}

// TestMessageAsFileAndItsChecks: a message can be downloaded as a file, and its probable errors are listed.
func TestMessageAsFileAndItsChecks(t *testing.T) {
	f := newFixture(t)
	email, err := f.sdk.Emails.Send(t.Context(), client.EmailSubmission{
		To: "ada@example.org", Sender: client.Sender{Name: "Zoë", Email: "shop@example.com"},
		Content: client.EmailContent{
			Subject: "Grüße", HTML: `<a href="#">go</a><p>` + strings.Repeat("x", 102_000), Type: client.EmailTypeMarketing,
		},
	})
	f.check(err)
	p := open(t, f.srv.URL(), "#/inbox/"+email.ID, desktop)
	p.until(`[...document.querySelectorAll('[role=tab]')].some(t => t.textContent === 'Checks5')`)
	p.click("[role=tab]", "Checks").says(".findings", "the invalid target", "102 kB")
	p.click("[role=tab]", "Source").says(".bar a[download]", "Download .eml")
	p.contains(p.fetch(".bar a[download]"), "\r\nSubject: =?utf-8?")
	valid := f.send("ada@example.org", "Hello", `<a href="https://shop.example/">go</a>`)
	p.goTo("#/inbox/"+valid+"/checks").says(".tabpanel", "Nothing found")
}

// TestFrameAndPrint: single keys still work after a click in the frame of an email. Printing prints only the email. A
// confirmed email is marked.
func TestFrameAndPrint(t *testing.T) {
	f := newFixture(t)
	list := f.list("Readers", reader("ada@example.org", "Ada"))
	f.join(list.ID, pending(reader("kai@example.org", "Kai")))
	f.send("ada@example.org", "Your order is on its way", order)
	p := open(t, f.srv.URL(), "#/inbox/"+f.srv.Outbox()[1].ID, desktop)
	p.clickFrame(0, 100)
	p.enter("body", "j").says(".head h2", "Please confirm")
	p.press("k").says(".head h2", "Your order")
	p.copyFromFrame("Your order is on its way")
	p.emulate(emulation.SetEmulatedMediaParams{Media: "print"})
	p.until(`!document.querySelector('nav').checkVisibility() && !document.querySelector('.list').checkVisibility() && !document.querySelector('.tablist').checkVisibility()`)
	p.until(`document.querySelector('h2').checkVisibility() && document.querySelector('iframe').getBoundingClientRect().width > innerWidth * 0.95`)
	p.emulate(emulation.SetEmulatedMediaParams{})
	p.press("j")
	p.click(".actions button", "Confirm").says(".head .chip", "confirmed")
	p.until(`![...document.querySelectorAll('.actions button')].some(b => b.textContent === 'Confirm')`)
	p.equal(f.srv.Outbox()[0].Confirmed, true)
}

// copyFromFrame selects the heading in the frame of an email with three clicks, copies it with the keyboard and pastes it.
func (p *page) copyFromFrame(heading string) {
	p.Helper()
	for n := range 3 {
		p.clickFrame(-150, 75, chromedp.ClickCount(n+1))
	}
	p.focused("body")
	p.do(chromedp.Sleep(200 * time.Millisecond))
	p.command("c", "copy")
	p.focused("body") // the focus returns to the page
	p.do(focus("#filter"))
	p.command("v", "paste")
	p.until(fmt.Sprintf(`document.getElementById('filter').value.includes(%q)`, heading))
	p.fill("#filter", "")
	p.press(kb.Escape).rows(2)
}

// TestKeyboard bounces a message and delivers the event again without a mouse.
func TestKeyboard(t *testing.T) {
	f := newFixture(t)
	f.subscribe("/hook", "Email.Bounced")
	f.send("ada@example.org", "The first", order)
	f.send("ada@example.org", "The second", order)
	p := open(t, f.srv.URL(), "#/inbox", desktop)
	p.rows(2)
	eval[bool](p, `window.stillHere = true`)
	p.press("jj").says(".head h2", "The first")
	p.press("5").says("[role=tab][aria-selected=true]", "History")
	p.press("\r") // moves the focus into the open message
	p.focused(".detail, .detail *")
	p.tabTo("Bounce")
	p.press("\r").says(".toasts", "Email.Bounced")
	p.press("gd").says("h1", "Deliveries").rows(1)
	p.press("j\r").focused(".detail, .detail *")
	p.tabTo("Redeliver")
	p.press("\r").says(".attempts", "redelivery")
	p.press(kb.Escape)
	p.enter(".rows a", "/")
	p.enter("#filter", "nothing like that").says(".list", "No matches")
	p.press(kb.Escape + "?").until(`document.querySelector('dialog').open`)
	p.press(kb.Escape+"gf").says("h1", "Faults")
	p.until(`window.stillHere`) // the page was not loaded again
}

// tabTo presses Tab until the named button has the focus. It fails if the focus is not visible.
func (p *page) tabTo(name string) {
	p.Helper()
	for range 100 { // more than all stops of a page, because loading data can reset the focus
		p.press("\t")
		if eval[bool](p, fmt.Sprintf(`document.activeElement.textContent.trim().startsWith(%q)`, name)) {
			if outline := eval[string](p, `getComputedStyle(document.activeElement).outlineStyle`); outline == "none" {
				p.Errorf("%s has the focus, but no outline", name)
			}
			return
		}
	}
	p.Fatalf("Tab does not reach %s", name)
}

// TestRightToLeft: text that is written from right to left begins at the right, even next to text from left to right.
// A message without HTML opens with its text.
func TestRightToLeft(t *testing.T) {
	f := newFixture(t)
	for _, subject := range []string{"طلبك رقم 123 (ABC) جاهز!", "ההזמנה (ABC) מוכנה!", "Your order (ABC)"} {
		_, err := f.sdk.Emails.Send(t.Context(), client.EmailSubmission{
			To: "ada@example.org", Sender: client.Sender{Name: subject, Email: "shop@example.com"},
			Content: client.EmailContent{Subject: subject, Text: subject + "\nSee https://shop.example/42.", Type: client.EmailTypeTransactional},
		})
		f.check(err)
	}
	directions := func(selector string) string {
		return `[...document.querySelectorAll('` + selector + `')].map(e => getComputedStyle(e).direction).join(' ')`
	}
	p := open(t, f.srv.URL(), "#/inbox/latest", desktop)
	p.rows(3)
	for _, part := range []string{".rows strong", ".rows .more", ".rows .from bdi"} {
		p.equal(eval[string](p, directions(part)), "ltr rtl rtl")
	}
	p.says("[role=tab][aria-selected=true]", "Text").says(".plain", "See")
	p.press("c").says(":popover-open", "https://shop.example/42")
	p.goTo("#/inbox/" + f.srv.Outbox()[0].ID)
	p.until(directions(".detail h2, .plain, .who bdi:first-child") + ` === 'rtl rtl rtl'`)
	list := f.list("קוראים!", reader("grace@example.org", "גרייס!", "מנוי!"))
	f.template("ברוכים הבאים!", "<p>x</p>", "x")
	draft := f.draft(list.ID, "מבצע!", client.MessageContent{Subject: "מבצע היום!", HTML: "<p>x</p>"})
	for _, texts := range []struct{ hash, selector, want string }{
		{"#/lists", ".cards .line strong", "rtl"},
		{"#/templates", ".rows strong", "rtl"},
		{"#/campaigns", ".rows strong, .rows bdi", "rtl rtl"},
		{fmt.Sprintf("#/campaigns/%d", draft.ID), ".detail h2, .detail bdi", "rtl rtl rtl rtl"}, // name, subject, list and its sentence
		{fmt.Sprintf("#/contacts/%d", list.ID), ".rows bdi", "rtl rtl"},
	} {
		p.goTo(texts.hash).until(directions(texts.selector) + fmt.Sprintf(" === %q", texts.want))
	}
}

// TestLinksOfPreview: a link to a place in the email scrolls in the frame. Every other link opens in a new tab, so the
// console stays open.
func TestLinksOfPreview(t *testing.T) {
	f, other := newFixture(t), newOtherServer(t)
	block := `<a style="display:block;height:50px;background:#ddd" `
	id := f.send("ada@example.org", "Links", `<body style="margin:0">`+block+`href="#end" target="_top">end</a>`+
		block+`href="`+other.URL+`/top" target="_top">top</a>`+block+`href="`+other.URL+`/self" target=_self>self</a><p style="height:3000px">`+
		block+`id="end" href="`+other.URL+`/end">end</a>`)
	p := open(t, f.srv.URL(), "#/inbox/"+id, desktop)
	for path, down := range map[string]int{"/top": 75, "/self": 125} {
		p.clickFrame(0, down)
		p.requestTo(other, path)
	}
	p.clickFrame(0, 25)
	p.waitUntilIdle()
	p.clickFrame(0, 25) // the end is at the top now
	p.requestTo(other, "/end")
	p.says(".head h2", "Links")
}

// requestTo waits until another server received a request.
func (p *page) requestTo(o *otherServer, path string) {
	p.Helper()
	for start := time.Now(); !strings.Contains(fmt.Sprint(o.requests()), path); p.do(chromedp.Sleep(50 * time.Millisecond)) {
		if time.Since(start) > actionTimeout/3 {
			p.Fatalf("no request of %s: %v", path, o.requests())
		}
	}
}
