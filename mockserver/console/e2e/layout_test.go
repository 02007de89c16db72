package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/mockserver"
)

// TestDensity: compact rows have one line each. The URL and the browser keep the setting.
func TestDensity(t *testing.T) {
	w := newWorld(t)
	for i := range 120 {
		w.send(fmt.Sprintf("reader%d@example.org", i), fmt.Sprintf("Order %d is on its way to you", i), order)
	}
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.rows(120)
	p.says(".rows .snippet", "Hello, Order 119 is on its way")
	p.says(".rows .whom", "Harbour Books → reader119@example.org")
	if n := eval[int](p, `rowsInView()`); n < 7 || n > 12 {
		t.Errorf("%d comfortable rows", n)
	}
	eval[bool](p, `document.querySelector('[aria-label="Compact rows"]').focus(), true`)
	p.press(" ")
	p.until(`rowsInView() >= 20`)
	p.until(`location.hash.includes('density=compact')`)
	p.until(`[...document.querySelectorAll('.rows a')].every(a => a.offsetHeight < 40)`)
	p.says(".rows .whom", "reader119@example.org")
	shared := eval[string](p, `location.hash`)
	other := open(t, w.srv.URL(), shared, desk) // another profile
	other.until(`rowsInView() >= 20`)
	p.goTo("#/events") // another view keeps the setting
	p.says("h1", "Events")
	p.until(`location.hash.includes('density=compact')`)
	p.reload()
	p.goTo("#/inbox")
	p.until(`rowsInView() >= 20`)
	p.press("jj")
	p.click("[aria-label='Compact rows']", "")
	p.until(`rowsInView() <= 12`)
	p.reload()
	p.until(`location.hash.includes('density=comfortable') && rowsInView() <= 12`)
	p.scroll("60 * 80")
	p.click("[aria-label='Compact rows']", "")
	p.until(`rowsInView() >= 20`)
	if n := eval[int](p, `firstInView()`); n != 61 { // the first visible row is the same when the rows change their height
		t.Errorf("row %d is the first that is seen, want 61", n)
	}
}

// TestChipsMarkProblems: only rows with a problem have a chip.
func TestChipsMarkProblems(t *testing.T) {
	w := newWorld(t)
	w.subscribe("/hook", "Email.Opened", "Email.Bounced")
	good := w.send("ada@example.org", "Good", order)
	bad := w.send("grace@example.org", "Bad", order)
	w.check(w.srv.Open(good))
	w.settle()
	w.status.Store(http.StatusInternalServerError)
	w.check(w.srv.Bounce(bad, mockserver.HardBounce))
	w.settle()
	w.list("Readers", reader("ada@example.org", "Ada"), reader("grace@example.org", "Grace"))
	w.ask("GET", "/lists/99", "")
	p := open(t, w.srv.URL(), "#/overview", desk)
	for place, pill := range map[string]string{"inbox": "bounced", "deliveries": "again in", "requests": "404", "contacts": ""} {
		p.goTo("#/overview")
		p.until(`!document.querySelector('.rows')`)
		p.goTo("#/" + place)
		p.until(`document.querySelectorAll('.rows a').length >= 2`)
		pills := eval[[]string](p, `[...document.querySelectorAll('.rows .chip')].map(c => c.textContent)`)
		if pill == "" && len(pills) == 0 {
			continue
		}
		if len(pills) != 1 || len(pills[0]) < len(pill) || pills[0][:len(pill)] != pill {
			t.Errorf("%s: pills %q, want %q", place, pills, pill)
		}
	}
}

