package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

var phone = view{400, "light"}

// On a phone four places are at hand, and all others behind "More".
func TestPhoneReachesEveryPlace(t *testing.T) {
	w := newWorld(t)
	w.send("ada@example.org", "Hello", order)
	desktop := open(t, w.srv.URL(), "", desk)
	all := eval[[]string](desktop, `[...document.querySelectorAll('nav li a')].map(a => a.textContent)`)
	p := open(t, w.srv.URL(), "#/requests", phone)
	p.says("nav [aria-current]", "More") // that is where the place is
	const seen = `[...document.querySelectorAll('nav > ul > li > *')].filter(e => { const r = e.getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth && e.checkVisibility() }).length`
	if n := eval[int](p, seen); n != 5 {
		t.Errorf("%d ways along the bottom, want four places and More", n)
	}
	for _, title := range all {
		if !eval[bool](p, fmt.Sprintf(`[...document.querySelectorAll('nav > ul a')].some(a => a.textContent === %q)`, title)) {
			p.click("nav button", "More")
		}
		p.click("nav a", title)
		p.says("h1", title)
		p.until(`!document.querySelector(':popover-open')`)
	}
	p.click("nav button", "More")
	for _, foot := range []string{"running", "+1 h", "Live", "Theme", "Keys"} {
		p.says(":popover-open", foot)
	}
	p.largeEnough("body")
	p.click("nav button", "Keys")
	p.until(`document.querySelector('dialog').open`)
}

// What opens on a phone is seen from side to side, and the help from its beginning.
func TestPhoneCutsNothing(t *testing.T) {
	w := newWorld(t)
	id := w.send("ada@example.org", "Hello", order)
	p := open(t, w.srv.URL(), "#/inbox/"+id, phone)
	for menu, opener := range map[string]string{"Click": "", "Bounce": "[aria-label='Bounce: more']", "Report spam": "[aria-label='Report spam: more']", "Unsubscribe": ""} {
		if opener == "" {
			p.click(".actions button", menu)
		} else {
			p.click(opener, "")
		}
		p.until(`document.querySelector(':popover-open')`)
		p.seenFromSideToSide(":popover-open")
		p.until(fmt.Sprintf(`[...document.querySelectorAll('.actions button')].find(b => b.textContent.includes(%q)).getBoundingClientRect().right < innerWidth + 1`, menu)) // stays in view
		p.press(kb.Escape)
		p.until(`!document.querySelector(':popover-open')`)
	}
	p.goTo("#/events")
	p.says(".list > header", "latest 10,000 kept")
	p.goTo("#/overview")
	p.click("summary", "As a table")
	p.until(`document.querySelector('.timeline table')?.checkVisibility()`)
	p.seenFromSideToSide(".timeline :is(.choice, .bars)")
	p.press("?")
	p.until(`document.querySelector('dialog.help').open`)
	if top := eval[float64](p, `document.querySelector('dialog.help h2').getBoundingClientRect().top`); top < 0 {
		t.Errorf("the help begins %v px above the window", -top)
	}
}

// seenFromSideToSide fails for what is partly beside the window.
func (p *page) seenFromSideToSide(selector string) {
	p.Helper()
	for _, at := range eval[[][]float64](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.getBoundingClientRect()).map(r => [r.left, r.right])`, selector)) {
		if at[0] < 0 || at[1] > float64(phone.width) {
			p.Errorf("%s reaches from %.0f to %.0f of %d px", selector, at[0], at[1], phone.width)
		}
	}
}
