// Package e2e tests the console with a real browser, headless Chromium. Without Chromium, the tests are skipped,
// unless E2E=require.
package e2e

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"example.com/emailplatform/mockserver"
)

// actionTimeout is the time limit for one action in the browser on a busy machine.
const actionTimeout = 60 * time.Second

// browser is one Chromium for all tests. Each page has its own profile.
var browser context.Context

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	path, err := exec.LookPath(cmp.Or(os.Getenv("CHROME"), "chromium"))
	if err != nil {
		fmt.Println("no Chromium here, so the console is not tested: apt-get install chromium, or set CHROME")
		if os.Getenv("E2E") == "require" {
			return 1
		}
		return 0
	}
	ctx, stop, err := startBrowser(path, os.Geteuid() != 0) // root has no sandbox
	if err != nil && strings.Contains(err.Error(), "No usable sandbox") {
		fmt.Println("Chromium gets no sandbox here, because this user may not create namespaces: it runs without one")
		ctx, stop, err = startBrowser(path, false)
	}
	if err != nil {
		fmt.Println("Chromium does not start:", err)
		return 1
	}
	defer stop()
	browser = ctx //nolint:fatcontext // it lives as long as the tests
	return m.Run()
}

// startBrowser starts Chromium with a new profile. The sandbox is optional, because the browser opens only pages
// of these tests.
func startBrowser(path string, sandbox bool) (ctx context.Context, stop func(), err error) {
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

// test is a test whose method check ends the test after an error.
type test struct{ *testing.T }

func (t test) check(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// equal fails the test if two values differ when they are printed.
func (t test) equal(got, want any) {
	t.Helper()
	if got, want := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func (t test) contains(text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("no %q in %.500s", part, text)
	}
}

// page is one tab with the console. Its methods return the page, so that one line can contain an action and its
// result.
type page struct {
	test
	ctx     context.Context
	actions int // clicks, key presses, choices, and typed or pasted texts
}

// view is the size and theme for a test of the console.
type view struct {
	width  int64
	scheme string // light or dark
}

var desktop, phone = view{1280, "light"}, view{400, "light"}

// functions is JavaScript for the tests.
//
//go:embed testdata/page.js
var functions string

// newTab opens an empty tab with its own profile.
func newTab(t *testing.T) *page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &page{test: test{t}, ctx: ctx}
	p.check(chromedp.Do(ctx))
	return p
}

// start starts a mock server and opens its console at a hash.
func start(t *testing.T, hash string, tokens ...mockserver.Token) (*fixture, *page) {
	t.Helper()
	f := newFixture(t, tokens...)
	return f, open(t, f.srv.URL(), hash, desktop)
}

// open opens the console at a hash. An error in the browser fails the test.
func open(t *testing.T, base, hash string, v view) *page {
	t.Helper()
	p := newTab(t)
	p.emulate(emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: v.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	_, err := chromedp.Call(p.ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: functions})
	p.check(err)
	p.check(chromedp.Listen(p.ctx, p.failOnError))
	p.bringToFront()
	p.do(chromedp.EmulateViewport(v.width, 800), chromedp.Navigate(base+"/_mock/"+hash))
	p.until(`document.querySelector('.dot') && document.querySelector('.live[data-state=live]')`)
	return p
}

// bringToFront shows the tab, because Chromium paints no frames in a tab that it takes for hidden.
func (p *page) bringToFront() {
	p.Helper()
	_, err := chromedp.Call(p.ctx, cdppage.BringToFront, cdp.Empty{})
	p.check(err)
	_, err = chromedp.Call(p.ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.check(err)
}

func (p *page) emulate(media emulation.SetEmulatedMediaParams) {
	p.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media)
	p.check(err)
}

// failOnError fails the test for an exception or a policy violation in the console's own pages.
func (p *page) failOnError(ev any) {
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		p.Errorf("exception: %v", e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" && strings.HasSuffix(e.Entry.URL, ".js") {
			p.Errorf("%s: %s", e.Entry.URL, e.Entry.Text)
		}
	}
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, actionTimeout)
	defer cancel()
	p.check(chromedp.Do(ctx, steps...))
}

// until waits until a JavaScript condition is true.
func (p *page) until(js string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, actionTimeout)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`!!(`+js+`)`, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(actionTimeout/3))); err != nil {
		p.Fatalf("waiting for %s: %v\nthe page contains: %s", js, err, p.text("body"))
	}
}

// says waits until the first element of the selector contains the texts.
func (p *page) says(selector string, texts ...string) *page {
	p.Helper()
	for _, text := range texts {
		p.until(fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q)`, selector, text))
	}
	return p
}

func (p *page) text(selector string) string {
	p.Helper()
	return eval[string](p, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ''`, selector))
}

// fetch returns the resource that a frame or a link refers to.
func (p *page) fetch(selector string) string {
	p.Helper()
	return eval[string](p, fmt.Sprintf(`(e => fetch(e.src ?? e.href).then(r => r.text()))(document.querySelector(%q))`, selector))
}

func eval[T any](p *page, js string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, actionTimeout)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", js, err)
	}
	return v
}

// press types keys one by one.
func (p *page) press(keys string) *page {
	p.Helper()
	p.do(chromedp.KeyEvent(keys))
	p.actions++
	return p
}

// focused waits until an element that matches the selector has the focus.
func (p *page) focused(selector string) {
	p.Helper()
	p.until(fmt.Sprintf(`document.activeElement.matches(%q)`, selector))
}

