package e2e

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// hostile is an email that tries to run scripts, load content and leave its frame.
//
//go:embed testdata/hostile.html
var hostile string

// outside simulates all other hosts and records their requests.
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
	p := open(t, w.srv.URL(), "#/inbox/"+id, desk)
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

// unharmed fails if an email changed the console or the platform.
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

// TestRemoteContentWhenAsked: remote images are loaded only on request, and other remote content never.
func TestRemoteContentWhenAsked(t *testing.T) {
	w, evil := newWorld(t), newOutside(t)
	id := w.send("mallory@example.org", "Hello",
		strings.ReplaceAll(hostile[strings.Index(hostile, "<body"):], "PORT", evil.port()))
	p := open(t, w.srv.URL(), "#/inbox/"+id, desk)
	p.until(`document.querySelector('iframe')`)
	p.rest()
	if asked := evil.requests(); len(asked) > 0 {
		t.Errorf("loaded without a request of the user: %q", asked)
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

// TestHostileSubject: a subject of any length leaves room for the email. Invisible characters in it are shown.
func TestHostileSubject(t *testing.T) {
	w := newWorld(t)
	id := w.send("ada@example.org", "Pay \u202egpj.exe\u200b now "+strings.Repeat("long ", 180), order)
	w.subscribe("/hook", "Email.Opened")
	w.check(w.srv.Open(id))
	w.settle()
	p := open(t, w.srv.URL(), "#/inbox/"+id, phone)
	p.says(".head h2", "U+202E")
	p.says(".head h2", "U+200B")
	p.until(`document.querySelector('.head h2').getBoundingClientRect().height < 90`)
	if text := eval[string](p, `document.querySelector('.head h2').textContent`); strings.ContainsAny(text, "\u202e\u200b") {
		t.Errorf("the heading contains invisible characters: %q", text[:40])
	}
	for _, place := range []string{"inbox", "deliveries", "events"} {
		p.goTo("#/" + place)
		p.says(".rows", "U+202E")
		p.until(`[...document.querySelectorAll('.rows a')].every(a => a.offsetHeight < 80)`)
	}
}

// TestHostileNames: markup and control characters in names, requests and faults are shown as text, including in dialogs
// and messages.
func TestHostileNames(t *testing.T) {
	w := newWorld(t)
	const markup = "pay\u202egpj" + `<img src=x onerror="document.title='PWNED'">`
	_, err := w.srv.Inject(mockserver.Fault{Operation: "listTags", Action: mockserver.FaultStatus, Status: 418, Body: markup})
	w.check(err)
	w.ask("GET", "/tags?q="+url.QueryEscape(markup), "")
	w.ask("POST", "/v2/emails", `{"`+strings.ReplaceAll(markup, `"`, `\"`)+`":1}`)
	template := w.template(markup, "<p>x</p>", "")
	list := w.list(markup, reader("x@example.org", markup, markup))
	w.draft(list.ID, markup, client.MessageContent{Subject: markup, TemplateID: template})
	p := open(t, w.srv.URL(), fmt.Sprintf("#/templates/%d", template), desk)
	p.click("button", "Edit")
	p.says("dialog h2", "U+202E")
	p.click("dialog button", "Save")
	p.says(".toast", "U+202E")
	for _, r := range w.srv.Requests() {
		p.goTo("#/requests/" + r.ID + "/response")
		p.says(".detail .meta", r.ID)
	}
	for _, view := range []struct{ place, selector, text string }{
		{"overview", "h1", "Overview"},
		{"faults", ".rules", "418"},
		{"contacts", ".rows", "<img src=x"},
		{"lists", ".cards", "U+202E"},
		{"templates", ".rows", "<img src=x"},
		{"campaigns", ".rows", "<img src=x"},
	} {
		p.goTo("#/" + view.place)
		p.says(view.selector, view.text)
		if n := eval[int](p, `document.querySelectorAll('main img').length`); n > 0 {
			t.Errorf("%s: %d pictures", view.place, n)
		}
	}
	if title := eval[string](p, `document.title`); title != "Campaigns · mockserver" {
		t.Errorf("the title is %s", title)
	}
}
