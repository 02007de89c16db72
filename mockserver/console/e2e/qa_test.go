package e2e

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	browserproto "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// hands counts the actions of a person. An action is a click, a key press, or a typed or pasted text. Repeated clicks count.
type hands struct {
	*page
	actions int
}

func (h *hands) click(kind, text string) {
	h.Helper()
	h.until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some(e => e.textContent.includes(%q))`, kind, text))
	h.rest()
	h.actions += h.page.click(kind, text)
}

// paste pastes a text from another program.
func (h *hands) paste(text string) {
	h.Helper()
	h.page.paste(text)
	h.actions++
}

// write types a text into the field that has the focus.
func (h *hands) write(field, text string) {
	h.Helper()
	h.until(fmt.Sprintf(`document.activeElement.matches(%q)`, field))
	h.press(text)
}

func (h *hands) press(key string) {
	h.Helper()
	h.page.press(key)
	h.actions++
}

// paste copies a text to the clipboard and presses Ctrl+V.
func (p *page) paste(text string) {
	p.Helper()
	yes := true
	_, err := chromedp.Run(p.ctx, chromedp.Evaluate[any](fmt.Sprintf(`navigator.clipboard.writeText(%q)`, text),
		chromedp.EvalAwaitPromise, func(e *runtime.EvaluateParams) { e.UserGesture = &yes }))
	if err != nil {
		p.Fatal(err)
	}
	p.do(chromedp.KeyEvent("v", chromedp.KeyModifiers(chromedp.ModifierCtrl), func(key *input.DispatchKeyEventParams) {
		if key.Type == kb.KeyDown {
			key.Commands = []string{"paste"}
		}
	}))
}

// tick clicks the check box of row n. With through, it holds Shift to select all rows since the last one.
func (h *hands) tick(n int, through bool) {
	h.Helper()
	box := fmt.Sprintf(`document.querySelectorAll('.rows li')[%d].querySelector('.select')`, n)
	h.until(box)
	eval[bool](h.page, `new Promise(done => { `+box+`.scrollIntoView({ block: 'nearest' }); setTimeout(done, 100, true) })`)
	at := eval[[]float64](h.page, `(() => { const r = `+box+`.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()`)
	var modifiers []chromedp.MouseOption
	if through {
		modifiers = append(modifiers, chromedp.ButtonModifiers(chromedp.ModifierShift))
	}
	h.do(chromedp.MouseClickXY(at[0], at[1], modifiers...))
	h.actions++
}

// TestQATask: the task of a QA engineer, from an empty server to an exported email, needs at most 30 actions.
func TestQATask(t *testing.T) {
	w := newWorld(t)
	w.subscribe("/hook", "Email.Bounced", "Email.ReportedAsSpam", "Contact.Removed")
	h := &hands{page: open(t, w.srv.URL(), "#/overview", desk)}
	h.campaign()
	w.settle()

	h.click(".detail .links a", "reader19@")
	h.frameLink(w)
	h.exports(w)

	h.tick(1, false)
	h.tick(3, true)
	h.says(".selected", "3 messages selected")
	h.press("b")
	h.says(".toast", "3 messages bounced. Email.Bounced: 3 deliveries queued.")
	h.tick(4, false)
	h.tick(5, true)
	h.press("s")
	h.says(".toast", "2 messages reported as spam. Email.ReportedAsSpam: 2 deliveries queued.")
	w.settle()

	h.click(".toast a", "Show")
	h.says(".head h2", "Email.ReportedAsSpam")
	h.click(".detail button", "Redeliver")
	h.says(".attempts", "redelivery")
	h.click("[role=tab]", "Signature")
	h.says(".detail", "Signature computed by your receiver")
	hash := eval[string](h.page, `location.hash`)
	shown := slices.IndexFunc(w.srv.Deliveries(), func(d mockserver.Delivery) bool { return strings.Contains(hash, d.ID) })
	raw, err := base64.StdEncoding.DecodeString(w.srv.Deliveries()[shown].Signature)
	w.check(err)
	h.paste(hex.EncodeToString(raw))
	h.says("#theirs-verdict", "The right value in hexadecimal")
	before := w.srv.Now()
	h.click(".passing button", "+1 h")
	h.says(".toast", "Clock set to")

	w.outcome(list(w, "Readers"), before)
	t.Logf("%d actions", h.actions)
	if h.actions > 30 {
		t.Errorf("%d actions, want at most 30", h.actions)
	}
}

// campaign pastes 20 contacts and sends a campaign to them.
func (h *hands) campaign() {
	h.Helper()
	var addresses strings.Builder
	for n := range 20 {
		fmt.Fprintf(&addresses, "reader%d@example.org\n", n)
	}
	h.click("nav a", "Lists")
	h.says(".page", "No list yet")
	h.paste(addresses.String())
	h.says("dialog", "20 contacts found.")
	h.write("dialog [name=name]", "Readers")
	h.press("\r")
	h.says(".toast", "20 contacts imported to Readers")

	h.click("nav a", "Campaigns")
	h.says("h1", "Campaigns")
	h.click("main button", "New")
	h.until(`document.querySelector('dialog [name=list_id]')?.value`) // the only list is chosen
	h.write("dialog [name=name]", "Autumn")
	h.click("dialog [name='content.subject']", "")
	h.write("dialog [name='content.subject']", "The autumn catalogue")
	h.click("dialog [name='content.html']", "")
	h.paste(`<p>Hello</p><p><a href="{{unsubscribe_url}}" style="display: block; padding: 80px; background: #eee">Unsubscribe</a></p>`)
	h.click("dialog button.main", "Create the campaign")
	h.click(".detail button", "Send now")
	h.says(".detail .chip", "delivered")
}

// frameLink clicks the link in the frame of an email. It opens in a new tab.
func (h *hands) frameLink(w *world) {
	h.Helper()
	h.rest()
	at := eval[[]float64](h.page, `(() => { const r = document.querySelector('iframe').getBoundingClientRect(); return [r.x + r.width / 2, r.y + 120] })()`)
	h.do(chromedp.MouseClickXY(at[0], at[1]))
	h.actions++
	ctx, cancel := context.WithTimeout(h.ctx, patience/3)
	defer cancel()
	unsubscribed := func(m mockserver.Message) bool { return m.Unsubscribed }
	if err := w.srv.WaitFor(ctx, func() bool { return slices.ContainsFunc(w.srv.Outbox(), unsubscribed) }); err != nil {
		h.Fatalf("the click on the link does not unsubscribe: %v", err)
	}
	if _, err := chromedp.Call(h.ctx, cdppage.BringToFront, cdp.Empty{}); err != nil {
		h.Fatal(err)
	}
	h.actions++ // the person closes the new tab
	h.until(`document.querySelector('.head [aria-label="unsubscribed"]')`)
}

// exports downloads the open email.
func (h *hands) exports(w *world) {
	h.Helper()
	folder := w.TempDir()
	_, err := chromedp.CallBrowser(h.ctx, browserproto.SetDownloadBehavior, browserproto.SetDownloadBehaviorParams{
		Behavior: browserproto.SetDownloadBehaviorBehaviorAllow, BrowserContextID: chromedp.FromContext(h.ctx).BrowserContextID, DownloadPath: folder,
	})
	w.check(err)
	h.click(".head a[download]", "")
	var files []string
	for deadline := time.Now().Add(patience / 3); len(files) == 0 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		files, err = filepath.Glob(filepath.Join(folder, "*.eml")) // the browser renames the file when it is complete
		w.check(err)
	}
	if len(files) != 1 {
		w.Fatalf("%d files were downloaded, want 1", len(files))
	}
	file, err := os.ReadFile(files[0])
	if w.check(err); !strings.Contains(string(file), "To: reader19@example.org") {
		w.Errorf("the exported file is %.300s", file)
	}
}

func list(w *world, name string) int64 {
	w.Helper()
	l, err := w.sdk.Lists.Find(w.Context(), name)
	w.check(err)
	return l.ID
}

// outcome checks the state of the platform after the actions.
func (w *world) outcome(list int64, before time.Time) {
	w.Helper()
	got := map[events.ContactStatus]int{}
	for c, err := range w.sdk.Contacts.All(w.Context(), list, client.ListContactsParams{}) {
		w.check(err)
		got[c.Status]++
	}
	want := map[events.ContactStatus]int{"active": 14, "bounced": 3, "spam": 2, "unsubscribed": 1}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.Errorf("the contacts are %v, want %v", got, want)
	}
	replays := 0
	for _, d := range w.srv.Deliveries() {
		for _, a := range d.Attempts {
			if a.Manual {
				replays++
			}
		}
	}
	if passed := w.srv.Now().Sub(before); replays != 1 || passed < time.Hour || passed > time.Hour+time.Minute {
		w.Errorf("%d replays and %v, want one and an hour", replays, passed)
	}
}
