package e2e

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

var every = flag.Bool("every", false, "look at every place in both themes at all three widths, and press Tab in all of them")

// looks are how TestAxe looks at the nth place: all of them take many minutes.
func looks(n int) []view {
	all := []view{{1280, "light"}, {400, "dark"}, {1280, "dark"}, {400, "light"}, {320, "light"}, {320, "dark"}}
	if *every {
		return all
	}
	return all[n%2 : n%2+1]
}

// TestAxe looks for what keeps people out, in every place. AXE is the file
// axe.min.js of the npm package axe-core; the script run fetches it.
func TestAxe(t *testing.T) {
	axe := axeScript(t)
	w := newWorld(t)
	w.populate()
	places := w.places()
	for n, name := range slices.Sorted(maps.Keys(places)) {
		for _, look := range looks(n) {
			t.Run(fmt.Sprintf("%s-%d-%s", name, look.width, look.scheme), func(t *testing.T) {
				p := open(t, w.srv.URL(), places[name], look)
				p.rest()
				p.keepsNobodyOut(axe)
			})
		}
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
