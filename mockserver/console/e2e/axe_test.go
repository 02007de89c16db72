package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/client"
)

var every = flag.Bool("every", false, "check every place in both themes at all three widths, and press Tab in all of them")

// looks returns the views for the checks. With -every, the checks need many minutes.
func looks() []view {
	if *every {
		return []view{{1280, "light"}, {400, "dark"}, {1280, "dark"}, {400, "light"}, {320, "light"}, {320, "dark"}}
	}
	return []view{{1280, "light"}, {400, "dark"}}
}

// TestPlaces opens every view. axe-core finds no violation, Tab reaches every control, and controls on a phone are
// large enough for fingers. AXE is the path of axe.min.js from the npm package axe-core; the script run fetches it.
func TestPlaces(t *testing.T) {
	axe := axeScript(t)
	w := newWorld(t)
	w.populate()
	places := w.places()
	for l, look := range looks() {
		t.Run(fmt.Sprintf("%d-%s", look.width, look.scheme), func(t *testing.T) {
			p := open(t, w.srv.URL(), "#/requests/nothing", look)
			for n, place := range places {
				p.Log(place)
				p.visit("#/" + place)
				if *every || n%2 == l {
					p.checkAccessibility(axe)
				}
				if look.width == 400 {
					p.largeEnough("body")
				} else if *every || n%3 == 0 {
					p.tabReachesEverything()
				}
			}
		})
	}
}

// visit opens a view and waits until the previous view is gone.
func (p *page) visit(hash string) {
	p.Helper()
	p.goTo("#/requests/nothing")
	p.says(".detail", "Not here")
	p.goTo(hash)
	p.until(`!document.querySelector('main').textContent.includes('Not here')`)
	p.rest()
}

// tabReachesEverything fails if Tab does not reach a control in main.
func (p *page) tabReachesEverything() {
	p.Helper()
	want := eval[int](p, `(window.all = new Set(tabStops())).size`)
	eval[bool](p, `document.querySelector('main').focus(), addEventListener('focusin', e => all.delete(e.target)), true`)
	for range want + 60 {
		p.press("\t")
		if eval[int](p, `all.size`) == 0 {
			return
		}
	}
	p.Errorf("Tab does not reach %s", eval[string](p, `[...all].slice(0, 5).map(e => e.outerHTML.slice(0, 120)).join('\n')`))
}

// largeEnough fails for each control in the selector that is smaller than 44 px or narrower than its text.
func (p *page) largeEnough(within string) {
	p.Helper()
	for _, bad := range eval[[]string](p, fmt.Sprintf("smallControls(%q)", within)) {
		p.Error(bad)
	}
}

// TestForms checks every form like TestPlaces, first as it opens and then with rejected input.
func TestForms(t *testing.T) {
	axe := axeScript(t)
	w := newWorld(t)
	list := w.list("Readers", reader("ada@example.org", "Ada"))
	w.resources(list.ID)
	w.subscribe("/hook", "Email.Opened")
	unfinished, err := w.sdk.Campaigns.Create(t.Context(), client.CampaignCreate{Name: "Unfinished"})
	w.check(err)
	for _, look := range looks() {
		t.Run(fmt.Sprintf("%d-%s", look.width, look.scheme), func(t *testing.T) {
			p := open(t, w.srv.URL(), "#/overview", look)
			for _, form := range []struct{ hash, button, ok string }{
				{"#/lists", "New list", "Create the list"},
				{"#/lists", "Add", "Add"},
				{"#/contacts", "Import", "Import"},
				{"#/templates", "New", "Create the template"},
				{"#/campaigns", "New", "Create the campaign"},
				{fmt.Sprintf("#/campaigns/%d", unfinished.ID), "Schedule", "Schedule"}, // rejected, but no field is invalid
				{"#/workflows", "New", "Create the workflow"},
				{"#/deliveries/webhooks", "New webhook", "Create the webhook"},
				{"#/deliveries/webhooks", "Rotate the secret", "Create the successor"},
			} {
				p.Log(form.button, form.hash)
				p.visit(form.hash)
				p.click("main button", form.button)
				p.until(`document.querySelector('dialog.create[open]')`)
				p.checkAccessibility(axe)
				if look.width == 400 {
					p.largeEnough("dialog.create")
				}
				p.click("dialog button.main", form.ok)
				p.until(`document.querySelector('dialog :is(.wrongly, .refused, .secret)')`)
				p.checkAccessibility(axe)
				p.press(kb.Escape)
				p.until(`!document.querySelector('dialog.create')`)
			}
		})
	}
}

// TestOverlays checks menus, the selection, toasts, the help and a response in both themes.
func TestOverlays(t *testing.T) {
	axe := axeScript(t)
	w := newWorld(t)
	for range 3 {
		w.send("ada@example.org", "Your order", order)
	}
	for _, look := range []view{{1280, "light"}, {1280, "dark"}, {400, "light"}, {400, "dark"}} {
		t.Run(fmt.Sprintf("%d-%s", look.width, look.scheme), func(t *testing.T) {
			p := open(t, w.srv.URL(), "#/inbox", look)
			p.rows(3)
			p.tick(0)
			p.tick(1)
			p.says(".selected", "2 messages selected")
			p.seen(axe, look, ".selected")
			p.click(".selected [aria-label='Bounce: more']", "")
			p.says(":popover-open", "550 5.1.1")
			p.seen(axe, look, ":popover-open")
			p.press(kb.Escape)
			p.until(`!document.querySelector(':popover-open')`)
			p.click(".selected button", "Delete")
			p.says(".toast button", "Undo")
			p.seen(axe, look, ".toast")
			p.press("z?")
			p.until(`document.querySelector('dialog[open]')`)
			p.seen(axe, look, "dialog[open]")
			p.press(kb.Escape)
			p.goTo("#/api/createList")
			p.click(".explorer button", "Send")
			p.says(".answer .chip", "201")
			p.seen(axe, look, ".explorer")
		})
	}
}

// seen checks the current page, including the size of the controls on a phone.
func (p *page) seen(axe string, look view, selector string) {
	p.Helper()
	p.checkAccessibility(axe)
	if look.width == 400 {
		p.largeEnough(selector)
	}
}

func axeScript(t *testing.T) string {
	t.Helper()
	axe, err := os.ReadFile(os.Getenv("AXE"))
	if err != nil {
		if os.Getenv("E2E") == "require" {
			t.Fatal("AXE:", err)
		}
		t.Skip("AXE names no axe.min.js: see the script run")
	}
	return string(axe)
}

// checkAccessibility fails for each finding in the current page.
func (p *page) checkAccessibility(axe string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](axe))
	for _, bad := range eval[[]string](p, `violations()`) {
		p.Error(bad)
	}
	if over := eval[int](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		p.Errorf("the page is %d px wider than the window", over)
	}
	if eval[bool](p, `(m => { m.scrollTop = 100; return m.scrollTop > 0 })(document.querySelector('main'))`) {
		p.Error("main scrolls, and there is no scroll bar to undo it")
	}
}
