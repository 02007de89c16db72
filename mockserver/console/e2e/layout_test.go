package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/mockserver"
)

// TestDensity: in the compact setting, each row has one line. The URL and the browser keep the setting.
func TestDensity(t *testing.T) {
	f := newFixture(t)
	for i := range 120 {
		f.send(fmt.Sprintf("reader%d@example.org", i), fmt.Sprintf("Order %d is on its way to you", i), order)
	}
	p := open(t, f.srv.URL(), "#/inbox", desktop)
	p.rows(120)
	p.says(".rows .snippet", "Hello, Order 119 is on its way")
	p.says(".rows .whom", "Harbour Books → reader119@example.org")
	p.until(`rowsInView() >= 7 && rowsInView() <= 12`)
	p.click("[aria-label='Compact rows']", "")
	p.until(`rowsInView() >= 20 && location.hash.includes('density=compact')`)
	p.until(`[...document.querySelectorAll('.rows a')].every(a => a.offsetHeight < 40)`)
	open(t, f.srv.URL(), eval[string](p, `location.hash`), desktop).until(`rowsInView() >= 20`) // another profile
	p.goTo("#/events")                                                                          // another view keeps the setting
	p.until(`location.hash === '#/events?density=compact'`)
	p.reload()
	p.goTo("#/inbox").until(`rowsInView() >= 20`)
	p.press("jj")
	p.click("[aria-label='Compact rows']", "").until(`rowsInView() <= 12`)
	p.reload().until(`location.hash.includes('density=comfortable') && rowsInView() <= 12`)
	p.scroll("60 * 80")
	p.click("[aria-label='Compact rows']", "").until(`rowsInView() >= 20`)
	p.until(`firstInView() === 61`) // the first visible row is the same when the rows change their height
}

// TestChipsMarkProblems: only rows with a problem have a chip.
func TestChipsMarkProblems(t *testing.T) {
	f := newFixture(t)
	f.subscribe("/hook", "Email.Opened", "Email.Bounced")
	good := f.send("ada@example.org", "Good", order)
	bad := f.send("grace@example.org", "Bad", order)
	f.opens(good)
	f.status.Store(http.StatusInternalServerError)
	f.check(f.srv.Bounce(bad, mockserver.HardBounce))
	f.settle()
	f.list("Readers", reader("ada@example.org", "Ada"), reader("grace@example.org", "Grace"))
	f.ask("GET", "/lists/99", "")
	p := open(t, f.srv.URL(), "#/overview", desktop)
	for place, chip := range map[string]string{"inbox": "bounced", "deliveries": "retry", "requests": "404", "contacts": ""} {
		p.goTo("#/overview").until(`!document.querySelector('.rows')`)
		p.goTo("#/" + place).until(`document.querySelectorAll('.rows a').length >= 2`)
		p.equal(eval[string](p, `[...document.querySelectorAll('.rows .chip')].map(c => c.textContent.replace(/ in .*/, '')).join()`), chip)
	}
}

// TestUnread: unopened messages are marked and counted in the title. The browser remembers the opened messages.
func TestUnread(t *testing.T) {
	f := newFixture(t)
	for i := range 3 {
		f.send(fmt.Sprintf("reader-%d@example.org", i), fmt.Sprintf("Order %d", i), order)
	}
	p := open(t, f.srv.URL(), "#/inbox", desktop)
	titled := func(title string) { t.Helper(); p.until(fmt.Sprintf(`document.title === %q`, title)) }
	titled("(3) Inbox · mockserver")
	p.says(".rows .unread", "Unread: Order 2")
	p.press("j")
	titled("(2) Inbox · mockserver")
	p.until(`!document.querySelector('.rows a[aria-current]').matches('.unread')`)
	f.send("grace@example.org", "Order 3", order) // while the page is open
	titled("(3) Inbox · mockserver")
	p.reload()
	titled("(3) Inbox · mockserver")
	p.fill("#filter", "reader-1").rows(1)
	titled("(3) Inbox · mockserver") // all unread messages, not only the search results
	p.fill("#filter", "")
	p.press(kb.Escape).rows(4)
	p.click("[aria-label='Mark all as read']", "")
	titled("Inbox · mockserver")
	p.until(`!document.querySelector('.rows .unread')`)
	f.send("grace@example.org", "Order 4", order)
	titled("(1) Inbox · mockserver")
	p.goTo("#/events")
	titled("Events · mockserver")
	p.goTo("#/inbox")
	f.srv.Clear()
	titled("Inbox · mockserver")
	f.send("grace@example.org", "After the clear", order)
	titled("(1) Inbox · mockserver")
	for _, foreign := range []string{"yes", "null", `{"mark":7,"opened":{}}`, "[]"} { // stored by another page of the origin
		p.until(fmt.Sprintf(`localStorage.setItem("read", %q) === undefined`, foreign))
		p.reload()
		titled("(1) Inbox · mockserver")
	}
}

