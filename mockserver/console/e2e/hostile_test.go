package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/emailplatform/mockserver"
)

// hostile is a mail that tries to run something, to load something and to get out.
const hostile = `<!doctype html><html><head>
<meta http-equiv="refresh" content="0;url=http://evil.example:PORT/refresh">
<base href="http://evil.example:PORT/"><link rel="stylesheet" href="http://evil.example:PORT/a.css"><link rel="preload" as="image" href="http://evil.example:PORT/preload.png">
<link rel="dns-prefetch" href="//evil.example"><link rel="prefetch" href="http://evil.example:PORT/prefetch">
<style>@import "http://evil.example:PORT/b.css"; @font-face { font-family: x; src: url(http://evil.example:PORT/font.woff) } body { background: url(http://evil.example:PORT/bg.png); font: 15px x, sans-serif; padding: 20px }</style>
</head><body onload="parent.document.title='PWNED'" background="http://evil.example:PORT/body.png">
<script>top.location='http://evil.example:PORT/top';parent.postMessage('pwned','*');fetch('/_mock/state',{method:'DELETE'})</script>
<script src="http://evil.example:PORT/x.js"></script>
<img src=x onerror="parent.document.title='PWNED'"><img src="http://evil.example:PORT/track.png" srcset="http://evil.example:PORT/track2.png 2x">
<svg onload="alert(1)"><image href="http://evil.example:PORT/svg.png"/><use href="http://evil.example:PORT/use.svg#x"/></svg>
<iframe src="http://evil.example:PORT/frame"></iframe><iframe srcdoc="<script>top.document.title='PWNED'</script>"></iframe>
<object data="http://evil.example:PORT/object"></object><embed src="http://evil.example:PORT/embed"><video src="http://evil.example:PORT/video" poster="http://evil.example:PORT/poster" autoplay></video><audio src="http://evil.example:PORT/audio" autoplay></audio>
<form action="/_mock/state" method="post"><button id="submit" autofocus>submit me</button></form>
<a id="script" href="javascript:parent.document.title='PWNED'">a javascript link</a>
<a id="top" target="_top" href="http://evil.example:PORT/top">a link out of the frame</a>
<p>A mail that tries everything. Nothing may leave this frame.</p></body></html>`

// outside is everything that is not this machine: it notes what is asked for.
type outside struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newOutside(t *testing.T) *outside {
	o := &outside{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.asked = append(o.asked, r.Host+r.URL.Path)
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *outside) port() string { return o.URL[strings.LastIndexByte(o.URL, ':')+1:] }

func (o *outside) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.asked...)
}

func TestHostileMail(t *testing.T) {
	w, evil := newWorld(t), newOutside(t)
	id := w.send("mallory@example.org",
		`<img src=x onerror="document.title='PWNED'"><script>document.title='PWNED'</script>`,
		strings.ReplaceAll(hostile, "PORT", evil.port()))
	p := open(t, w.srv.URL(), "#/inbox/"+id, view{1280, "light"})
	p.until(`document.querySelector('iframe')`)
	p.rest()
	p.do(chromedp.MouseClickXY(700, 500), chromedp.KeyEvent("\t\t\r"), chromedp.Sleep(time.Second))
	for _, part := range []string{"text", "source", "headers", "history", "html"} {
		p.goTo("#/inbox/" + id + "/" + part)
		p.until(
			`document.querySelector('[role=tab][aria-selected=true]')?.textContent.toLowerCase().startsWith("` + part + `")`)
	}
	p.rest()
	w.unharmed(p)
	if asked := evil.requests(); len(asked) > 0 {
		t.Errorf("the mail loaded %q", asked)
	}
}

// unharmed fails if a mail did something to the console or to the platform.
func (w *world) unharmed(p *page) {
	w.Helper()
	if title := eval[string](p, `document.title`); title != "Inbox · mockserver" {
		w.Errorf("the page's title is %q", title)
	}
	if n := eval[int](p, `document.querySelectorAll('.head img, .rows img, .head script, .rows script').length`); n > 0 {
		w.Errorf("%d elements came from a subject", n)
	}
	if address := eval[string](p, `location.origin`); address != w.srv.URL() {
		w.Errorf("the page is at %s", address)
	}
	if len(w.srv.Outbox()) == 0 {
		w.Error("the mail reset the platform")
	}
	inside := eval[string](
		p,
		`(() => { try { return String(document.querySelector('iframe').contentDocument?.title) } catch { return 'undefined' } })()`,
	)
	if inside != "undefined" {
		w.Errorf("the page can look into the mail: %q", inside)
	}
}

