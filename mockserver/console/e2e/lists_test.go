package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestLastPageBecomesEmpty: if the last page becomes empty, the view shows the previous page.
func TestLastPageBecomesEmpty(t *testing.T) {
	f := newFixture(t)
	for i := range 101 {
		_, err := f.sdk.SuppressedEmails.Add(t.Context(), fmt.Sprintf("s%d@example.org", i))
		f.check(err)
	}
	p := open(t, f.srv.URL(), "#/suppressed", desktop)
	p.rows(100)
	p.click("button", "Next").rows(1)
	p.click("button", "Remove").rows(100)
}

// TestSearchAndStatus: a search for a part of an address and a status filter can be combined, but a tag filter and a
// status filter cannot, because the API supports only one filter. New and changed contacts appear without a reload.
func TestSearchAndStatus(t *testing.T) {
	f := newFixture(t)
	list := f.list("Readers", reader("ada@example.org", "Ada", "vip"))
	p := open(t, f.srv.URL(), "#/contacts", desktop)
	p.rows(1)
	f.join(list.ID, reader("grace@example.org", "Grace"))
	p.rows(2)
	p.fill("#filter", "RACE@ex").rows(1)
	p.says(".rows", "grace@example.org")
	p.pick("Status", "bounced").says(".list", "No matching contacts")
	p.pick("Status", "active").rows(1)
	p.fill("#filter", "tag:vip").says(".rows", "ada@example.org").rows(1)
	p.until(`[...document.querySelectorAll('.pick select')].every(e => e.value !== 'active')`)
	p.pick("Status", "active").rows(2)
	p.click("strong", "ada@example.org").says(".detail", "first_name")
	p.click("button", "Unsubscribe").says(".detail .meta", "unsubscribed").rows(1)
	f.statuses(list.ID, "unsubscribed active")
}

func TestListsBeyondAPage(t *testing.T) {
	f := newFixture(t)
	var last client.List
	for i := range 101 {
		last = f.list(fmt.Sprintf("List %d", i+1))
	}
	p := open(t, f.srv.URL(), fmt.Sprintf("#/contacts/%d", last.ID), desktop)
	p.until(fmt.Sprintf(`document.querySelector('.tools select')?.value === '%d'`, last.ID))
	p.goTo("#/contacts/9999").says(".list", "List not found")
	p.pick("List", fmt.Sprint(last.ID)).says(".list", "No contacts on this list")
	for i := range 101 {
		f.template(fmt.Sprintf("Template %d", i+1), order, "")
	}
	p.goTo("#/campaigns").click("button", "New")
	p.until(`document.querySelector("dialog [name='content.template_id']").options.length === 102`)
}

// TestAccounts: the console shows the records of the selected account and the records without an account. The URL
// contains the account. If a link contains an unknown account, the page shows a message and offers the known accounts.
func TestAccounts(t *testing.T) {
	f := newFixture(t, mockserver.Token{Value: "one"}, mockserver.Token{Value: "two", AccountID: 2})
	one, two := f.sdk, f.as("two")
	submit := func(sdk *client.Client, subject string) {
		f.sdk = sdk
		f.send("ada@example.org", subject, order)
	}
	for _, f.sdk = range []*client.Client{one, two} {
		f.subscribe("/hook", "Contact.Added")
		f.list("Readers", reader("ada@example.org", "Ada"))
	}
	submit(one, "From the first")
	submit(two, "From the second")
	anonymous, err := http.Get(f.srv.URL() + "/lists")
	f.check(err)
	f.check(anonymous.Body.Close())

	p := open(t, f.srv.URL(), "#/inbox", desktop)
	p.says(".rows", "From the first").rows(1)
	p.pick("Account", "2").says(".rows", "From the second").rows(1)
	submit(one, "Not to be seen")
	submit(two, "To be seen") // without a reload
	p.says(".rows", "To be seen").rows(2)
	for _, tt := range []struct {
		place string
		rows  int
	}{{"Deliveries", 1}, {"Events", 1}, {"Requests", 7}} {
		p.goTo("#/"+strings.ToLower(tt.place)).says("h1", tt.place).rows(tt.rows)
	}
	p.says(".rows", "401")
	p.until(`location.hash.includes('account=2')`)
	p.reload().rows(7)
	p.goTo("#/lists")
	p.click("button", "New list")
	p.enter("[name=name]", "Second\r").until(`document.querySelectorAll('.cards > li').length === 2`)
	_, err = two.Lists.Find(t.Context(), "Second")
	f.check(err)
	other := open(t, f.srv.URL(), "#/overview?account=2", desktop)
	other.says(".tiles", "on 2 lists")

	other.goTo("#/inbox?account=77&q=second").says("main", "Account 77 does not exist")
	other.until(`!document.querySelector('main').textContent.includes('From the second')`)
	other.click("main button", "Show account 2").says(".rows", "From the second")
	other.until(`location.hash.includes('account=2') && location.hash.includes('q=second')`)
	other.until(`[...document.querySelectorAll('label')].find(l => l.textContent === 'Account').control.value === '2'`)
}

// TestSearchIsInTheURL: the search is part of the URL, so reloading or sharing the page keeps it.
func TestSearchIsInTheURL(t *testing.T) {
	f := newFixture(t)
	hook := f.subscribe("/one", "Email.Opened", "Email.Clicked")
	f.subscribe("/two", "Email.Opened")
	for _, to := range []string{"ada@example.org", "grace@example.org"} {
		id := f.send(to, "Hello & <goodbye>", order)
		f.check(f.srv.Open(id))
		f.check(f.srv.Click(id, "https://harbour.example/help"))
	}
	f.settle()
	p := open(t, f.srv.URL(), "#/deliveries", desktop)
	p.rows(6)
	p.pick("Webhook", hook.ID).rows(4)
	p.pick("Event", "Email.Opened").rows(2)
	p.fill("#filter", "grace & <good").rows(1)
	p.click(".choice label", "Delivered").rows(1)
	p.click("strong", "Email.Opened")
	p.click("[role=tab]", "Signature").says(".detail", "Signature computed by your receiver")
	shared := eval[string](p, `location.hash`)
	p.reload().rows(1)
	p.says(".detail", "Signature computed by your receiver")
	other := open(t, f.srv.URL(), shared, desktop)
	other.rows(1)
	other.says(".rows", "grace@example.org")
	other.equal(eval[string](other, `document.querySelector('#filter').value`), "grace & <good")
	other.says("[role=tab][aria-selected=true]", "Signature")
	other.click(".choice label", "Failed").says(".list", "No matches")
	other.goTo("#/deliveries") // for the back button
	other.rows(6)
	eval[bool](other, `history.back(), true`)
	other.says(".list", "No matches")
}
