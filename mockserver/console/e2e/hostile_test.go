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

// otherServer simulates all other hosts and records their requests.
type otherServer struct {
	*httptest.Server
	mu        sync.Mutex
	requested []string
}

func newOtherServer(t *testing.T) *otherServer {
	o := &otherServer{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.requested = append(o.requested, r.Host+r.URL.Path)
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *otherServer) port() string { return o.URL[strings.LastIndexByte(o.URL, ':')+1:] }

func (o *otherServer) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.requested...)
}

// openHostile opens an email that contains the URL of another server.
func openHostile(t *testing.T, subject, html string) (*fixture, *page, *otherServer) {
	t.Helper()
	f, other := newFixture(t), newOtherServer(t)
	id := f.send("mallory@example.org", subject, strings.ReplaceAll(html, "PORT", other.port()))
	p := open(t, f.srv.URL(), "#/inbox/"+id, desktop)
	p.until(`document.querySelector('iframe')`)
	p.waitUntilIdle()
	return f, p, other
}

func TestHostileMail(t *testing.T) {
	f, p, other := openHostile(t, `<img src=x onerror="document.title='PWNED'"><script>document.title='PWNED'</script>`, hostile)
	p.do(chromedp.MouseClickXY(700, 500), chromedp.KeyEvent("\t\t\r"), chromedp.Sleep(time.Second))
	for _, part := range []string{"text", "source", "headers", "history", "html"} {
		p.goTo("#/inbox/" + f.srv.Outbox()[0].ID + "/" + part)
		p.until(`document.querySelector('[role=tab][aria-selected=true]')?.textContent.toLowerCase().startsWith("` + part + `")`)
	}
	p.waitUntilIdle()
	f.unchanged(p)
	p.equal(other.requests(), "[]")
}

// unchanged fails if an email changed the console or the platform.
func (f *fixture) unchanged(p *page) {
	f.Helper()
	p.equal(eval[string](p, `document.title`), "Inbox · mockserver")
	p.equal(eval[int](p, `document.querySelectorAll('.head img, .rows img, .head script, .rows script').length`), 0)
	p.equal(eval[string](p, `location.origin`), f.srv.URL())
	p.equal(len(f.srv.Outbox()), 1)                                                                                 // not reset
	p.until(`(() => { try { return !document.querySelector('iframe').contentDocument } catch { return true } })()`) // the email has another origin
}

// TestRemoteContentWhenAsked: remote images are loaded only on request, and other remote content is never loaded.
func TestRemoteContentWhenAsked(t *testing.T) {
	f, p, other := openHostile(t, "Hello", hostile[strings.Index(hostile, "<body"):])
	p.equal(other.requests(), "[]")
	p.click("label", "Remote images")
	for start := time.Now(); time.Since(start) < actionTimeout/3 && !strings.Contains(fmt.Sprint(other.requests()), "/track.png"); {
		p.do(chromedp.Sleep(50 * time.Millisecond))
	}
	p.contains(fmt.Sprint(other.requests()), "/track.png")
	for _, request := range other.requests() {
		if !strings.HasSuffix(request, ".png") && !strings.HasSuffix(request, "/poster") {
			t.Errorf("loaded %s", request)
		}
	}
	f.unchanged(p)
}

// TestHostileSubject: a subject of any length leaves room for the email, and its invisible characters are shown.
func TestHostileSubject(t *testing.T) {
	f := newFixture(t)
	id := f.send("ada@example.org", "Pay \u202egpj.exe\u200b now "+strings.Repeat("long ", 180), order)
	f.subscribe("/hook", "Email.Opened")
	f.opens(id)
	p := open(t, f.srv.URL(), "#/inbox/"+id, phone)
	p.says(".head h2", "U+202E", "U+200B")
	p.until(`document.querySelector('.head h2').getBoundingClientRect().height < 90`)
	p.until(`!/[\u202e\u200b]/.test(document.querySelector('.head h2').textContent)`)
	for _, place := range []string{"inbox", "deliveries", "events"} {
		p.goTo("#/"+place).says(".rows", "U+202E")
		p.until(`[...document.querySelectorAll('.rows a')].every(a => a.offsetHeight < 80)`)
	}
}

// TestHostileNames: markup and control characters in names, requests and faults are shown as text, including in dialogs
// and messages.
func TestHostileNames(t *testing.T) {
	f := newFixture(t)
	const markup = "pay\u202egpj" + `<img src=x onerror="document.title='PWNED'">`
	_, err := f.srv.Inject(mockserver.Fault{Operation: "listTags", Action: mockserver.FaultStatus, Status: 418, Body: markup})
	f.check(err)
	f.ask("GET", "/tags?q="+url.QueryEscape(markup), "")
	f.ask("POST", "/v2/emails", `{"`+strings.ReplaceAll(markup, `"`, `\"`)+`":1}`)
	template := f.template(markup, "<p>x</p>", "")
	list := f.list(markup, reader("x@example.org", markup, markup))
	f.draft(list.ID, markup, client.MessageContent{Subject: markup, TemplateID: template})
	p := open(t, f.srv.URL(), fmt.Sprintf("#/templates/%d", template), desktop)
	p.click("button", "Edit").says("dialog h2", "U+202E")
	p.click("dialog button", "Save").says(".toast", "U+202E")
	for _, r := range f.srv.Requests() {
		p.goTo("#/requests/"+r.ID+"/response").says(".detail .meta", r.ID)
	}
	for _, view := range []struct{ place, selector, text string }{
		{"overview", "h1", "Overview"},
		{"faults", ".rules", "418"},
		{"contacts", ".rows", "<img src=x"},
		{"lists", ".cards", "U+202E"},
		{"templates", ".rows", "<img src=x"},
		{"campaigns", ".rows", "<img src=x"},
	} {
		p.goTo("#/"+view.place).says(view.selector, view.text)
		p.equal(eval[int](p, `document.querySelectorAll('main img').length`), 0)
	}
	p.equal(eval[string](p, `document.title`), "Campaigns · mockserver")
}
