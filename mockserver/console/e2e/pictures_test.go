package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"example.com/emailplatform/mockserver"
)

var pictures = flag.String("pictures", "", "`directory` to write the pictures of the documents to; their texts go to testdata/pictures.txt")

// texts has the text of the page of each picture.
const texts = "testdata/pictures.txt"

// changing are the parts of the text that differ in each run: ids, ports and measured durations.
var changing = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|127\.0\.0\.1:\d+|\d[\d.]* [µm]s\b`)

// TestPictures checks that the pictures of the documents show the console as it is. It compares the texts of the pages
// instead of the pixels, because the fonts differ between machines. With -pictures, it makes the pictures.
func TestPictures(t *testing.T) {
	f := newFixture(t)
	f.srv.FreezeClock() // each run shows the same times
	f.check(f.srv.SetNow(time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)))
	f.seedShop()
	retried := f.failDelivery()
	f.createOrders()
	f.createDay()
	got := ""
	for _, picture := range []struct{ name, place, scheme string }{
		{"retries", "deliveries/" + retried, "light"},
		{"inbox", "inbox/" + f.lastTo("ada@example.org"), "light"},
		{"overview", "overview", "light"},
		{"faults", "faults", "dark"},
	} {
		p := open(t, f.srv.URL(), "#/overview", view{1280, picture.scheme})
		_, err := chromedp.Call(p.ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"})
		p.check(err)
		p.reload()
		p.visit("#/" + picture.place)
		got += fmt.Sprintf("# %s\n%s\n\n", picture.name, changing.ReplaceAllString(p.text("body"), "…"))
		if *pictures != "" {
			shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
			p.check(err)
			f.save("console-"+picture.name+".png", shot)
		}
	}
	if *pictures != "" {
		f.check(os.WriteFile(texts, []byte(got), 0o644))
	}
	want, err := os.ReadFile(texts)
	f.check(err)
	if got != string(want) {
		t.Errorf("%s differs, so the pictures are out of date: see the flag -pictures in CONTRIBUTING.md\n%s", texts, difference(string(want), got))
	}
}

// save writes a picture with its 256 most frequent colors, because such a file is three times smaller.
func (f *fixture) save(name string, shot []byte) {
	f.Helper()
	full, err := png.Decode(bytes.NewReader(shot))
	f.check(err)
	counts := map[color.Color]int{}
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			counts[full.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return counts[b] - counts[a] })
	small := image.NewPaletted(full.Bounds(), colors[:min(256, len(colors))])
	draw.Draw(small, small.Bounds(), full, image.Point{}, draw.Src)
	file, err := os.Create(filepath.Join(*pictures, name))
	f.check(err)
	f.check((&png.Encoder{CompressionLevel: png.BestCompression}).Encode(file, small))
	f.check(file.Close())
}

// difference returns the first lines that differ.
func difference(want, got string) string {
	lines := strings.Split(want, "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(lines) || line != lines[i] {
			return fmt.Sprintf("line %d is %q now", i+1, line)
		}
	}
	return "the end is missing"
}

// failDelivery sends an order whose address does not exist. The receiver fails to handle the bounce event, and recovers
// later. failDelivery returns the id of the delivery.
func (f *fixture) failDelivery() string {
	f.Helper()
	f.status.Store(http.StatusServiceUnavailable)
	f.check(f.srv.Bounce(f.send("tove@example.org", "Your order is on its way", order), mockserver.HardBounce))
	f.settle()
	f.check(f.srv.Advance(f.Context(), 30*time.Minute))
	f.status.Store(0)
	f.check(f.srv.Advance(f.Context(), 3*time.Hour))
	for _, d := range f.srv.Deliveries() {
		if len(d.Attempts) == 3 && d.WebhookID == "601" {
			return d.ID
		}
	}
	f.Fatal("no delivery has three attempts")
	return ""
}

// createOrders creates orders within an hour and opens some of the emails to fill the timeline.
func (f *fixture) createOrders() {
	f.Helper()
	for minute := range 57 {
		for n := range []int{1, 0, 2, 3, 1, 4, 2}[minute%7] + minute/20 {
			id := f.send(fmt.Sprintf("reader%d.%d@example.net", minute, n), fmt.Sprintf("Your order 10 %d", 400+minute), order)
			if n%2 == 0 {
				f.check(f.srv.Open(id))
			}
			if n == 1 && minute%3 == 0 {
				f.check(f.srv.Bounce(id, mockserver.SoftBounce))
			}
		}
		f.settle()
		f.status.Store(map[bool]int64{true: http.StatusBadGateway}[minute > 30 && minute < 34])
		f.check(f.srv.Advance(f.Context(), time.Minute))
	}
	f.status.Store(0)
}
