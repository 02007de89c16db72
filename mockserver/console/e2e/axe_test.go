package e2e

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/client"
)

var every = flag.Bool("every", false, "check every place in both themes at all three widths, and press Tab in all of them")

// looks are the views at which the places are checked. All of them take many minutes.
func looks() []view {
	if *every {
		return []view{{1280, "light"}, {400, "dark"}, {1280, "dark"}, {400, "light"}, {320, "light"}, {320, "dark"}}
	}
	return []view{{1280, "light"}, {400, "dark"}}
}

// TestPlaces visits every place. axe-core finds no violation, Tab reaches every control, and controls on a phone are large
// enough for fingers. AXE is the file axe.min.js of the npm package axe-core; the script run fetches it.
func TestPlaces(t *testing.T) {
	axe := axeScript(t)
	w := newWorld(t)
	w.populate()
	places := w.places()
	names := slices.Sorted(maps.Keys(places))
	for l, look := range looks() {
		for part := range slices.Chunk(names, 7) { // a page is open for one minute at most
			t.Run(fmt.Sprintf("%s-%d-%s", part[0], look.width, look.scheme), func(t *testing.T) {
				p := open(t, w.srv.URL(), "#/requests/nothing", look)
				for _, name := range part {
					n := slices.Index(names, name)
					p.Log(name)
					p.visit(places[name])
					if *every || n%2 == l {
						p.keepsNobodyOut(axe)
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
}

// visit goes to a place, and not before the place that was shown is gone.
func (p *page) visit(hash string) {
	p.Helper()
	p.goTo("#/requests/nothing")
	p.says(".detail", "Not here")
	p.goTo(hash)
	p.until(`!document.querySelector('main').textContent.includes('Not here')`)
	p.rest()
}

// tabReachesEverything fails if Tab does not reach a control of the main part.
func (p *page) tabReachesEverything() {
	p.Helper()
	const can = `[...document.querySelectorAll('main :is(a[href], button, input, select, textarea, summary)')].filter(e => e.checkVisibility() && !e.disabled && e.tabIndex >= 0 && e.type !== 'radio')`
	want := eval[int](p, `(window.all = new Set(`+can+`)).size`)
	eval[bool](p, `document.querySelector('main').focus(), addEventListener('focusin', e => all.delete(e.target)), true`)
	for range want + 60 {
		p.press("\t")
		if eval[int](p, `all.size`) == 0 {
			return
		}
	}
	p.Errorf("Tab does not reach %s", eval[string](p, `[...all].slice(0, 5).map(e => e.outerHTML.slice(0, 120)).join('\n')`))
}

// largeEnough fails for each control within the selector that is smaller than 44 px or narrower than its text.
func (p *page) largeEnough(within string) {
	p.Helper()
	const small = `[...document.querySelectorAll('button, select, summary, nav a, .rows a, a.button, .back a, .links a, label:has(input), input:not([type=radio], [type=checkbox]), textarea')]
		.filter(e => e.checkVisibility() && !e.closest('.skip') && e.closest(%q))
		.map(e => [e, e.getBoundingClientRect()])
		.filter(([e, r]) => r.height < 43.9 || r.width < 43.9 || (e.matches('.button') && e.scrollWidth > e.clientWidth + 1))
		.map(([e, r]) => Math.round(r.width) + ' × ' + Math.round(r.height) + ': ' + e.outerHTML.slice(0, 120))`
	for _, bad := range eval[[]string](p, fmt.Sprintf(small, within)) {
		p.Error(bad)
	}
}

// TestForms opens every form, as it opens and with what is rejected, and checks it as TestPlaces does.
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
				p.keepsNobodyOut(axe)
				if look.width == 400 {
					p.largeEnough("dialog.create")
				}
				p.click("dialog button.main", form.ok)
				p.until(`document.querySelector('dialog :is(.wrongly, .refused, .secret)')`)
				p.keepsNobodyOut(axe)
				p.press(kb.Escape)
				p.until(`!document.querySelector('dialog.create')`)
			}
		})
	}
}

// TestOverlays checks what opens over a place, or beside it, in both themes: menus, the selection, toasts, the help and a response.
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

// seen checks what is shown now, and on a phone that fingers can use it.
func (p *page) seen(axe string, look view, selector string) {
	p.Helper()
	p.keepsNobodyOut(axe)
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

// keepsNobodyOut fails for every finding in what is shown now.
func (p *page) keepsNobodyOut(axe string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](axe))
	for _, bad := range eval[[]string](p, `axe.run(document, {iframes: false}).then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 200) + ' ' + (n.any[0]?.message ?? ''))))`) {
		p.Error(bad)
	}
	if over := eval[int](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		p.Errorf("the page is %d px wider than the window", over)
	}
}
