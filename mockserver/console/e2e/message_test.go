package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestKeysOfRecipients: each recipient action has a key, and the help lists the keys.
func TestKeysOfRecipients(t *testing.T) {
	w := newWorld(t)
	w.send("ada@example.org", "The first", order)
	id := w.send("grace@example.org", "The second", order)
	p := open(t, w.srv.URL(), "#/inbox/"+id, desk)
	p.says(".actions", "Bounce")
	p.press("o")
	p.says(".toasts", "Email.Opened")
	for key, menu := range map[string]string{"c": "harbour.example/track", "u": "From all email"} {
		p.press(key)
		p.until(fmt.Sprintf(`document.querySelector(':popover-open')?.textContent.includes(%q) && document.activeElement.matches(':popover-open button')`, menu))
		if text := p.text(":popover-open"); key == "u" && strings.Contains(text, "From this list") { // the recipient is not on a list
			t.Errorf("the menu offers %q", text)
		}
		p.press(kb.Escape)
		p.until(`!document.querySelector(':popover-open')`)
	}
	p.press("c")
	p.until(`document.activeElement.matches(':popover-open button')`)
	p.press("\r")
	p.says(".toasts", "Email.Clicked")
	p.press("s") // without a menu
	p.says(".toasts", "Message reported as spam. Email.ReportedAsSpam occurred.")
	p.press("b")
	p.says(".toasts", "Message bounced. Email.Bounced occurred.")
	if m := w.srv.Outbox()[1]; m.BounceCategory != mockserver.HardBounce || !m.ReportedAsSpam {
		t.Errorf("the message is %+v, want a hard bounce and a report", m)
	}
	p.click(".detail [aria-label='Bounce: more']", "")
	p.click(":popover-open button", "552 5.2.2 over quota")
	p.says(".head", "bounce_fm")
	p.fill("#filter", "obcsu") // keys typed in a field are not actions
	p.press(kb.Escape)
	if opens := w.srv.Outbox()[1].Opens; opens != 1 {
		t.Errorf("opened %d times", opens)
	}
	p.press("?")
	for _, said := range []string{"a bounce", "a click", "an unsubscribe", "select the item", "undo"} {
		p.says("dialog[open]", said)
	}
}

// TestMessageIsDeleted: after a message is deleted, the next message is shown. The platform keeps its email.
func TestMessageIsDeleted(t *testing.T) {
	w := newWorld(t)
	var ids []string
	for i := range 3 {
		ids = append(ids, w.send("ada@example.org", fmt.Sprintf("Order %d", i), order))
	}
	p := open(t, w.srv.URL(), "#/inbox/"+ids[1], desk)
	p.rows(3)
	p.says(".head h2", "Order 1")
	p.says(".actions", "Delete")
	p.press(kb.Delete)
	p.says(".toast", "Message deleted.")
	p.rows(2)
	p.says(".head h2", "Order 0")
	p.says(".actions", "Delete")
	p.click(".actions button", "Delete")
	p.rows(1)
	p.says(".head h2", "Order 2")
	p.press(kb.Delete)
	p.says(".list", "Nothing sent yet")
	if email, err := w.sdk.Emails.Get(t.Context(), ids[1]); err != nil || email.Status != client.EmailStatusDelivered {
		t.Errorf("the API answers %v, %v", email, err)
	}
}

// TestMessageAsFileAndItsChecks: a message can be downloaded as a file, and its probable errors are listed.
func TestMessageAsFileAndItsChecks(t *testing.T) {
	w := newWorld(t)
	email, err := w.sdk.Emails.Send(t.Context(), client.EmailSubmission{
		To: "ada@example.org", Sender: client.Sender{Name: "Zoë", Email: "shop@example.com"},
		Content: client.EmailContent{
			Subject: "Grüße", HTML: `<a href="#">go</a><p>` + strings.Repeat("x", 102_000), Type: client.EmailTypeMarketing,
		},
	})
	w.check(err)
	p := open(t, w.srv.URL(), "#/inbox/"+email.ID, desk)
	p.until(`[...document.querySelectorAll('[role=tab]')].some(t => t.textContent === 'Checks5')`)
	p.click("[role=tab]", "Checks")
	p.says(".findings", "the invalid target")
	p.says(".findings", "102 kB")
	p.click("[role=tab]", "Source")
	p.says(".bar a[download]", "Download .eml")
	if file := eval[string](p, `fetch(document.querySelector('.bar a[download]').href).then(r => r.text())`); !strings.Contains(file, "\r\nSubject: =?utf-8?") {
		t.Errorf("the file is %.300s", file)
	}
	fine := w.send("ada@example.org", "Hello", `<a href="https://shop.example/">go</a>`)
	p.goTo("#/inbox/" + fine + "/checks")
	p.says(".tabpanel", "Nothing found")
}