// What is remote is loaded when it is asked for, and then pictures only.
func TestRemoteContentWhenAsked(t *testing.T) {
	w, evil := newWorld(t), newOutside(t)
	id := w.send("mallory@example.org", "Hello",
		strings.ReplaceAll(hostile[strings.Index(hostile, "<body"):], "PORT", evil.port()))
	p := open(t, w.srv.URL(), "#/inbox/"+id, view{1280, "light"})
	p.until(`document.querySelector('iframe')`)
	p.rest()
	if asked := evil.requests(); len(asked) > 0 {
		t.Errorf("loaded before it was asked for: %q", asked)
	}
	p.click("label", "Remote images")
	for deadline := time.Now().Add(patience / 3); !strings.Contains(fmt.Sprint(evil.requests()), "/track.png"); {
		if time.Now().After(deadline) {
			t.Fatalf("the picture is not loaded: %q", evil.requests())
		}
		p.do(chromedp.Sleep(50 * time.Millisecond))
	}
	for _, asked := range evil.requests() {
		if !strings.HasSuffix(asked, ".png") && !strings.HasSuffix(asked, "/poster") {
			t.Errorf("loaded %s", asked)
		}
	}
	w.unharmed(p)
}

// Text from a receiver, a fault or a request is text.
func TestHostileTextElsewhere(t *testing.T) {
	w := newWorld(t)
	const markup = `<img src=x onerror="document.title='PWNED'">`
	_, err := w.srv.Inject(mockserver.Fault{Operation: "listTags", Action: mockserver.FaultStatus, Status: 418, Body: markup})
	w.check(err)
	w.ask("GET", "/tags?"+"q="+"%3Cimg%20src=x%20onerror=%22document.title='PWNED'%22%3E", "")
	w.ask("POST", "/v2/emails", `{"`+strings.ReplaceAll(markup, `"`, `\"`)+`":1}`)
	_, err = w.sdk.Lists.List(t.Context(), listParams)
	w.check(err)
	w.list(markup, reader("x@example.org", markup, markup))
	p := open(t, w.srv.URL(), "#/requests", view{1280, "light"})
	for _, r := range w.srv.Requests() {
		p.goTo("#/requests/" + r.ID + "/response")
		p.says(".detail .meta", r.ID)
	}
	p.goTo("#/faults")
	p.says(".rules", "418")
	p.goTo("#/contacts")
	p.says(".rows", markup)
	if n := eval[int](p, `document.querySelectorAll('main img').length`); n > 0 ||
		eval[string](p, `document.title`) != "Contacts · mockserver" {
		t.Errorf("%d pictures, title %s", n, eval[string](p, `document.title`))
	}
}

// A subject of any length leaves room for the mail, and what cannot be seen is shown.
func TestHostileSubject(t *testing.T) {
	w := newWorld(t)
	id := w.send("ada@example.org", "Pay \u202egpj.exe\u200b now "+strings.Repeat("long ", 180), order)
	w.subscribe("/hook", "Email.Opened")
	w.check(w.srv.Open(id))
	w.settle()
	p := open(t, w.srv.URL(), "#/inbox/"+id, view{400, "light"})
	p.says(".head h2", "U+202E")
	p.says(".head h2", "U+200B")
	p.until(`document.querySelector('.head h2').getBoundingClientRect().height < 90`)
	if text := eval[string](p, `document.querySelector('.head h2').textContent`); strings.ContainsAny(text, "\u202e\u200b") {
		t.Errorf("the heading holds what is not seen: %q", text[:40])
	}
	for _, place := range []string{"inbox", "deliveries", "events"} {
		p.goTo("#/" + place)
		p.says(".rows", "U+202E")
		p.until(`[...document.querySelectorAll('.rows a')].every(a => a.offsetHeight < 80)`)
	}
}
