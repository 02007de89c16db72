package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// pick chooses an option of a select by its label.
func (p *page) pick(label, value string) {
	p.Helper()
	const js = `(([label, value]) => {
		const e = [...document.querySelectorAll('.pick')].find(e => e.textContent.startsWith(label))?.querySelector('select');
		if (!e || ![...e.options].some(o => o.value === value)) return false;
		e.value = value;
		return e.dispatchEvent(new Event('change', { bubbles: true }));
	})([%q, %q])`
	p.until(fmt.Sprintf(js, label, value))
}

// rows waits until a list has so many.
func (p *page) rows(n int) {
	p.Helper()
	p.until(fmt.Sprintf(
		`Number(document.querySelector('.rows li')?.ariaSetSize ?? document.querySelectorAll('.page tbody tr').length) === %d`, n))
}

// A page that runs out gives way to the one before it.
func TestLastPageBecomesEmpty(t *testing.T) {
	w := newWorld(t)
	for i := range 101 {
		_, err := w.sdk.SuppressedEmails.Add(t.Context(), fmt.Sprintf("s%d@example.org", i))
		w.check(err)
	}
	p := open(t, w.srv.URL(), "#/suppressed", desk)
	p.rows(100)
	p.click("button", "Next")
	p.rows(1)
	p.click("button", "Remove")
	p.rows(100)

	var contacts []client.ContactCreate
	for i := range 51 {
		contacts = append(contacts, reader(fmt.Sprintf("c%d@example.org", i), "C"))
	}
	list := w.list("Readers", contacts...)
	p.goTo("#/contacts")
	p.pick("Status", "active")
	p.rows(50)
	p.click("button", "Next")
	p.rows(1)
	w.ask(
		"POST",
		fmt.Sprintf(
			"/lists/%d/contacts/%s/unsubscribe",
			list.ID,
			strings.TrimPrefix(eval[string](p, `document.querySelector('.rows a').hash.split('?')[0]`),
				fmt.Sprintf("#/contacts/%d/", list.ID)),
		),
		"",
	)
	p.rows(50)
}

// A part of an address and a status filter together; a tag and a status are
// filters of the API, which takes one, and the one that is shown.
func TestSearchAndStatus(t *testing.T) {
	w := newWorld(t)
	w.list("Readers", reader("ada@example.org", "Ada", "vip"), reader("grace@example.org", "Grace"))
	p := open(t, w.srv.URL(), "#/contacts", desk)
	p.rows(2)
	p.fill("#filter", "RACE@ex")
	p.rows(1)
	p.says(".rows", "grace@example.org")
	p.pick("Status", "bounced")
	p.says(".list", "No matching contact")
	p.pick("Status", "active")
	p.rows(1)
	p.fill("#filter", "tag:vip")
	p.says(".rows", "ada@example.org")
	p.rows(1)
	p.until(`[...document.querySelectorAll('.pick select')].every(e => e.value !== 'active')`)
	p.pick("Status", "active")
	p.rows(2)
}

func TestListsBeyondAPage(t *testing.T) {
	w := newWorld(t)
	var last client.List
	for i := range 101 {
		last = w.list(fmt.Sprintf("List %d", i+1))
	}
	p := open(t, w.srv.URL(), fmt.Sprintf("#/contacts/%d", last.ID), desk)
	p.until(fmt.Sprintf(`document.querySelector('.tools select')?.value === '%d'`, last.ID))
	p.goTo("#/contacts/9999")
	p.says(".list", "No such list")
	p.pick("List", fmt.Sprint(last.ID))
	p.says(".list", "No contacts on this list")
}

// TestAccounts: the console shows the records of the selected account and the records without an account. The URL contains the account.
func TestAccounts(t *testing.T) {
	w := newWorld(t, mockserver.Token{Value: "one"}, mockserver.Token{Value: "two", AccountID: 2})
	one, two := w.sdk, w.as("two")
	submit := func(sdk *client.Client, subject string) {
		w.sdk = sdk
		w.send("ada@example.org", subject, order)
	}
	for _, sdk := range []*client.Client{one, two} {
		w.sdk = sdk
		w.subscribe("/hook", "Contact.Added")
		w.list("Readers", reader("ada@example.org", "Ada"))
	}
	submit(one, "From the first")
	submit(two, "From the second")
	nobody, err := http.Get(w.srv.URL() + "/lists")
	w.check(err)
	w.check(nobody.Body.Close())

	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.says(".rows", "From the first")
	p.rows(1)
	p.pick("Account", "2")
	p.says(".rows", "From the second")
	p.rows(1)
	submit(one, "Not to be seen")
	submit(two, "To be seen") // without a reload
	p.says(".rows", "To be seen")
	p.rows(2)
	for _, tt := range []struct {
		place string
		rows  int
	}{{"Deliveries", 1}, {"Events", 1}, {"Requests", 7}} {
		p.goTo("#/" + strings.ToLower(tt.place))
		p.says("h1", tt.place)
		p.rows(tt.rows)
	}
	p.says(".rows", "401")
	p.until(`location.hash.includes('account=2')`)
	p.reload()
	p.rows(7)
	p.goTo("#/lists")
	p.click("button", "New list")
	p.until(`document.activeElement.name === 'name'`)
	p.press("Second\r")
	p.until(`document.querySelectorAll('.cards > li').length === 2`)
	_, err = two.Lists.Find(t.Context(), "Second")
	w.check(err)
	other := open(t, w.srv.URL(), "#/overview?account=2", desk)
	other.says(".tiles", "on 2 lists")
}
