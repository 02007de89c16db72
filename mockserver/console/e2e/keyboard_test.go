package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/client"
)

var listParams client.ListListsParams

func focus(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).focus()`, selector))
}

// TestKeyboard bounces a message and delivers the event again without a mouse.
func TestKeyboard(t *testing.T) {
	w := newWorld(t)
	w.subscribe("/hook", "Email.Bounced")
	w.send("ada@example.org", "The first", order)
	w.send("ada@example.org", "The second", order)
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.until(`document.querySelectorAll('.rows a').length === 2`)
	p.press("jj")
	p.says(".head h2", "The first")
	p.press("5")
	p.says("[role=tab][aria-selected=true]", "History")
	p.press("\r") // into what is open
	p.until(`document.activeElement.closest('.detail')`)
	p.tabTo("Bounce")
	p.press("\r")
	p.says(".toasts", "Email.Bounced")
	p.press("gd")
	p.says("h1", "Deliveries")
	p.until(`document.querySelectorAll('.rows a').length === 1`)
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
}

// tabTo presses Tab until the button of that name has the focus, and fails if its focus cannot be seen.
func (p *page) tabTo(name string) {
	p.Helper()
	for range 100 { // more than all stops of a page: a page that loads its data can lose the focus
		p.press("\t")
		if eval[bool](p, fmt.Sprintf(`document.activeElement.textContent.trim().startsWith(%q)`, name)) {
			if outline := eval[string](p, `getComputedStyle(document.activeElement).outlineStyle`); outline == "none" {
				p.Errorf("%s has the focus, and nobody sees it", name)
			}
			return
		}
	}
	p.Fatalf("Tab does not reach %s", name)
}
