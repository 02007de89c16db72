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

	"example.com/emailplatform/mockserver"
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
	t.Run("empty", func(t *testing.T) { newWorld(t).pictures(bare(), views()...) })
	t.Run("accounts", func(t *testing.T) {
		w := newWorld(t, mockserver.Token{Token: "one"}, mockserver.Token{Token: "two", AccountID: 2})
		w.pictures(map[string]scene{"accounts": {"#/inbox?account=2", nil}}, views()...)
	})
	t.Run("lost", func(t *testing.T) {
		for _, v := range views() {
			w := newWorld(t)
			w.send("ada@example.org", "Hello", order)
			w.pictures(map[string]scene{"no-server": {"#/inbox/latest", func(p *page) { w.srv.Close(); p.says("[role=alert]", "No server") }}}, v)
		}
	})
	t.Run("day", func(t *testing.T) {
		w := newWorld(t)
		crm := w.hooks()
		w.morning()
		w.day(crm)
		w.pictures(w.scenes(), views()...)
	})
}

// views are how pictures are made: at two widths, light and dark.
func views() []view {
	return []view{{1280, "light"}, {1280, "dark"}, {400, "light"}, {400, "dark"}}
}

// pictures makes pictures of each scene.
func (w *world) pictures(all map[string]scene, views ...view) {
	w.Helper()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, v := range views {
			w.Run(fmt.Sprintf("%s-%d-%s", name, v.width, v.scheme), func(t *testing.T) {
				p := open(t, w.srv.URL(), all[name].hash, v)
				p.show(all[name])
				p.picture(filepath.Base(t.Name()))
			})
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
