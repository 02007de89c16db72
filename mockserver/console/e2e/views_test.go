package e2e

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestSignature: the console explains how a pasted signature or secret differs from the correct one. Its shell command
// computes the signature.
func TestSignature(t *testing.T) {
	f := newFixture(t)
	hook := f.subscribe("/hook", "Contact.Added")
	f.list("Readers", reader("ada@example.org", "Ada"))
	f.settle()
	d := f.srv.Deliveries()[0]
	raw, err := base64.StdEncoding.DecodeString(d.Signature)
	f.check(err)
	p := open(t, f.srv.URL(), "#/deliveries/"+d.ID+"/signature", desktop)
	p.says(".detail", "Signature computed by your receiver")
	for _, tt := range []struct{ field, typed, verdict string }{
		{"theirs", d.Signature, "matches"},
		{"theirs", hex.EncodeToString(raw), "The value is correct, but encoded as hexadecimal. Encode it as base64."},
		{"theirs", "nonsense", "No common cause was found"},
		{"secret", hook.Secret.Reveal(), "matches"},
		{"secret", hook.Secret.Reveal() + " ", "white space"},
		{"secret", "another", "does not match"},
	} {
		p.fill("#"+tt.field, tt.typed).says("#"+tt.field+"-verdict", tt.verdict)
	}
	p.click(".detail button", "Show")
	p.equal(f.execute("curl", eval[string](p, `document.querySelector('.detail .code').textContent`)), d.Signature)
}

func TestSuppressed(t *testing.T) {
	_, p := start(t, "#/suppressed")
	p.says(".page", "No suppressed addresses")
	p.do(focus("form input"))
	p.press("*@example.net\r").says(".table", "*@example.net")
	p.fill(".formrow > .pick input", "x@example.net").says(".table", "*@example.net")
	p.fill(".formrow > .pick input", "x@elsewhere.example").says(".page", "Not suppressed")
	p.fill(".formrow > .pick input", "")
	p.click("button", "Remove").says(".page", "No suppressed addresses")
}

// TestFaults: rules can be added, disabled and removed. A reset restores the baseline, and "Delete everything" deletes
// it. Both require a confirmation.
func TestFaults(t *testing.T) {
	f, p := start(t, "#/faults")
	p.says(".page", "No faults")
	p.click("button", "Lost response").says(".rules", "submitEmail")
	_, err := f.submit("ada@example.org", "Hello", order)
	p.equal(errors.Is(err, client.ErrOutcomeUnknown), true)
	p.equal(len(f.srv.Outbox()), 1)
	p.says(".rules", "applied to 1 of 1")
	p.do(focus(".rules input"))
	p.press(" ").says(".toasts", "disabled")
	p.equal(f.srv.Faults()[0].Enabled, false)
	p.do(focus(".form button.main"))
	p.press("\r").says(".rules li:nth-child(2)", "503")
	p.pick("Applies to", "probability")
	p.fill("input[type=number]", "0.5")
	p.click("button", "Add rule").says(".rules li:nth-child(3)", "0.5% at random")
	p.click("button", "Remove all").says(".scope", "This applies to the whole server: 3 rules.")
	p.click("button", "Yes, remove").says(".page", "No faults")
	f.list("Readers", reader("grace@example.org", "Grace"))
	f.check(f.srv.SetBaseline())
	f.send("ada@example.org", "Not in the baseline", order)
	p.goTo("#/overview").click("button", "Reset to baseline")
	p.click("button", "Yes, reset").says(".toast", "Baseline restored")
	p.goTo("#/contacts").says(".rows", "grace@example.org")
	p.goTo("#/inbox").rows(1)
	p.goTo("#/overview").click("button", "Delete everything")
	p.click("button", "Yes, delete everything")
	p.goTo("#/inbox").says(".list", "Nothing sent yet")
}

