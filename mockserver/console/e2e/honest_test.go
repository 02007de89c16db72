package e2e

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/console"
)

// TestRowContents: rows of deliveries and events name the recipient and the message, including rows that are added while the page is open.
func TestRowContents(t *testing.T) {
	w := newWorld(t)
	w.subscribe("/hook", "Email.Opened", "Email.Bounced")
	before := w.send("ada@example.org", "Your order is on its way", order)
	w.check(w.srv.Open(before))
	w.settle()
	p := open(t, w.srv.URL(), "#/overview", desk)
	for _, place := range []string{"deliveries", "events"} {
		p.goTo("#/" + place)
		p.says(".rows", "ada@example.org")
		p.says(".rows", "Your order is on its way")
		live := w.send("grace@example.org", "Seen live, "+place, order)
		w.check(w.srv.Bounce(live, mockserver.HardBounce)) // its body has no address
		p.says(".rows li:first-child", "grace@example.org")
		p.says(".rows li:first-child", "Seen live, "+place)
		p.click("strong", "Email.Bounced")
		p.says(".head", "grace@example.org")
		p.goTo("#/" + place)
		p.fill("#filter", "grace@example.org")
		p.rows(map[string]int{"deliveries": 1, "events": 2}[place])
		w.settle()
	}
}

// Whatever fails is said in words of the page's own.
func TestErrorMessageFormat(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/inbox/nothing", desk)
	p.says(".detail", "Not here")
	if said := p.text(".detail"); !strings.Contains(said, "No message") || strings.Contains(said, "path.id") {
		t.Errorf("a message that is not there: %q", said)
	}
	p.goTo("#/suppressed")
	p.fill("form input", "not an address")
	p.click("button", "Add")
	p.until(`document.querySelector('.toast')`)
	if said := p.text(".toast"); !strings.HasPrefix(said, "Email: ") || strings.Contains(said, "body.") {
		t.Errorf("a bad address: %q", said)
	}
}

// Without a server a banner says so at every width, nothing can be done, and
// what was seen stays; all is well again once it is back.
func TestNoServer(t *testing.T) {
	for _, width := range []int64{1280, 320} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			w := newWorld(t)
			id := w.send("ada@example.org", "Your order is on its way", order)
			p := open(t, w.srv.URL(), "#/inbox/"+id, view{width, "light"})
			p.says(".actions", "Bounce")
			w.srv.Close()
			p.says("[role=alert]", "No server")
			p.until(`document.querySelector('[role=alert]').getBoundingClientRect().right <= innerWidth &&
				document.querySelector('[role=alert] p').checkVisibility()`)
			p.until(`document.querySelectorAll('.detail .actions button').length > 3 &&
				[...document.querySelectorAll('.detail .actions button')].every(b => b.matches(':disabled'))`)
			p.says(".rows", "Your order is on its way")
			p.goTo("#/requests")
			p.says(".list", "The server does not respond.")

			listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", strings.TrimPrefix(w.srv.URL(), "http://"))
			w.check(err)
			again := mockserver.StartOn(listener, mockserver.Config{Console: console.Handler()})
			t.Cleanup(again.Close)
			p.until(`!document.querySelector('[role=alert]').textContent`)
			res, err := http.Get(again.URL() + "/lists") // 401, and noted
			w.check(err)
			w.check(res.Body.Close())
			p.says(".rows", "/lists")
		})
	}
}