// TestUnread: unopened messages are marked and counted in the title. The browser remembers the opened messages.
func TestUnread(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.send(fmt.Sprintf("reader-%d@example.org", i), fmt.Sprintf("Order %d", i), order)
	}
	titled := func(p *page, title string) { p.Helper(); p.until(fmt.Sprintf(`document.title === %q`, title)) }
	p := open(t, w.srv.URL(), "#/inbox", desk)
	titled(p, "(3) Inbox · mockserver")
	p.says(".rows .unread", "Unread: Order 2")
	p.press("j")
	titled(p, "(2) Inbox · mockserver")
	p.until(`!document.querySelector('.rows a[aria-current]').matches('.unread')`)
	w.send("grace@example.org", "Order 3", order) // while the page is open
	titled(p, "(3) Inbox · mockserver")
	p.reload()
	titled(p, "(3) Inbox · mockserver")
	p.fill("#filter", "reader-1")
	p.rows(1)
	titled(p, "(3) Inbox · mockserver") // all unread messages, not only the search results
	p.fill("#filter", "")
	p.press(kb.Escape)
	p.rows(4)
	p.click("[aria-label='Mark all as read']", "")
	titled(p, "Inbox · mockserver")
	p.until(`!document.querySelector('.rows .unread')`)
	w.send("grace@example.org", "Order 4", order)
	titled(p, "(1) Inbox · mockserver")
	p.goTo("#/events")
	titled(p, "Events · mockserver")
	p.goTo("#/inbox")
	w.srv.Clear()
	titled(p, "Inbox · mockserver")
	w.send("grace@example.org", "Of another world", order)
	titled(p, "(1) Inbox · mockserver")
	for _, foreign := range []string{"yes", "null", `{"mark":7,"opened":{}}`, "[]"} { // stored by another page of the origin
		p.until(fmt.Sprintf(`localStorage.setItem("read", %q) === undefined`, foreign))
		p.reload()
		titled(p, "(1) Inbox · mockserver")
	}
}

// TestPhoneReachesEveryPlace: on a phone, four views are in the navigation bar and the others are under "More".
func TestPhoneReachesEveryPlace(t *testing.T) {
	w := newWorld(t)
	w.send("ada@example.org", "Hello", order)
	desktop := open(t, w.srv.URL(), "", desk)
	all := eval[[]string](desktop, `[...document.querySelectorAll('nav li a')].map(a => a.textContent)`)
	p := open(t, w.srv.URL(), "#/requests", phone)
	p.says("nav [aria-current]", "More") // the current view is under "More"
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

// TestPhoneCutsNothing: on a phone, menus and the help are fully visible.
func TestPhoneCutsNothing(t *testing.T) {
	w := newWorld(t)
	id := w.send("ada@example.org", "Hello", order)
	p := open(t, w.srv.URL(), "#/inbox/"+id, phone)
	p.rest() // the buttons move while the message is loading
	for menu, opener := range map[string]string{"Click": "", "Bounce": "[aria-label='Bounce: more']", "Report spam": "[aria-label='Report spam: more']", "Unsubscribe": ""} {
		if opener == "" {
			p.click(".actions button", menu)
		} else {
			p.click(opener, "")
		}
		p.until(`document.querySelector(':popover-open')`)
		p.seenFromSideToSide(":popover-open")
		p.until(fmt.Sprintf(`[...document.querySelectorAll('.actions button')].find(b => b.textContent.includes(%q)).getBoundingClientRect().right < innerWidth + 1`, menu)) // stays visible
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

// seenFromSideToSide fails for elements that are partly outside the window.
func (p *page) seenFromSideToSide(selector string) {
	p.Helper()
	for _, at := range eval[[][]float64](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.getBoundingClientRect()).map(r => [r.left, r.right])`, selector)) {
		if at[0] < 0 || at[1] > float64(phone.width) {
			p.Errorf("%s reaches from %.0f to %.0f of %d px", selector, at[0], at[1], phone.width)
		}
	}
}

var shots = flag.String("shots", "", "`folder` to write the pictures of the README to")

// TestScreenshots writes the screenshots of the README. The script screenshots runs it.
func TestScreenshots(t *testing.T) {
	if *shots == "" {
		t.Skip("no -shots: see the script screenshots")
	}
	w := newWorld(t)
	crm := w.hooks()
	w.morning()
	w.day(crm)
	for place, scheme := range map[string]string{"overview": "light", w.toAda(): "light", "deliveries/" + w.retrying(): "dark", "faults": "light"} {
		p := open(t, w.srv.URL(), "#/"+place, view{1280, scheme})
		p.rest()
		picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		w.check(err)
		name, _, _ := strings.Cut(place, "/")
		w.check(os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644))
	}
}
