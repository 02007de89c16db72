// Package e2e tests the console with a real browser, headless Chromium. Without Chromium, the tests are skipped,
// unless E2E=require.
package e2e

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is the time limit for one action in the browser on a busy machine.
const patience = 60 * time.Second

// browser is one Chromium for all tests. Each page has its own profile.
var browser context.Context

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	path, err := exec.LookPath(env("CHROME", "chromium"))
	if err != nil {
		fmt.Println("no Chromium here, so the console is not tested: apt-get install chromium, or set CHROME")
		if os.Getenv("E2E") == "require" {
			return 1
		}
		return 0
	}
	ctx, stop, err := start(path, os.Geteuid() != 0) // root has no sandbox
	if err != nil && strings.Contains(err.Error(), "No usable sandbox") {
		fmt.Println("Chromium gets no sandbox here, because this user may not create namespaces: it runs without one")
		ctx, stop, err = start(path, false)
	}
	if err != nil {
		fmt.Println("Chromium does not start:", err)
		return 1
	}
	defer stop()
	browser = ctx //nolint:fatcontext // it lives as long as the tests
	return m.Run()
}

// start starts Chromium with a new profile. The browser opens only pages of these
// tests, so the sandbox is optional.
func start(path string, sandbox bool) (ctx context.Context, stop func(), err error) {
	profile, err := os.MkdirTemp("", "console-e2e-")
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("ignore-certificate-errors", true), // for proxies with TLS
		// Host names of other sites resolve to this machine, so tests can see the requests of an email.
		chromedp.Flag("host-resolver-rules", "MAP *.example 127.0.0.1"))
	if !sandbox {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, free := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	stop = func() {
		cancel()
		free()
		_ = os.RemoveAll(profile)
	}
	if err := chromedp.Do(ctx); err != nil { // starts the browser
		stop()
		return nil, nil, err
	}
	return ctx, stop, nil
}

func env(name, other string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return other
}

// page is one tab with the console.
type page struct {
	*testing.T
	ctx  context.Context
	base string
}

// view is the size and theme for a test of the console.
type view struct {
	width  int64
	scheme string // light or dark
}

var desk, phone = view{1280, "light"}, view{400, "light"}

// functions is JavaScript for the tests.
//
//go:embed testdata/page.js
var functions string

// newTab opens an empty tab with its own profile.
func newTab(t *testing.T, base string) *page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return &page{t, ctx, base}
}

// open opens the console at a hash. An error in the browser fails the test.
func open(t *testing.T, base, hash string, v view) *page {
	t.Helper()
	p := newTab(t, base)
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: v.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = chromedp.Call(p.ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: functions})
	if err != nil {
		t.Fatal(err)
	}
	p.complain()
	p.do(chromedp.EmulateViewport(v.width, 800), chromedp.Navigate(base+"/_mock/"+hash))
	p.until(`document.querySelector('.dot') && document.querySelector('.live[data-state=live]')`)
	return p
}

// complain fails the test for an exception or a policy violation in the console's own pages.
func (p *page) complain() {
	p.Helper()
	err := chromedp.Listen(p.ctx, func(ev any) {
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			p.Errorf("exception: %v", e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
		case *log.EventEntryAdded:
			if e.Entry.Level == "error" && strings.HasSuffix(e.Entry.URL, ".js") {
				p.Errorf("%s: %s", e.Entry.URL, e.Entry.Text)
			}
		}
	})
	if err != nil {
		p.Fatal(err)
	}
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

// until waits until a JavaScript condition is true.
func (p *page) until(js string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`!!(`+js+`)`, chromedp.WithPollingTimeout(patience/3))); err != nil {
		p.Fatalf("waiting for %s: %v\nthe page says: %s", js, err, p.text("body"))
	}
}

// says waits until the first element of the selector contains a text.
func (p *page) says(selector, text string) {
	p.Helper()
	p.until(fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q)`, selector, text))
}

func (p *page) text(selector string) string {
	p.Helper()
	return eval[string](p, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ''`, selector))
}

func eval[T any](p *page, js string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", js, err)
	}
	return v
}

// press types keys one by one.
func (p *page) press(keys string) {
	p.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// click clicks the first element of a kind that contains the text. The page ignores a click that misses the element
// because the page has moved. Then click repeats it. It returns the number of clicks.
func (p *page) click(kind, text string) (clicks int) {
	p.Helper()
	for clicks = 1; clicks <= 20; clicks++ {
		at := eval[[]float64](p, fmt.Sprintf("spot(%q, %q)", kind, text))
		p.do(chromedp.MouseClickXY(at[0], at[1]))
		if eval[bool](p, `!aimed`) {
			return clicks
		}
	}
	p.Fatalf("20 clicks missed %s with %q", kind, text)
	return 0
}

// rest waits until nothing is loading and the frames are painted.
func (p *page) rest() {
	p.Helper()
	p.until(`!document.querySelector('[aria-busy]')`)
	eval[bool](p, `painted()`)
}

// goTo opens another view of the console.
func (p *page) goTo(hash string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = %q`, hash)))
}

// fill replaces the value of a field.
func (p *page) fill(selector, text string) {
	p.Helper()
	eval[bool](p,
		`(() => { const e = document.querySelector(`+strconv.Quote(selector)+`); e.focus(); e.select(); return true })()`)
	p.press("\b")
	p.press(text)
}

// pick chooses an option of the select with a label.
func (p *page) pick(label, value string) {
	p.Helper()
	p.until(fmt.Sprintf(`choose([...document.querySelectorAll('.pick')].find(e => e.textContent.startsWith(%q))?.querySelector('select'), %q)`, label, value))
}

// pickIn chooses an option of the first select of a selector.
func (p *page) pickIn(selector, value string) {
	p.Helper()
	p.until(fmt.Sprintf(`choose(document.querySelector(%q), %q)`, selector, value))
}

// rows waits until a list has n rows.
func (p *page) rows(n int) {
	p.Helper()
	p.until(fmt.Sprintf(
		`Number(document.querySelector('.rows li')?.ariaSetSize ?? document.querySelectorAll('.page tbody tr').length) === %d`, n))
}

// reload reloads the page.
func (p *page) reload() {
	p.Helper()
	p.do(chromedp.Reload())
	p.until(`document.querySelector('.live[data-state=live]')`)
}

// tick selects a row.
func (p *page) tick(n int) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelectorAll('.rows .select input')[%d].click()`, n)))
}

func focus(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).focus()`, selector))
}
