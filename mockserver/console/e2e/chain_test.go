package e2e

import (
	"encoding/base64"
	"encoding/hex"
	"net"
	"net/http"
	"strconv"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/console"
	"example.com/emailplatform/webhook"
)

var desk = view{1280, "light"}

// TestChain follows a message: sent with the SDK, bounced by its recipient,
// delivered to a receiver that fails, delivered again, and its signature judged.
func TestChain(t *testing.T) {
	w := newWorld(t)
	hook := w.subscribe("/hook", "Email.Bounced")
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.says(".list", "Nothing sent yet")
	eval[bool](p, `window.stillHere = true`)

	w.send("ada@example.org", "Your order is on its way", order)
	p.says(".rows", "Your order is on its way")
	p.click("strong", "Your order")
	p.until(`document.querySelector('iframe')`)

	w.status.Store(http.StatusInternalServerError)
	p.click("[aria-label='Bounce: more']", "")
	p.click("button", "552 5.2.2 over quota")
	p.says(".toasts", "Message bounced. Email.Bounced: 1 delivery queued.")
	p.says(".rows a[aria-current]", "bounced")
	p.click("nav a", "Deliveries")
	p.says(".rows", "Email.Bounced")
	p.click("strong", "Email.Bounced")
	p.says(".attempts", "500")
	p.says(".attempts", "the database is down")
	p.says(".attempts .next", "in 29:")

	w.status.Store(0)
	p.click("button", "Redeliver")
	p.says(".attempts", "204")
	p.says(".attempts", "redelivery")
	p.says(".rows a[aria-current] .num", "204")
	w.judge(p, hook)
	if !eval[bool](p, `window.stillHere === true`) {
		t.Error("the page was loaded anew")
	}
}

// judge pastes signatures and secrets.
func (w *world) judge(p *page, hook client.Webhook) {
	w.Helper()
	d := w.srv.Deliveries()[0]
	raw, err := base64.StdEncoding.DecodeString(d.Signature)
	w.check(err)
	secret, err := webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction)
	w.check(err)
	withLineFeed, err := webhook.Sign(secret, append([]byte(d.Body), '\n'))
	w.check(err)
	p.click("button", "Signature")
	for _, tt := range []struct{ field, typed, verdict string }{
		{"theirs", d.Signature, "the same"},
		{"theirs", hex.EncodeToString(raw), "The right value in hexadecimal: encode it as base64."},
		{"theirs", withLineFeed, "Computed over the body and a line feed."},
		{"theirs", "nonsense", "None of the common candidates"},
		{"secret", hook.Secret.Reveal(), "the right one"},
		{"secret", hook.Secret.Reveal() + " ", "white space"},
		{"secret", "another", "not this one"},
	} {
		p.fill("#"+tt.field, tt.typed)
		p.says("#"+tt.field+"-verdict", tt.verdict)
	}
}

// fill replaces what a field holds.
func (p *page) fill(selector, text string) {
	p.Helper()
	eval[bool](p,
		`(() => { const e = document.querySelector(`+strconv.Quote(selector)+`); e.focus(); e.select(); return true })()`)
	p.press("\b")
	p.press(text)
}

func TestContacts(t *testing.T) {
	w := newWorld(t)
	list := w.list("Readers", reader("ada@example.org", "Ada", "vip"), reader("grace@example.org", "Grace"))
	p := open(t, w.srv.URL(), "#/contacts", desk)
	p.says(".rows", "grace@example.org")
	p.fill("#filter", "tag:vip")
	p.until(`document.querySelectorAll('.rows a').length === 1`)
	p.click("strong", "ada@example.org")
	p.says(".detail", "first_name")
	p.click("button", "Unsubscribe")
	p.says(".detail .meta", "unsubscribed")
	page, err := w.sdk.Contacts.List(t.Context(), list.ID, client.ListContactsParams{Filter: "status:unsubscribed"})
	if err != nil || len(page.Data) != 1 || page.Data[0].Email != "ada@example.org" {
		t.Errorf("unsubscribed: %v, %v", page.Data, err)
	}
	p.fill("#filter", "")
	p.until(`document.querySelectorAll('.rows a').length === 2`)
	_, err = w.sdk.Contacts.Create(t.Context(), list.ID, reader("new@example.org", "New"))
	w.check(err)
	p.says(".rows", "new@example.org") // without a reload
}

func TestSuppressed(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/suppressed", desk)
	p.says(".page", "No suppressed addresses")
	p.do(focus("form input"))
	p.press("*@example.net\r")
	p.says(".table", "*@example.net")
	found := 0
	for entry, err := range w.sdk.SuppressedEmails.All(t.Context(), client.ListSuppressedEmailsParams{}) {
		w.check(err)
		if entry.Email == "*@example.net" {
			found++
		}
	}
	if found != 1 {
		t.Errorf("the SDK finds it %d times", found)
	}
	p.fill(".formrow > .pick input", "x@example.net")
	p.says(".table", "*@example.net")
	p.fill(".formrow > .pick input", "x@elsewhere.example")
	p.says(".page", "Not suppressed")
	p.fill(".formrow > .pick input", "")
	p.click("button", "Remove")
	p.says(".page", "No suppressed addresses")
}

