package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestClock: the clock in the footer can be stopped, resumed and advanced, and shows changes by other clients.
func TestClock(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.says(".clock", "running")
	p.until(`document.querySelector('.passing button:nth-child(4)').disabled`) // nothing comes next
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

// What a toast says can be read in both themes, and at 200 % zoom there is one scroll bar.
func TestToastAndZoom(t *testing.T) {
	axe := axeScript(t)
	w := newWorld(t)
	for _, scheme := range []string{"light", "dark"} {
		p := open(t, w.srv.URL(), "#/overview", view{1280, scheme})
		p.click(".passing button", "+1 min")
		p.says(".toast", "Clock set to")
		p.keepsNobodyOut(axe)
		p.do(chromedp.EmulateViewport(640, 400)) // 1280 × 800 at 200 %
		for _, hash := range []string{"#/overview", "#/faults", "#/inbox", "#/trigger"} {
			p.goTo(hash)
			p.rest()
			if over := eval[int](p, `document.documentElement.scrollHeight - innerHeight`); over > 0 {
				t.Errorf("%s: the page is %d px higher than the window", hash, over)
			}
		}
	}
}

// A retry says how long it takes by the platform's clock, and can be had now.
func TestRetryNow(t *testing.T) {
	w := newWorld(t)
	w.subscribe("/hook", "Email.Opened")
	w.status.Store(http.StatusInternalServerError)
	w.check(w.srv.Open(w.send("ada@example.org", "Hello", order)))
	w.settle()
	for _, width := range []int64{1280, 400} {
		p := open(t, w.srv.URL(), "#/deliveries/"+w.srv.Deliveries()[0].ID, view{width, "light"})
		p.says(".next", "Now")
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

// Going back to the start asks first, and brings back what was there.
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
