package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/emailplatform/mockserver"
)

// reload reloads the page, as a shared link does.
func (p *page) reload() {
	p.Helper()
	p.do(chromedp.Reload())
	p.until(`document.querySelector('.live[data-state=live]')`)
}

// What is looked for is in the address: a reload and a shared link show the same.
func TestFindingIsInTheAddress(t *testing.T) {
	w := newWorld(t)
	hook := w.subscribe("/one", "Email.Opened", "Email.Clicked")
	w.subscribe("/two", "Email.Opened")
	for _, to := range []string{"ada@example.org", "grace@example.org"} {
		id := w.send(to, "Hello & <goodbye>", order)
		w.check(w.srv.Open(id))
		w.check(w.srv.Click(id, "https://harbour.example/help"))
	}
	w.settle()
	p := open(t, w.srv.URL(), "#/deliveries", desk)
	p.rows(6)
	p.pick("Webhook", hook.ID)
	p.rows(4)
	p.pick("Event", "Email.Opened")
	p.rows(2)
	p.fill("#filter", "grace & <good")
	p.rows(1)
	p.click(".choice label", "Delivered")
	p.rows(1)
	p.click("strong", "Email.Opened")
	p.click("[role=tab]", "Signature")
	p.says(".detail", "Signature computed by your receiver")
	shared := eval[string](p, `location.hash`)
	p.reload()
	p.rows(1)
	p.says(".detail", "Signature computed by your receiver")
	other := open(t, w.srv.URL(), shared, desk)
	other.rows(1)
	other.says(".rows", "grace@example.org")
	if typed := eval[string](other, `document.querySelector('#filter').value`); typed != "grace & <good" {
		t.Errorf("the search says %q", typed)
	}
	other.says("[role=tab][aria-selected=true]", "Signature")
	other.click(".choice label", "Failed")
	other.says(".list", "No matches")
	other.goTo("#/deliveries") // and the back button
	other.rows(6)
	eval[bool](other, `history.back(), true`)
	other.says(".list", "No matches")
}

// A link to an account that is not here says so, and offers those that are.
func TestUnknownAccount(t *testing.T) {
	w := newWorld(t)
	w.send("ada@example.org", "From the first", order)
	p := open(t, w.srv.URL(), "#/inbox?account=77", desk)
	p.says("main", "No account 77")
	if text := p.text("main"); strings.Contains(text, "From the first") {
		t.Errorf("another account's mail is shown: %s", text)
	}
	p.click("main button", "Show account 1")
	p.says(".rows", "From the first")
	p.until(`!location.hash.includes('account')`)

	two := newWorld(t, mockserver.Token{Value: "one"}, mockserver.Token{Value: "two", AccountID: 2})
	two.sdk = two.as("two")
	two.send("ada@example.org", "From the second", order)
	p = open(t, two.srv.URL(), "#/requests?account=77&q=x", desk)
	p.says("main", "No account 77")
	p.click("main button", "Show account 2")
	p.says("h1", "Requests")
	p.until(`location.hash.includes('account=2') && location.hash.includes('q=x')`)
	p.goTo("#/inbox")
	p.says(".rows", "From the second")
}
