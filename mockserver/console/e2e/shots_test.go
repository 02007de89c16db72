package e2e

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

var shots = flag.String("shots", "", "`folder` to write a picture of every place to")

func placesOf(message, delivery, request, event string, list, contact int64) map[string]string {
	return map[string]string{
		"inbox":           "#/inbox/" + message,
		"inbox-text":      "#/inbox/" + message + "/text",
		"inbox-source":    "#/inbox/" + message + "/source",
		"inbox-headers":   "#/inbox/" + message + "/headers",
		"inbox-history":   "#/inbox/" + message + "/history",
		"inbox-checks":    "#/inbox/" + message + "/checks",
		"inbox-list":      "#/inbox",
		"inbox-compact":   "#/inbox?density=compact",
		"contacts":        fmt.Sprintf("#/contacts/%d/%d", list, contact),
		"contacts-list":   "#/contacts",
		"suppressed":      "#/suppressed",
		"deliveries":      "#/deliveries/" + delivery,
		"deliveries-body": "#/deliveries/" + delivery + "/body",
		"signature":       "#/deliveries/" + delivery + "/signature",
		"webhooks":        "#/deliveries/webhooks",
		"hooks-compact":   "#/deliveries/webhooks?density=compact",
		"no-account":      "#/inbox?account=77",
		"events":          "#/events/" + event,
		"events-list":     "#/events",
		"requests":        "#/requests/" + request,
		"requests-list":   "#/requests",
		"faults":          "#/faults",
		"trigger":         "#/trigger",
	}
}

// TestScreenshots pictures every place; see the script screenshots.
func TestScreenshots(t *testing.T) {
	if *shots == "" {
		t.Skip("no -shots: see the script screenshots")
	}
	w := newWorld(t)
	crm := w.hooks()
	w.morning()
	w.day(crm)
	places := w.places()
	for _, width := range []int64{1280, 400} {
		for _, scheme := range []string{"light", "dark"} {
			for _, name := range slices.Sorted(maps.Keys(places)) {
				t.Run(fmt.Sprintf("%s-%d-%s", name, width, scheme), func(t *testing.T) {
					p := open(t, w.srv.URL(), places[name], view{width, scheme})
					p.rest()
					p.picture(filepath.Base(t.Name()))
				})
			}
		}
	}
}

// rest waits until nothing is loading and the frames are painted.
func (p *page) rest() {
	p.Helper()
	p.until(`!document.querySelector('[aria-busy]')`)
	eval[bool](
		p,
		`Promise.all([...document.querySelectorAll('iframe')].map(f => new Promise(done => { f.addEventListener('load', done); setTimeout(done, 700); }))).then(() => new Promise(done => setTimeout(() => done(true), 150)))`,
	)
}

// picture writes what is seen to a file, if pictures are wanted.
func (p *page) picture(name string) {
	p.Helper()
	if *shots == "" {
		return
	}
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644)
	}
	if err != nil {
		p.Fatal(err)
	}
}