// enter types keys when an element that matches the selector has the focus.
func (p *page) enter(selector, keys string) *page {
	p.Helper()
	p.focused(selector)
	return p.press(keys)
}

// command presses a key together with Control, and sends the browser's command for it.
func (p *page) command(key, command string) {
	p.Helper()
	code := strings.ToUpper(key)
	for _, event := range []input.DispatchKeyEventParams{
		{Type: "rawKeyDown", Key: "Control", Code: "ControlLeft", WindowsVirtualKeyCode: 17, Modifiers: 2},
		{Type: "rawKeyDown", Key: key, Code: "Key" + code, WindowsVirtualKeyCode: int64(code[0]), Modifiers: 2, Commands: []string{command}},
		{Type: "keyUp", Key: key, Code: "Key" + code, WindowsVirtualKeyCode: int64(code[0]), Modifiers: 2},
		{Type: "keyUp", Key: "Control", Code: "ControlLeft", WindowsVirtualKeyCode: 17},
	} {
		_, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, event)
		p.check(err)
		p.do(chromedp.Sleep(100 * time.Millisecond))
	}
	p.actions++
}

// paste copies a text to the clipboard and presses Ctrl+V.
func (p *page) paste(text string) *page {
	p.Helper()
	yes := true
	_, err := chromedp.Run(p.ctx, chromedp.Evaluate[any](fmt.Sprintf(`navigator.clipboard.writeText(%q)`, text),
		chromedp.EvalAwaitPromise, func(e *runtime.EvaluateParams) { e.UserGesture = &yes }))
	p.check(err)
	p.command("v", "paste")
	return p
}

// click clicks the first element of a kind that contains the text.
func (p *page) click(kind, text string) *page {
	p.Helper()
	return p.hit(fmt.Sprintf("spot(%q, %q)", kind, text))
}

// tick clicks the check box of a row.
func (p *page) tick(row int, options ...chromedp.MouseOption) *page {
	p.Helper()
	return p.hit(fmt.Sprintf(`boxOf(%d)`, row), options...)
}

// hit clicks an element. The argument aim is a JavaScript expression that returns its position. If the page has just moved, the
// click can miss the element. Until Chromium has drawn the page again, the click can also reach an iframe that the page has
// already removed. In both cases, hit repeats the click.
func (p *page) hit(aim string, options ...chromedp.MouseOption) *page {
	p.Helper()
	p.actions++
	for range 100 {
		p.clickAt(aim, options...)
		if eval[bool](p, `!aimed`) {
			return p
		}
		p.do(chromedp.Sleep(100 * time.Millisecond))
	}
	p.Fatalf("100 clicks missed %s", aim)
	return p
}

// clickAt clicks the coordinates that a JavaScript expression returns.
func (p *page) clickAt(js string, options ...chromedp.MouseOption) {
	p.Helper()
	at := eval[[]float64](p, js)
	p.do(chromedp.MouseClickXY(at[0], at[1], options...))
}

// clickFrame clicks into the frame of an email, at a distance in pixels from the middle of its upper edge.
func (p *page) clickFrame(right, down int, options ...chromedp.MouseOption) {
	p.Helper()
	p.until(`document.querySelector('iframe')`)
	p.waitUntilIdle()
	p.clickAt(fmt.Sprintf(`(r => [r.x + r.width / 2 + %d, r.y + %d])(document.querySelector('iframe').getBoundingClientRect())`, right, down), options...)
	p.actions++
}

// waitUntilIdle waits until nothing is loading and the frames are painted.
func (p *page) waitUntilIdle() {
	p.Helper()
	p.until(`!document.querySelector('[aria-busy]')`)
	eval[bool](p, `painted()`)
}

// goTo opens another view of the console, and waits until the page has followed the address.
func (p *page) goTo(hash string) *page {
	p.Helper()
	eval[bool](p, fmt.Sprintf(`goTo(%q)`, hash))
	return p
}

// fill replaces the value of a field.
func (p *page) fill(selector, text string) *page {
	p.Helper()
	eval[bool](p,
		`(() => { const e = document.querySelector(`+strconv.Quote(selector)+`); e.focus(); e.select(); return true })()`)
	p.press("\b")
	p.press(text)
	return p
}

// pick chooses an option of the select with a label.
func (p *page) pick(label, value string) *page {
	p.Helper()
	p.actions++
	p.until(fmt.Sprintf(`choose([...document.querySelectorAll('.pick')].find(e => e.textContent.startsWith(%q))?.querySelector('select'), %q)`, label, value))
	return p
}

// pickIn chooses an option of the first select of a selector.
func (p *page) pickIn(selector, value string) *page {
	p.Helper()
	p.actions++
	p.until(fmt.Sprintf(`choose(document.querySelector(%q), %q)`, selector, value))
	return p
}

// rows waits until a list has n rows.
func (p *page) rows(n int) {
	p.Helper()
	p.until(fmt.Sprintf(
		`Number(document.querySelector('.rows li')?.ariaSetSize ?? document.querySelectorAll('.page tbody tr').length) === %d`, n))
}

// reload reloads the page.
func (p *page) reload() *page {
	p.Helper()
	p.do(chromedp.Reload())
	p.until(`document.querySelector('.live[data-state=live]')`)
	return p
}

func focus(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).focus()`, selector))
}
