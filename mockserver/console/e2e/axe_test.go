package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

var every = flag.Bool("every", false, "check every place in both themes at all three widths, and press Tab in all of them")

// views returns the views for the checks: a few by default, and all with -every, which takes many minutes.
func views() []view {
	if *every {
		return []view{{1280, "light"}, {400, "dark"}, {1280, "dark"}, {400, "light"}, {320, "light"}, {320, "dark"}}
	}
	return []view{{1280, "light"}, {400, "dark"}}
}

// auditor checks pages in one view. It uses axe.min.js from the npm package axe-core. The script run fetches this
// file, and the environment variable AXE contains its path.
type auditor struct {
	*page
	view view
	axe  string
}

// audit opens the console in each view.
func audit(t *testing.T, f *fixture, views []view, hash string, check func(*auditor)) {
	t.Helper()
	axe, err := os.ReadFile(os.Getenv("AXE"))
	if err != nil {
		if os.Getenv("E2E") == "require" {
			t.Fatal("AXE:", err)
		}
		t.Skip("AXE names no axe.min.js: see the script run")
	}
	for _, v := range views {
		t.Run(fmt.Sprintf("%d-%s", v.width, v.scheme), func(t *testing.T) {
			check(&auditor{open(t, f.srv.URL(), hash, v), v, string(axe)})
		})
	}
}

// checkAccessibility fails for each finding of axe-core in the current page, and for parts outside the window.
func (a *auditor) checkAccessibility() {
	a.Helper()
	a.do(chromedp.Evaluate[chromedp.Void](a.axe))
	for _, bad := range eval[[]string](a.page, `violations()`) {
		a.Error(bad)
	}
	if over := eval[int](a.page, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		a.Errorf("the page is %d px wider than the window", over)
	}
	if eval[bool](a.page, `(m => { m.scrollTop = 100; return m.scrollTop > 0 })(document.querySelector('main'))`) {
		a.Error("main scrolls, and there is no scroll bar to undo it")
	}
}

// checkControls checks accessibility. On a phone, it also checks the size of the controls in the selector.
func (a *auditor) checkControls(selector string) {
	a.Helper()
	a.checkAccessibility()
	if a.view.width == 400 {
		a.largeEnough(selector)
	}
}

// TestPlaces opens every view. axe-core finds no violation, Tab reaches every control, and controls on a phone are
// large enough for fingers.
func TestPlaces(t *testing.T) {
	f := newFixture(t)
	f.seedShop()
	f.createDay()
	f.send("mallory@example.org", `Hostile <img src=x onerror=alert(1)> subject`, strings.ReplaceAll(hostile, "PORT", "1"))
	places := f.places()
	audit(t, f, views(), "#/requests/nothing", func(a *auditor) {
		phone := a.view.width == 400
		for n, place := range places {
			a.Log(place)
			a.visit("#/" + place)
			if *every || (n%2 == 0) != phone {
				a.checkAccessibility()
			}
			if phone {
				a.largeEnough("body")
			} else if *every || n%3 == 0 {
				a.tabReachesEverything()
			}
		}
	})
}

// places returns all views of the console.
func (f *fixture) places() []string {
	f.Helper()
	requests, events := f.srv.Requests(), f.srv.Events()
	rejected := slices.IndexFunc(requests, func(r mockserver.Request) bool { return r.Status == http.StatusUnprocessableEntity })
	message, delivery := "inbox/"+f.lastTo("ada@example.org"), "deliveries/"+f.retrying()
	return []string{
		"overview", "lists", "suppressed", "faults", "trigger", "api", "api/updateTemplate",
		"inbox", message, message + "/text", message + "/source", message + "/headers", message + "/history", message + "/checks",
		"deliveries/webhooks", delivery, delivery + "/body", delivery + "/signature",
		"events", "events/" + events[len(events)-2].ID, "requests", "requests/" + requests[rejected].ID,
		"contacts", "contacts/101/301", "templates", "templates/201", "templates/201/text", "templates/201/source",
		"campaigns", "campaigns/501", "campaigns/503", "workflows", "workflows/401",
		"inbox?account=77", "inbox?density=compact", "deliveries/webhooks?density=compact", // the browser remembers the density
	}
}

// visit opens a view and waits until the previous view is gone.
func (p *page) visit(hash string) *page {
	p.Helper()
	p.goTo("#/requests/nothing").says(".detail", "does not exist")
	p.goTo(hash).until(`!document.querySelector('main').textContent.includes('Not found')`)
	p.waitUntilIdle()
	return p
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
	f := newFixture(t)
	f.seedShop()
	unfinished, err := f.sdk.Campaigns.Create(t.Context(), client.CampaignCreate{Name: "Unfinished"})
	f.check(err)
	audit(t, f, views(), "#/overview", func(a *auditor) {
		for _, form := range []struct{ hash, button, ok string }{
			{"#/lists", "New list", "Create list"},
			{"#/lists", "Add", "Add"},
			{"#/contacts", "Import", "Import"},
			{"#/templates", "New", "Create template"},
			{"#/campaigns", "New", "Create campaign"},
			{fmt.Sprintf("#/campaigns/%d", unfinished.ID), "Schedule", "Schedule"}, // rejected, but no field is invalid
			{"#/workflows", "New", "Create workflow"},
			{"#/deliveries/webhooks", "New webhook", "Create webhook"},
			{"#/deliveries/webhooks", "Rotate secret", "Create successor"},
		} {
			a.Log(form.button, form.hash)
			a.visit(form.hash)
			a.click("main button", form.button).until(`document.querySelector('dialog.create[open]')`)
			a.checkControls("dialog.create")
			a.click("dialog button.main", form.ok)
			a.until(`document.querySelector('dialog :is(.field-error, .form-error, .secret)')`)
			a.checkAccessibility()
			a.press(kb.Escape).until(`!document.querySelector('dialog.create')`)
		}
	})
}

// TestOverlays checks menus, the selection, toasts, the help and a response in both themes.
func TestOverlays(t *testing.T) {
	f := newFixture(t)
	for range 3 {
		f.send("ada@example.org", "Your order", order)
	}
	audit(t, f, []view{{1280, "light"}, {1280, "dark"}, {400, "light"}, {400, "dark"}}, "#/inbox", func(a *auditor) {
		a.rows(3)
		a.tick(0)
		a.tick(1).says(".selected", "2 messages selected")
		a.checkControls(".selected")
		a.click(".selected [aria-label='Bounce: more']", "").says(":popover-open", "550 5.1.1")
		a.checkControls(":popover-open")
		a.press(kb.Escape).until(`!document.querySelector(':popover-open')`)
		a.click(".selected button", "Delete").says(".toast button", "Undo")
		a.checkControls(".toast")
		a.press("z?").until(`document.querySelector('dialog[open]')`)
		a.checkControls("dialog[open]")
		a.press(kb.Escape)
		a.goTo("#/api/createList")
		a.click(".explorer button", "Send").says(".response .chip", "201")
		a.checkControls(".explorer")
	})
}