// TestFrameAndPrint: single keys work after a click in the frame of an email. Printing prints only the email. A
// confirmed email is marked.
func TestFrameAndPrint(t *testing.T) {
	w := newWorld(t)
	list := w.list("Readers", reader("ada@example.org", "Ada"))
	w.join(list.ID, pending(reader("kai@example.org", "Kai")))
	w.send("ada@example.org", "Your order is on its way", order)
	p := open(t, w.srv.URL(), "#/inbox/"+w.srv.Outbox()[1].ID, desk)
	p.rest()
	box := eval[[]float64](p, `(() => { const r = document.querySelector('iframe').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()`)
	p.do(chromedp.MouseClickXY(box[0], box[1]))
	p.until(`document.activeElement === document.body`)
	p.press("j")
	p.says(".head h2", "Please confirm")
	p.press("k")
	p.says(".head h2", "Your order")
	p.rest()
	p.copiesFromFrame("Your order is on its way")
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	p.until(`!document.querySelector('nav').checkVisibility() && !document.querySelector('.list').checkVisibility() && !document.querySelector('.tablist').checkVisibility()`)
	p.until(`document.querySelector('h2').checkVisibility() && document.querySelector('iframe').getBoundingClientRect().width > innerWidth * 0.95`)
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}); err != nil {
		t.Fatal(err)
	}
	p.press("j")
	p.click(".actions button", "Confirm")
	p.says(".head .chip", "confirmed")
	p.until(`![...document.querySelectorAll('.actions button')].some(b => b.textContent === 'Confirm')`)
	if m := w.srv.Outbox()[0]; !m.Confirmed {
		t.Errorf("the message is %+v, want it confirmed", m)
	}
}

// copiesFromFrame selects the heading in the frame of an email with three clicks, copies it with the keyboard and
// pastes it.
func (p *page) copiesFromFrame(heading string) {
	p.Helper()
	at := eval[[]float64](p, `(() => { const r = document.querySelector('iframe').getBoundingClientRect(); return [r.x + r.width / 2 - 150, r.y + 75] })()`)
	for n := range 3 {
		p.do(chromedp.MouseClickXY(at[0], at[1], chromedp.ClickCount(n+1)))
	}
	p.until(`document.activeElement === document.body`)
	p.do(chromedp.Sleep(200 * time.Millisecond))
	p.held("c", "copy")
	p.until(`document.activeElement === document.body`) // the focus returns to the page
	p.do(focus("#filter"))
	p.held("v", "paste")
	p.until(fmt.Sprintf(`document.getElementById('filter').value.includes(%q)`, heading))
	p.fill("#filter", "")
	p.press(kb.Escape)
	p.rows(2)
}

// held presses a key together with Control, and sends the browser's command for it.
func (p *page) held(key, command string) {
	p.Helper()
	code := strings.ToUpper(key)
	for _, event := range []input.DispatchKeyEventParams{
		{Type: "rawKeyDown", Key: "Control", Code: "ControlLeft", WindowsVirtualKeyCode: 17, Modifiers: 2},
		{Type: "rawKeyDown", Key: key, Code: "Key" + code, WindowsVirtualKeyCode: int64(code[0]), Modifiers: 2, Commands: []string{command}},
		{Type: "keyUp", Key: key, Code: "Key" + code, WindowsVirtualKeyCode: int64(code[0]), Modifiers: 2},
		{Type: "keyUp", Key: "Control", Code: "ControlLeft", WindowsVirtualKeyCode: 17},
	} {
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, event); err != nil {
			p.Fatal(err)
		}
		p.do(chromedp.Sleep(100 * time.Millisecond))
	}
}

// TestKeyboard bounces a message and delivers the event again without a mouse.
func TestKeyboard(t *testing.T) {
	w := newWorld(t)
	w.subscribe("/hook", "Email.Bounced")
	w.send("ada@example.org", "The first", order)
	w.send("ada@example.org", "The second", order)
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.rows(2)
	eval[bool](p, `window.stillHere = true`)
	p.press("jj")
	p.says(".head h2", "The first")
	p.press("5")
	p.says("[role=tab][aria-selected=true]", "History")
	p.press("\r") // moves the focus into the open message
	p.until(`document.activeElement.closest('.detail')`)
	p.tabTo("Bounce")
	p.press("\r")
	p.says(".toasts", "Email.Bounced")
	p.press("gd")
	p.says("h1", "Deliveries")
	p.rows(1)
	p.press("j\r")
	p.until(`document.activeElement.closest('.detail')`)
	p.tabTo("Redeliver")
	p.press("\r")
	p.says(".attempts", "redelivery")
	p.press(kb.Escape)
	p.until(`document.activeElement.matches('.rows a')`)
	p.press("/")
	p.until(`document.activeElement.id === 'filter'`)
	p.press("nothing like that")
	p.says(".list", "No matches")
	p.press(kb.Escape + "?")
	p.until(`document.querySelector('dialog').open`)
	p.press(kb.Escape + "gf")
	p.says("h1", "Faults")
	if !eval[bool](p, `window.stillHere === true`) {
		t.Error("the page was loaded again")
	}
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