func TestWebhooksAreArchived(t *testing.T) {
	w := newWorld(t)
	hook := w.subscribe("/hook", "Contact.Added")
	w.status.Store(http.StatusInternalServerError)
	w.list("Readers", reader("ada@example.org", "Ada"))
	p := open(t, w.srv.URL(), "#/deliveries", desk)
	p.says(".rows", "again in")
	p.says(".cards", "Contact.Added")
	p.click("button", "Archive")
	p.says(".cards", "archived")
	p.says(".rows", "archived")
	p.click("button", "Unarchive")
	p.says(".rows", "again in")
	got, err := w.sdk.Webhooks.Get(t.Context(), hook.ID)
	if err != nil || got.Status != "active" {
		t.Errorf("%v, %v", got.Status, err)
	}
}

func TestFaults(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/faults", desk)
	p.says(".page", "No faults")
	p.click("button", "Lost response")
	p.says(".rules", "submitEmail")
	_, err := w.sdk.Emails.Send(t.Context(), client.EmailSubmission{
		To:      "ada@example.org",
		Sender:  client.Sender{Email: "hello@harbour.example"},
		Content: client.EmailContent{Subject: "x", Text: "x", Type: client.EmailTypeTransactional},
	})
	if err == nil || len(w.srv.Outbox()) != 1 {
		t.Errorf("error %v, %d messages: want the answer lost and one message", err, len(w.srv.Outbox()))
	}
	p.says(".rules", "1 of 1 hit")
	p.do(focus(".rules input"))
	p.press(" ")
	p.says(".toasts", "is off")
	if w.srv.Faults()[0].Enabled {
		t.Error("the rule is still on")
	}
	p.do(focus(".form button.main"))
	p.press("\r")
	p.says(".rules li:nth-child(2)", "503")
	p.pick("Selection", "probability")
	p.fill("input[type=number]", "0.5")
	p.click("button", "Add the rule")
	p.says(".rules li:nth-child(3)", "0.5 % at random")
	p.click("button", "Remove all")
	p.says(".page", "No faults")
	p.click("button", "Delete everything")
	p.click("button", "Yes, delete everything")
	p.goTo("#/inbox")
	p.says(".list", "Nothing sent yet")
}

func TestSendEvent(t *testing.T) {
	w := newWorld(t)
	w.subscribe("/hook", "Email.Opened")
	p := open(t, w.srv.URL(), "#/trigger", desk)
	p.until(`document.querySelector('#body')?.value.includes('Email.Bounced')`)
	p.click("button", "Send signed")
	p.says(".sent", "204")
	d := w.srv.Deliveries()[0]
	if d.Event != "Email.Bounced" || d.State != "delivered" {
		t.Errorf("%s is %s", d.Event, d.State)
	}
	p.says(".workbench", "Shell command")
	p.says(".code", "--url '"+w.receiver.URL+"/hook'")
	p.fill("#body", "{")
	p.says("#body-fault", "not JSON")
	p.says(".workbench", "Shell command for the unedited sample")
	p.until(`document.querySelector('form button.main')?.disabled`)
	p.goTo("#/deliveries/" + d.ID)
	p.click("a", "Edit and send")
	p.until(`document.querySelector('#body')?.value.includes(` + strconv.Quote(d.EventID) + `)`)
}

func TestRequests(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/requests", desk)
	w.ask("POST", "/v2/email", `{}`)
	w.ask("POST", "/v2/emails", `{"email":"ada@example.org"}`)
	p.says(".rows", "submitEmail")
	p.click("strong", "/v2/emails")
	p.says(".wrong", "body.sender")
	p.goTo("#/requests")
	p.fill("#filter", "404")
	p.until(`document.querySelectorAll('.rows a').length === 1`)
	p.click("strong", "/v2/email")
	p.says(".wrong", "Closest operation: POST /v2/emails")
	w.ask("GET", "/lists?perpage=2", "")
	p.goTo("#/requests")
	p.fill("#filter", "perpage")
	p.click("strong", "/lists")
	p.says(".wrong", "The API does not define query.perpage")
}

func TestFollowTheLatest(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/inbox/latest", desk)
	w.send("ada@example.org", "The first", order)
	p.says(".head h2", "The first")
	w.send("ada@example.org", "The second", order)
	p.says(".head h2", "The second")
	p.press("p") // pause
	p.says(".live", "Paused")
	w.send("ada@example.org", "The third", order)
	p.says(".live", "held")
	p.says(".head h2", "The second")
	p.press("p")
	p.says(".head h2", "The third")
}

// Off loopback the console wants a token, which a link turns into a cookie.
func TestTokenOffLoopback(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := mockserver.StartOn(listener, mockserver.Config{Console: console.Handler()})
	t.Cleanup(srv.Close)
	base := "http://127.0.0.1:" + strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	for _, file := range []string{"", "app.js", "outbox"} {
		res, err := http.Get(base + "/_mock/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if _ = res.Body.Close(); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q without a token: %d", file, res.StatusCode)
		}
	}
	p := open(t, base, "?token="+srv.Token(), desk)
	p.says(".first", "Nothing sent yet")
	p.says(".first .code", "Bearer TOKEN") // the page of a read-only user does not contain another token
	if address := eval[string](p, `location.href + document.cookie`); address != base+"/_mock/" {
		t.Errorf("the address and the cookies that scripts see: %s", address)
	}
	secret, err := webhook.ParseSecret("s", "")
	if err != nil {
		t.Fatal(err)
	}
	id, err := srv.SendEventTo("http://127.0.0.1:1/", secret, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	p.goTo("#/deliveries/" + id + "/signature")
	p.says(".stack .code", "-H 'Authorization: Bearer TOKEN'")
}
