package e2e

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/emailplatform/client"
)

// TestSignature: the console explains how a pasted signature or secret differs from the correct one.
func TestSignature(t *testing.T) {
	w := newWorld(t)
	hook := w.subscribe("/hook", "Contact.Added")
	w.list("Readers", reader("ada@example.org", "Ada"))
	w.settle()
	d := w.srv.Deliveries()[0]
	raw, err := base64.StdEncoding.DecodeString(d.Signature)
	w.check(err)
	p := open(t, w.srv.URL(), "#/deliveries/"+d.ID+"/signature", desk)
	p.says(".detail", "Signature computed by your receiver")
	for _, tt := range []struct{ field, typed, verdict string }{
		{"theirs", d.Signature, "the same"},
		{"theirs", hex.EncodeToString(raw), "The right value in hexadecimal: encode it as base64."},
		{"theirs", "nonsense", "None of the common candidates"},
		{"secret", hook.Secret.Reveal(), "matches"},
		{"secret", hook.Secret.Reveal() + " ", "white space"},
		{"secret", "another", "does not match"},
	} {
		p.fill("#"+tt.field, tt.typed)
		p.says("#"+tt.field+"-verdict", tt.verdict)
	}
}

func TestSuppressed(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/suppressed", desk)
	p.says(".page", "No suppressed addresses")
	p.do(focus("form input"))
	p.press("*@example.net\r")
	p.says(".table", "*@example.net")
	all, err := w.sdk.SuppressedEmails.List(t.Context(), client.ListSuppressedEmailsParams{})
	if err != nil || len(all.Data) != 1 || all.Data[0].Email != "*@example.net" {
		t.Errorf("the suppressed addresses are %+v, %v", all.Data, err)
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

// TestClock: the clock in the footer can be stopped, resumed and advanced, and shows changes by other clients.
func TestClock(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.says(".clock", "running")
	p.until(`document.querySelector('.passing button:nth-child(4)').disabled`) // no event is scheduled
	p.click(".clock button", "running")
	p.says(".clock", "frozen")
	before := w.srv.Now()
	for _, step := range []struct {
		button string
		want   time.Duration
	}{{"+1 min", time.Minute}, {"+1 h", time.Hour}, {"+1 day", 24 * time.Hour}} {
		p.click(".passing button", step.button)
		p.says(".toast", "Clock set to")
		p.until(`document.querySelector('.clock time').dateTime === '` + before.Add(step.want).UTC().Format("2006-01-02T15:04:05.000Z") + `'`)
		if got := w.srv.Now().Sub(before); got != step.want {
			t.Errorf("%s: %v passed", step.button, got)
		}
		before = before.Add(step.want)
	}
	p.says(".clock", before.Local().Format("2 Jan 2006, 15:04:05"))
	p.click(".passing button", "Set")
	p.until(`document.activeElement.name === 'now'`)
	eval[bool](p, `(e => { e.value = '2031-03-04T05:06:07'; return e.dispatchEvent(new Event('input', { bubbles: true })) })(document.activeElement)`)
	p.click("dialog button", "Set")
	p.says(".toast", "Clock set to 4 Mar 2031, 05:06:07")
	p.says(".clock", "4 Mar 2031, 05:06:07 frozen")
	if got := w.srv.Now().Local().Format(time.DateTime); got != "2031-03-04 05:06:07" {
		t.Errorf("the clock was set to %s", got)
	}
	w.srv.ResumeClock() // by another client
	p.says(".clock", "running")
}

// TestZoom: at 200 % zoom, the page has one scroll bar.
func TestZoom(t *testing.T) {
	p := open(t, newWorld(t).srv.URL(), "#/overview", desk)
	p.do(chromedp.EmulateViewport(640, 400)) // 1280 × 800 at 200 %
	for _, hash := range []string{"#/overview", "#/faults", "#/inbox", "#/trigger"} {
		p.goTo(hash)
		p.rest()
		if over := eval[int](p, `document.documentElement.scrollHeight - innerHeight`); over > 0 {
			t.Errorf("%s: the page is %d px higher than the window", hash, over)
		}
	}
}

// TestRetryNow: a retry shows the response of the last attempt and its time on the platform's clock. The user can start
// it immediately.
func TestRetryNow(t *testing.T) {
	w := newWorld(t)
	w.subscribe("/hook", "Email.Opened")
	w.status.Store(http.StatusInternalServerError)
	w.check(w.srv.Open(w.send("ada@example.org", "Hello", order)))
	w.settle()
	for _, width := range []int64{1280, 400} {
		p := open(t, w.srv.URL(), "#/deliveries/"+w.srv.Deliveries()[0].ID, view{width, "light"})
		p.says(".next", "Now")
		p.says(".attempts", "500")
		p.says(".attempts", "the database is down")
		attempts := len(w.srv.Deliveries()[0].Attempts)
		p.click(".next button", "Now")
		p.until(`document.querySelectorAll('.attempts summary').length === ` + string(rune('0'+attempts+1)))
		p.says(".next", "in ")
	}
	w.status.Store(0)
	p := open(t, w.srv.URL(), "#/deliveries", desk)
	p.says(".rows", "again in 11")
	p.click(".passing button", "To next")
	p.says(".rows .num", "204")
	if ahead := time.Until(w.srv.Now()); ahead < 14*time.Hour { // 30 minutes, 2 hours and 12 hours
		t.Errorf("the clock is %v ahead", ahead)
	}
}

// TestResetInConsole: a reset requires a confirmation and restores the baseline.
func TestResetInConsole(t *testing.T) {
	w := newWorld(t)
	w.list("Readers", reader("ada@example.org", "Ada"))
	w.check(w.srv.SetBaseline())
	w.send("ada@example.org", "Not at the start", order)
	p := open(t, w.srv.URL(), "#/faults", desk)
	p.click("button", "Reset")
	p.click("button", "Yes, reset")
	p.says(".toast", "Baseline restored")
	p.goTo("#/inbox")
	p.says(".list", "Nothing sent yet")
	p.goTo("#/contacts")
	p.says(".rows", "ada@example.org")
}