// TestFaultTargets: the target of a rule comes from its action, and the methods come from the operations.
func TestFaultTargets(t *testing.T) {
	f := newFixture(t)
	_, err := f.srv.Inject(
		mockserver.Fault{Action: mockserver.FaultDelay, Delay: time.Second},
		mockserver.Fault{Action: mockserver.FaultDelay, Delay: time.Second, Event: "Email.Opened"},
		mockserver.Fault{Action: mockserver.FaultInternalError},
		mockserver.Fault{Action: mockserver.FaultDrop},
		mockserver.Fault{Action: mockserver.FaultReset, WebhookID: f.subscribe("/hook", "Email.Opened").ID},
	)
	f.check(err)
	p := open(t, f.srv.URL(), "#/faults", desktop)
	for n, subject := range []string{"Every request", "Deliveries of Email.Opened", "Email API messages", "Deliveries", "Deliveries to webhook"} {
		p.says(".rules li:nth-child("+strconv.Itoa(n+1)+") strong", subject)
	}
	p.until(`[...document.querySelectorAll('.pick')].find(e => e.textContent.startsWith('Method')).querySelectorAll('option').values()
		.map(o => o.value).toArray().join(' ') === ' DELETE GET HEAD PATCH POST'`)
	p.do(focus(".rules li:nth-child(3) [title=Edit]"))
	p.press("\r").says(".form label:has(:checked)", "Messages")
	p.click(".form label", "Requests").pick("Action", "delay").click("button", "Save rule").says(".toast", "delay_ms: is required by delay.")
}

func TestSendEvent(t *testing.T) {
	f := newFixture(t)
	f.subscribe("/hook", "Email.Opened")
	p := open(t, f.srv.URL(), "#/trigger", desktop)
	p.until(`document.querySelector('#body')?.value.includes('Email.Bounced')`)
	p.click("button", "Send signed").says(".sent", "204")
	d := f.srv.Deliveries()[0]
	p.equal(d.Event, "Email.Bounced")
	p.equal(d.State, "delivered")
	p.says(".workbench", "Shell command")
	p.says(".code", " -url '"+f.receiver.URL+"/hook'")
	p.fill("#body", "{").says("#body-fault", "not JSON")
	p.says(".workbench", "Shell command for the unedited sample")
	p.until(`document.querySelector('form button.main')?.disabled`)
	p.goTo("#/deliveries/" + d.ID)
	p.click("a", "Edit and send")
	p.until(`document.querySelector('#body')?.value.includes(` + strconv.Quote(d.EventID) + `)`)
	p.pick("Event", "Contact.Added")
	p.until(`location.hash === '#/trigger' && document.querySelector('#body')?.value.includes('Contact.Added')`)
}

// TestEditedBody: when the samples are loaded again, an edited body stays, even if it is empty.
func TestEditedBody(t *testing.T) {
	f, p := start(t, "#/trigger")
	p.until(`document.querySelector('#body')?.value`)
	eval[bool](p, `(load => {
		window.fetch = async (path, ...rest) => {
			const response = await load(path, ...rest);
			if (path.endsWith('/samples')) setTimeout(() => window.loadedAgain = true, 200);
			return response;
		};
		const body = document.querySelector('#body');
		body.value = '';
		return body.dispatchEvent(new InputEvent('input', { bubbles: true }));
	})(fetch)`)
	f.srv.Reset()
	p.until(`window.loadedAgain`)
	p.equal(eval[string](p, `document.querySelector('#body').value`), "")
	p.click("button", "Set new id and time")
	p.until(`document.querySelector('#body').value.includes('Email.Bounced')`)
}

func TestRequests(t *testing.T) {
	f, p := start(t, "#/requests")
	f.ask("POST", "/v2/email", `{}`)
	f.ask("POST", "/v2/emails", `{"email":"ada@example.org"}`)
	p.says(".rows", "submitEmail")
	p.click("strong", "/v2/emails").says(".wrong", "body.sender")
	p.goTo("#/requests")
	p.fill("#filter", "404").until(`document.querySelectorAll('.rows a').length === 1`)
	p.click("strong", "/v2/email").says(".wrong", "Closest operation: POST /v2/emails")
	f.ask("GET", "/lists?perpage=2", "")
	p.goTo("#/requests")
	p.fill("#filter", "perpage")
	p.click("strong", "/lists").says(".wrong", "The API does not define query.perpage")
}

