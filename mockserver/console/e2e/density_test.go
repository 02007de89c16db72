package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/mockserver"
)

// rowsInView is how many rows are seen whole.
const rowsInView = `(() => {
	const box = document.querySelector('.rows')?.getBoundingClientRect();
	return [...document.querySelectorAll('.rows a')].filter(a => { const r = a.getBoundingClientRect(); return r.top >= box.top && r.bottom <= box.bottom }).length;
})()`

// firstInView is the place of the first row that is seen whole, from 1.
const firstInView = `(() => { const top = document.querySelector('.rows').getBoundingClientRect().top; return Number([...document.querySelectorAll('.rows li')].find(l => l.getBoundingClientRect().top >= top).ariaPosInSet) })()`

// Compact rows are one line each; that is remembered, and in the address.
func TestDensity(t *testing.T) {
	w := newWorld(t)
	for i := range 120 {
		w.send(fmt.Sprintf("reader%d@example.org", i), fmt.Sprintf("Order %d is on its way to you", i), order)
	}
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.rows(120)
	p.says(".rows .snippet", "Hello, Order 119 is on its way")
	p.says(".rows .whom", "Harbour Books → reader119@example.org")
	if n := eval[int](p, rowsInView); n < 7 || n > 12 {
		t.Errorf("%d comfortable rows", n)
	}
	eval[bool](p, `document.querySelector('[aria-label="Compact rows"]').focus(), true`)
	p.press(" ")
	p.until(rowsInView + ` >= 20`)
	p.until(`location.hash.includes('density=compact')`)
	p.until(`[...document.querySelectorAll('.rows a')].every(a => a.offsetHeight < 40)`)
	p.says(".rows .whom", "reader119@example.org")
	shared := eval[string](p, `location.hash`)
	other := open(t, w.srv.URL(), shared, desk) // another profile
	other.until(rowsInView + ` >= 20`)
	for _, place := range []string{"contacts", "deliveries", "events", "requests"} {
		p.goTo("#/" + place)
		p.says("h1", map[string]string{"contacts": "Contacts", "deliveries": "Deliveries", "events": "Events", "requests": "Requests"}[place])
		p.until(`location.hash.includes('density=compact')`)
	}
	p.reload()
	p.goTo("#/inbox")
	p.until(rowsInView + ` >= 20`)
	p.press("jj")
	p.click("[aria-label='Compact rows']", "")
	p.until(rowsInView + ` <= 12`)
	p.reload()
	p.until(`location.hash.includes('density=comfortable') && ` + rowsInView + ` <= 12`)
	p.scroll("60 * 80")
	p.click("[aria-label='Compact rows']", "")
	p.until(rowsInView + ` >= 20`)
	if n := eval[int](p, firstInView); n != 61 { // the first visible row is the same when the rows change their height
		t.Errorf("row %d is the first that is seen, want 61", n)
	}
}

// A pill is on what is not as hoped, and on nothing else.
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
	titled(p, "(3) Inbox · mockserver") // of all, not of what is found
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
	for _, foreign := range []string{"yes", "null", `{"mark":7,"opened":{}}`, "[]"} { // another page of the origin has stored it
		p.until(fmt.Sprintf(`localStorage.setItem("read", %q) === undefined`, foreign))
		p.reload()
		titled(p, "(1) Inbox · mockserver")
	}
}