// TestPhoneReachesEveryPlace: on a phone, four views are in the navigation bar and the others are under "More".
func TestPhoneReachesEveryPlace(t *testing.T) {
	f := newFixture(t)
	f.send("ada@example.org", "Hello", order)
	desktop := open(t, f.srv.URL(), "", desktop)
	all := eval[[]string](desktop, `[...document.querySelectorAll('nav li a')].map(a => a.textContent)`)
	p := open(t, f.srv.URL(), "#/requests", phone)
	p.says("nav [aria-current]", "More") // the current view is under "More"
	const seen = `[...document.querySelectorAll('nav > ul > li > *')].filter(e => { const r = e.getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth && e.checkVisibility() }).length`
	p.equal(eval[int](p, seen), 5) // four places and More
	for _, title := range all {
		if !eval[bool](p, fmt.Sprintf(`[...document.querySelectorAll('nav > ul a')].some(a => a.textContent === %q)`, title)) {
			p.click("nav button", "More")
		}
		p.click("nav a", title).says("h1", title)
		p.until(`!document.querySelector(':popover-open')`)
	}
	p.click("nav button", "More").says(":popover-open", "running", "+1 h", "Live", "Theme", "Keyboard shortcuts")
	p.largeEnough("body")
	p.click("nav button", "Keyboard shortcuts").until(`document.querySelector('dialog').open`)
}

// TestPhoneShowsWholeTexts: on a phone, menus and the help are fully visible.
func TestPhoneShowsWholeTexts(t *testing.T) {
	f := newFixture(t)
	id := f.send("ada@example.org", "Hello", order)
	p := open(t, f.srv.URL(), "#/inbox/"+id, phone)
	p.waitUntilIdle() // the buttons move while the message is loading
	for menu, opener := range map[string]string{"Click": "", "Bounce": "[aria-label='Bounce: more']", "Report spam": "[aria-label='Report spam: more']", "Unsubscribe": ""} {
		if opener == "" {
			p.click(".actions button", menu)
		} else {
			p.click(opener, "")
		}
		p.until(`document.querySelector(':popover-open')`)
		p.seenFromSideToSide(":popover-open")
		p.until(fmt.Sprintf(`[...document.querySelectorAll('.actions button')].find(b => b.textContent.includes(%q)).getBoundingClientRect().right < innerWidth + 1`, menu)) // stays visible
		p.press(kb.Escape).until(`!document.querySelector(':popover-open')`)
	}
	p.goTo("#/events").says(".list > header", "latest 10,000 kept")
	p.goTo("#/overview")
	p.click("summary", "As a table").until(`document.querySelector('.timeline table')?.checkVisibility()`)
	p.seenFromSideToSide(".timeline :is(.choice, .bars)")
	p.press("?").until(`document.querySelector('dialog.help').open`)
	p.until(`document.querySelector('dialog.help h2').getBoundingClientRect().top >= 0`)
}

// seenFromSideToSide fails for elements that are partly outside the window.
func (p *page) seenFromSideToSide(selector string) {
	p.Helper()
	for _, at := range eval[[][]float64](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.getBoundingClientRect()).map(r => [r.left, r.right])`, selector)) {
		if at[0] < 0 || at[1] > float64(phone.width) {
			p.Errorf("%s reaches from %.0f to %.0f of %d px", selector, at[0], at[1], phone.width)
		}
	}
}