func TestFollowTheLatest(t *testing.T) {
	f, p := start(t, "#/inbox/latest")
	f.send("ada@example.org", "The first", order)
	p.says(".head h2", "The first")
	f.send("ada@example.org", "The second", order)
	p.says(".head h2", "The second")
	p.press("p") // pause
	p.says(".live", "Paused")
	f.send("ada@example.org", "The third", order)
	p.says(".live", "held")
	p.says(".head h2", "The second")
	p.press("p").says(".head h2", "The third")
}

// TestClock: the clock in the footer can be stopped, resumed and advanced, and shows changes by other clients.
func TestClock(t *testing.T) {
	f, p := start(t, "#/inbox")
	p.says(".clock", "running")
	p.until(`document.querySelector('.passing button:nth-child(4)').disabled`) // no event is scheduled
	p.click(".clock button", "running").says(".clock", "frozen")
	before := f.srv.Now()
	for _, step := range []struct {
		button string
		want   time.Duration
	}{{"+1 min", time.Minute}, {"+1 h", time.Hour}, {"+1 day", 24 * time.Hour}} {
		p.click(".passing button", step.button).says(".toast", "Clock set to")
		p.until(`document.querySelector('.clock time').dateTime === '` + before.Add(step.want).UTC().Format("2006-01-02T15:04:05.000Z") + `'`)
		p.equal(f.srv.Now().Sub(before), step.want)
		before = before.Add(step.want)
	}
	p.says(".clock", before.Local().Format("2 Jan 2006, 15:04:05"))
	p.click(".passing button", "Set").focused("[name=now]")
	eval[bool](p, `(e => { e.value = '2031-03-04T05:06:07'; return e.dispatchEvent(new Event('input', { bubbles: true })) })(document.activeElement)`)
	p.click("dialog button", "Set").says(".toast", "Clock set to 4 Mar 2031, 05:06:07")
	p.says(".clock", "4 Mar 2031, 05:06:07 frozen")
	p.equal(f.srv.Now().Local().Format(time.DateTime), "2031-03-04 05:06:07")
	f.srv.ResumeClock() // by another client
	p.says(".clock", "running")
}

// TestZoom: at 200 % zoom, the page has one scroll bar.
func TestZoom(t *testing.T) {
	p := open(t, newFixture(t).srv.URL(), "#/overview", desktop)
	p.do(chromedp.EmulateViewport(640, 400)) // 1280 × 800 at 200 %
	for _, hash := range []string{"#/overview", "#/faults", "#/inbox", "#/trigger"} {
		p.goTo(hash)
		p.waitUntilIdle()
		p.until(`document.documentElement.scrollHeight <= innerHeight`)
	}
}

// TestRetryNow: the page shows the last response of a delivery and the time of its retry on the platform's clock. The
// user can start the retry immediately, unless the webhook is archived.
func TestRetryNow(t *testing.T) {
	f := newFixture(t)
	f.subscribe("/hook", "Email.Opened")
	f.status.Store(http.StatusInternalServerError)
	f.check(f.srv.Open(f.send("ada@example.org", "Hello", order)))
	f.settle()
	for _, width := range []int64{1280, 400} {
		p := open(t, f.srv.URL(), "#/deliveries/"+f.srv.Deliveries()[0].ID, view{width, "light"})
		p.says(".attempts", "500", "the database is down")
		attempts := len(f.srv.Deliveries()[0].Attempts)
		p.click(".next button", "Now")
		p.until(`document.querySelectorAll('.attempts summary').length === ` + strconv.Itoa(attempts+1))
		p.says(".next", "in ")
	}
	p := open(t, f.srv.URL(), "#/deliveries", desktop)
	p.says(".rows", "retry in 11")
	p.click("button", "Archive").says(".cards", "archived").says(".rows", "archived")
	p.click("button", "Unarchive").says(".rows", "retry in 11")
	f.status.Store(0)
	p.click(".passing button", "To next").says(".rows .num", "204")
	if ahead := time.Until(f.srv.Now()); ahead < 14*time.Hour { // 30 minutes, 2 hours and 12 hours
		t.Errorf("the clock is %v ahead", ahead)
	}
}
