// Package e2e looks at the console with a real browser: Chromium, without a
// window. The tests are skipped where there is none, unless E2E=require.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long anything in the browser may take on a busy machine.
const patience = 60 * time.Second

// browser is one Chromium for all tests; each page has a profile of its own.
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
	ctx, stop, err := start(path, os.Geteuid() != 0) // for root there is no sandbox
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
		chromedp.Flag("ignore-certificate-errors", true), // of proxies with TLS
		// Another site's name leads to this machine, so that what a mail loads can be seen.
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
	if err := chromedp.Do(ctx); err != nil { // starts it
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

// view is the size, theme and browser for a test of the console.
type view struct {
	width  int64
	scheme string // light or dark
}

// open opens the console at a hash. Whatever the browser complains of fails the test.
func open(t *testing.T, base, hash string, v view) *page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	p := &page{t, ctx, base}
	_, err := chromedp.Call(
		ctx,
		emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: v.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}},
	)
	if err != nil {
		t.Fatal(err)
	}
	p.complain()
	p.do(chromedp.EmulateViewport(v.width, 800), chromedp.Navigate(base+"/_mock/"+hash))
	p.until(`document.querySelector('.dot') && document.querySelector('.live[data-state=live]')`)
	return p
}

// complain fails the test for an exception or a violated policy of the console's own pages.
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
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

// until waits for a condition of the page.
func (p *page) until(js string) {
	p.Helper()
	if _, err := chromedp.Run(p.ctx,
		chromedp.Poll[bool](`!!(`+js+`)`, chromedp.WithPollingTimeout(patience/3))); err != nil {
		p.Fatalf("waiting for %s: %v\nthe page says: %s", js, err, p.text("body"))
	}
}

// says waits for a text within what the selector finds first.
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
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", js, err)
	}
	return v
}

// press types keys, one after the other.
func (p *page) press(keys string) {
	p.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// spot is the middle of the first element of a kind that holds a text, once it
// is seen, rests, can be used, and nothing covers it.
const spot = `(async (kind, text) => {
	const frame = () => new Promise(requestAnimationFrame);
	for (let last = ''; ; await frame()) {
		const e = [...document.querySelectorAll(kind)].find(e => e.textContent.includes(text) && e.checkVisibility() && !e.disabled);
		if (!e) continue;
		e.scrollIntoView({ block: 'nearest' });
		const r = e.getBoundingClientRect(), at = [r.x + r.width / 2, r.y + r.height / 2];
		const top = document.elementFromPoint(...at);
		const now = JSON.stringify(at);
		if (now === last && top && (e.contains(top) || top.contains(e))) return at;
		last = now;
	}
})(%q, %q)`

// click clicks the first element of a kind that holds the text.
func (p *page) click(kind, text string) {
	p.Helper()
	at := eval[[]float64](p, fmt.Sprintf(spot, kind, text))
	p.do(chromedp.MouseClickXY(at[0], at[1]))
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

// goTo goes to another place of the console.
func (p *page) goTo(hash string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = %q`, hash)))
}
