package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var shots = flag.String("shots", "", "`folder` to write the pictures of the README to")

// TestScreenshots takes the pictures of the README. The script screenshots runs it.
func TestScreenshots(t *testing.T) {
	if *shots == "" {
		t.Skip("no -shots: see the script screenshots")
	}
	w := newWorld(t)
	crm := w.hooks()
	w.morning()
	w.day(crm)
	places := w.places()
	for name, scheme := range map[string]string{"overview": "light", "inbox": "light", "deliveries": "dark", "faults": "light"} {
		p := open(t, w.srv.URL(), places[name], view{1280, scheme})
		p.rest()
		picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		w.check(err)
		w.check(os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644))
	}
}
