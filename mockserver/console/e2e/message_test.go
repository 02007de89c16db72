package e2e

import (
	"fmt"
	"net/mail"
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

// What recipients do has keys, which the help names.
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
	p.press("s") // at once
	p.says(".toasts", "Message reported as spam. Email.ReportedAsSpam occurred.")
	p.press("b")
	p.says(".toasts", "Message bounced. Email.Bounced occurred.")
	if m := w.srv.Outbox()[1]; m.BounceCategory != mockserver.HardBounce || !m.ReportedAsSpam {
		t.Errorf("the message is %+v, want a hard bounce and a report", m)
	}
	p.click(".detail [aria-label='Bounce: more']", "")
	p.says(":popover-open", "550 5.1.1")
	p.press(kb.Escape)
	p.fill("#filter", "obcsu") // typed, not done
	p.press(kb.Escape)
	if opens := w.srv.Outbox()[1].Opens; opens != 1 {
		t.Errorf("opened %d times", opens)
	}
	p.press("?")
	for _, said := range []string{"a bounce", "a click", "an unsubscribe", "select the item", "undo"} {
		p.says("dialog[open]", said)
	}
}

// A message that is deleted gives way to the next one; the platform knows its email.
func TestMessageIsDeleted(t *testing.T) {
	w := newWorld(t)
	var ids []string
	for i := range 3 {
		ids = append(ids, w.send("ada@example.org", fmt.Sprintf("Order %d", i), order))
	}
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.rows(3)
	p.press("jj")
	p.says(".head h2", "Order 1")
	p.says(".actions", "Delete")
	p.press(kb.Delete)
	p.rows(2)
	p.says(".toast", "Message deleted.")
	p.press("z")
	p.says(".toast", "Undone.")
	p.rows(3)
	p.goTo("#/inbox/" + ids[1])
	p.says(".head h2", "Order 1")
	p.press(kb.Delete)
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

// A message can be had as a file, and what is probably wrong with it is said.
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
	for _, said := range []string{"the invalid target", "no text part", "List-Unsubscribe", "{{unsubscribe_url}}", "102 kB"} {
		p.says(".findings", said)
	}
	p.click("[role=tab]", "Source")
	p.says(".bar a[download]", "Download .eml")
	file := eval[string](p, `fetch(document.querySelector('.bar a[download]').href).then(r => r.text())`)
	m, err := mail.ReadMessage(strings.NewReader(file))
	if err != nil || !strings.HasPrefix(m.Header.Get("Subject"), "=?utf-8?") {
		t.Errorf("%v, %v", m, err)
	}
	fine := w.send("ada@example.org", "Hello", `<a href="https://shop.example/">go</a>`)
	p.goTo("#/inbox/" + fine + "/checks")
	p.says(".tabpanel", "Nothing found")
}

// After a click in the frame of an email, single keys still work, and printing prints the email alone. A confirmed email says so.
func TestFrameAndPrint(t *testing.T) {
	w := newWorld(t)
	list := w.list("Readers", reader("ada@example.org", "Ada"))
	_, err := w.sdk.Contacts.Create(t.Context(), list.ID, pending(reader("kai@example.org", "Kai")))
	w.check(err)
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

// copiesFromFrame selects the heading in the frame of an email by three clicks and copies it with the keyboard: then it can be pasted.
func (p *page) copiesFromFrame(heading string) {
	p.Helper()
	at := eval[[]float64](p, `(() => { const r = document.querySelector('iframe').getBoundingClientRect(); return [r.x + r.width / 2 - 150, r.y + 75] })()`)
	for n := range 3 {
		p.do(chromedp.MouseClickXY(at[0], at[1], chromedp.ClickCount(n+1)))
	}
	p.until(`document.activeElement === document.body`)
	p.do(chromedp.Sleep(200 * time.Millisecond))
	p.held("c", "copy")
	p.until(`document.activeElement === document.body`) // the keys come back
	p.do(focus("#filter"))
	p.held("v", "paste")
	p.until(fmt.Sprintf(`document.getElementById('filter').value.includes(%q)`, heading))
	p.fill("#filter", "")
	p.press(kb.Escape)
	p.rows(2)
}

// held presses a key while Control is held, with the command that a browser has for it.
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
