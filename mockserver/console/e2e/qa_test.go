package e2e

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"example.com/emailplatform/mockserver"
)

// TestQATask: the task of a QA engineer, from an empty server to an exported email, needs at most 30 actions. An action
// is a click, a key press, or a typed or pasted text.
func TestQATask(t *testing.T) {
	f := newFixture(t)
	f.subscribe("/hook", "Email.Bounced", "Email.ReportedAsSpam", "Contact.Removed")
	p := open(t, f.srv.URL(), "#/overview", desktop)
	p.sendCampaign()
	f.settle()

	p.click(".detail .links a", "reader19@")
	p.unsubscribeInFrame(f)
	p.click(".head a[download]", "")

	p.tick(1)
	p.tick(3, chromedp.ButtonModifiers(chromedp.ModifierShift)) // selects all rows since the last one
	p.says(".selected", "3 messages selected")
	p.press("b").says(".toast", "3 messages bounced. Email.Bounced: 3 deliveries queued.")
	p.tick(4)
	p.tick(5, chromedp.ButtonModifiers(chromedp.ModifierShift))
	p.press("s").says(".toast", "2 messages reported as spam. Email.ReportedAsSpam: 2 deliveries queued.")
	f.settle()

	p.click(".toast a", "Show").says(".head h2", "Email.ReportedAsSpam")
	p.click(".detail button", "Redeliver").says(".attempts", "redelivery")
	p.click("[role=tab]", "Signature").says(".detail", "Signature computed by your receiver")
	hash := eval[string](p, `location.hash`)
	shown := slices.IndexFunc(f.srv.Deliveries(), func(d mockserver.Delivery) bool { return strings.Contains(hash, d.ID) })
	raw, err := base64.StdEncoding.DecodeString(f.srv.Deliveries()[shown].Signature)
	f.check(err)
	p.paste(hex.EncodeToString(raw)).says("#theirs-verdict", "The value is correct, but encoded as hexadecimal")
	before := f.srv.Now()
	p.click(".passing button", "+1 h").says(".toast", "Clock set to")
	if passed := f.srv.Now().Sub(before); passed < time.Hour {
		t.Errorf("the clock was advanced by %v", passed)
	}
	list, err := f.sdk.Lists.Find(t.Context(), "Readers")
	f.check(err)
	f.statuses(list.ID, strings.Repeat("active ", 14)+"spam spam bounced bounced bounced unsubscribed")
	if p.actions > 30 {
		t.Errorf("%d actions, want at most 30", p.actions)
	}
}

// sendCampaign pastes 20 contacts and sends a campaign to them.
func (p *page) sendCampaign() {
	p.Helper()
	var addresses strings.Builder
	for n := range 20 {
		fmt.Fprintf(&addresses, "reader%d@example.org\n", n)
	}
	p.click("nav a", "Lists").says(".page", "No lists yet")
	p.paste(addresses.String()).says("dialog", "20 contacts found.")
	p.enter("dialog [name=name]", "Readers")
	p.press("\r").says(".toast", "20 contacts imported to Readers")

	p.click("nav a", "Campaigns").says("h1", "Campaigns")
	p.click("main button", "New")
	p.until(`document.querySelector('dialog [name=list_id]')?.value`) // the only list is chosen
	p.enter("dialog [name=name]", "Autumn")
	p.click("dialog [name='content.subject']", "")
	p.enter("dialog [name='content.subject']", "The autumn catalogue")
	p.click("dialog [name='content.html']", "")
	p.paste(`<p>Hello</p><p><a href="{{unsubscribe_url}}" style="display: block; padding: 80px; background: #eee">Unsubscribe</a></p>`)
	p.click("dialog button.main", "Create campaign")
	p.click(".detail button", "Send now").says(".detail .chip", "delivered")
}

// unsubscribeInFrame clicks the link in the frame of an email. The link opens in a new tab, which is then closed. The
// browser ignores a click until it has drawn the frame, so unsubscribeInFrame repeats the click.
func (p *page) unsubscribeInFrame(f *fixture) {
	p.Helper()
	actions := p.actions
	for !p.clickUnsubscribes(f) {
		if p.actions > actions+10 {
			p.Fatalf("the click on the link does not unsubscribe")
		}
	}
	p.actions = actions + 2
	_, err := chromedp.Call(p.ctx, cdppage.BringToFront, cdp.Empty{})
	p.check(err)
	p.until(`document.querySelector('.head [aria-label="unsubscribed"]')`)
}

// clickUnsubscribes clicks the link, and reports whether the mock server records an unsubscribe within 2 s.
func (p *page) clickUnsubscribes(f *fixture) bool {
	p.Helper()
	p.clickFrame(0, 120)
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Second)
	defer cancel()
	unsubscribed := func(m mockserver.Message) bool { return m.Unsubscribed }
	return f.srv.WaitFor(ctx, func() bool { return slices.ContainsFunc(f.srv.Outbox(), unsubscribed) }) == nil
}
