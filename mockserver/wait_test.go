package mockserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
)

// WaitFor calls its function only after changes.
func TestWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, mockserver.Config{})
		start := time.Now()
		go func() {
			for range 3 {
				time.Sleep(time.Hour)
				p.email("ada@example.org")
			}
		}()
		asked := 0
		err := p.WaitFor(t.Context(), func() bool {
			asked++
			return len(p.OutboxTo("ADA@example.org")) == 3
		})
		must(t, err)
		if took := time.Since(start); took != 3*time.Hour {
			t.Errorf("it took %v, want the three hours of the application", took)
		}
		if asked > 10 { // once, and after each message and each request
			t.Errorf("f was asked %d times for three messages", asked)
		}
	})
}

func TestWaitForWakesOnEachChange(t *testing.T) {
	list := `{"name":"Customers"}`
	tests := []struct {
		name  string
		act   func(p probe)
		holds func(p probe) bool
	}{
		{
			name:  "a message",
			act:   func(p probe) { p.email("ada@example.org") },
			holds: func(p probe) bool { return len(p.Outbox()) == 1 },
		},
		{
			name:  "what a recipient does",
			act:   func(p probe) { p.open(p.email("ada@example.org")) },
			holds: func(p probe) bool { return len(p.Outbox()) == 1 && p.Outbox()[0].Opens == 1 },
		},
		{
			name: "a delivery that was made",
			act:  func(p probe) { p.open(p.email("ada@example.org")) },
			holds: func(p probe) bool {
				all := p.Deliveries()
				return len(all) == 1 && all[0].State == mockserver.DeliveryDelivered
			},
		},
		{
			name:  "an event that nobody hears",
			act:   func(p probe) { p.contact(p.list(), "ada@example.org") },
			holds: func(p probe) bool { return len(p.Events()) == 1 },
		},
		{
			name:  "a request that changes nothing",
			act:   func(p probe) { p.must("GET", "/lists", nil) },
			holds: func(p probe) bool { return p.Requests()[len(p.Requests())-1].Operation == "listLists" },
		},
		{
			name:  "a fault",
			act:   func(p probe) { _, _ = p.Inject(mockserver.Fault{Action: mockserver.FaultReset}) },
			holds: func(p probe) bool { return len(p.Faults()) == 1 },
		},
		{
			name:  "a reset",
			act:   func(p probe) { p.must("POST", "/lists", list); p.Reset() },
			holds: func(p probe) bool { return len(p.Requests()) == 0 },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProbe(t, mockserver.Config{Targets: receiver(), RecordEvents: true})
				p.webhook("Email.Opened")
				time.AfterFunc(time.Second, func() { tt.act(p) })
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := p.WaitFor(ctx, func() bool { return tt.holds(p) }); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// open simulates that the recipient opens an email.
func (p probe) open(email string) {
	p.t.Helper()
	if err := p.Open(email); err != nil {
		p.t.Error(err)
	}
}

func TestWaitForEnds(t *testing.T) {
	never := func() bool { return false }
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		end  func(*mockserver.Server)
		f    func() bool
		want string // "" means success
	}{
		{name: "it holds already", ctx: ended, f: func() bool { return true }},
		{name: "the context ended", ctx: ended, f: never, want: "wait: the condition was not met: context canceled"},
		{name: "the server was closed", ctx: t.Context(), end: (*mockserver.Server).Close, f: never, want: "the server is closed"},
		{
			name: "the server was shut down",
			ctx:  t.Context(),
			end:  func(s *mockserver.Server) { _ = s.Shutdown(t.Context()) },
			f:    never,
			want: "the server is closed",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProbe(t, mockserver.Config{})
			if tt.end != nil {
				go tt.end(p.Server)
			}
			err := p.WaitFor(tt.ctx, tt.f)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if tt.ctx == ended && tt.want != "" && !errors.Is(err, context.Canceled) {
				t.Errorf("%v is not the context's error", err)
			}
		})
	}
}

// Targets can be added, replaced and removed while the server runs.
func TestSetTarget(t *testing.T) {
	const host = "127.0.0.1:1" // no server listens on this port
	p := newProbe(t, mockserver.Config{Targets: map[string]http.Handler{host: says("the first")}})
	attempt := func() string {
		p.must("POST", "/webhooks", map[string]any{"url": "http://" + host, "events": []string{"Contact.Added"}})
		p.contact(p.list(), "ada@example.org")
		p.fired()
		a := p.Deliveries()[0].Attempts[0]
		p.Reset()
		return a.Response + a.Error
	}
	steps := []struct {
		name string
		set  func()
		want string
	}{
		{name: "as configured", set: func() {}, want: "the first"},
		{name: "another", set: func() { p.SetTarget(host, says("the second")) }, want: "the second"},
		{name: "after a reset", set: func() {}, want: "the second"},
		{name: "another port", set: func() { p.SetTarget("127.0.0.1:2", says("the third")) }, want: "the second"},
		{name: "none", set: func() { p.SetTarget(host, nil) }, want: "refused"},
	}
	for _, step := range steps {
		step.set()
		if got := attempt(); !strings.Contains(got, step.want) {
			t.Errorf("%s: got %q, want %q", step.name, got, step.want)
		}
	}
	p.SetTarget("APP.test", says("by a name in capitals"))
	p.webhook("Contact.Added")
	p.contact(p.list(), "ada@example.org")
	p.fired()
	if got := p.Deliveries()[0].Attempts[0].Response; got != "by a name in capitals" {
		t.Errorf("got %q, want the handler whatever the case of its host", got)
	}
}

// says responds with a text.
func says(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
}

func TestHTTPClient(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	a, b := p.HTTPClient(), p.HTTPClient()
	a.Timeout = time.Second
	if b.Timeout != 0 {
		t.Error("two clients are one")
	}
	for _, base := range []string{p.URL(), "http://platform.test"} {
		res, err := b.Get(base + "/_mock/health")
		must(t, err)
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if !bytes.Contains(body, []byte(`"ok"`)) {
			t.Errorf("%s answers %s", base, body)
		}
	}
}

// The route waits for records that match the filters, and returns whole records.
func TestWaitRoute(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string // of the first record
		total      int
	}{
		{
			name:  "a message",
			body:  `{"for":"message","to":"BOB@example.org"}`,
			want:  []string{`"to":"bob@example.org"`, `Hello\u003c/p\u003e"`, `"links":`},
			total: 1,
		},
		{
			name:  "two messages",
			body:  `{"for":"message","count":2,"account_id":1,"status":"delivered","sent_by":"email_api","search":"hello"}`,
			want:  []string{`"to":"bob@example.org"`},
			total: 2,
		},
		{
			name:  "a delivery",
			body:  `{"for":"delivery","event":"SuppressedEmail.Added","state":"delivered","webhook_id":"1"}`,
			want:  []string{`"state":"delivered"`, `"signature":"`, `"secret":"whsec-`, `eve@example.org`},
			total: 1,
		},
		{
			name:  "a request",
			body:  `{"for":"request","operation":"submitEmail","method":"post","status":"2xx","count":2}`,
			want:  []string{`"operation":"submitEmail"`, `bob@example.org`, `"status":201`},
			total: 2,
		},
		{
			name:  "a request by a status that is a number",
			body:  `{"for":"request","status":404}`,
			want:  []string{`"path":"/nowhere"`, `"status":404`},
			total: 1,
		},
		{
			name:  "an event",
			body:  `{"for":"event","event":"SuppressedEmail.Added"}`,
			want:  []string{`"event":"SuppressedEmail.Added"`, `eve@example.org`},
			total: 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProbe(t, mockserver.Config{Targets: receiver(), RecordEvents: true})
				p.webhook("SuppressedEmail.Added")
				start := time.Now()
				var app sync.WaitGroup
				app.Go(p.work)
				a := p.must("POST", "/_mock/wait", tt.body)
				if took := time.Since(start); took%time.Second != 0 || took == 0 {
					t.Errorf("it was answered after %v, not when it happened", took)
				}
				data, _ := a.object["data"].([]any)
				if a.object["total"] != float64(tt.total) || len(data) != tt.total {
					t.Fatalf("got %s, want %d", a.text, tt.total)
				}
				for _, want := range tt.want {
					if !strings.Contains(strings.SplitAfter(a.text, `},{"id"`)[0], want) {
						t.Errorf("no %s in %s", want, a.text)
					}
				}
				app.Wait()
			})
		})
	}
}

// work is an application that does something every second.
func (p probe) work() {
	for _, do := range []func(){
		func() { p.email("ada@example.org") },
		func() { p.email("bob@example.org") },
		func() { p.must("POST", "/suppressed-emails", `{"email":"eve@example.org"}`) },
		func() { p.do("GET", "/nowhere", nil) },
	} {
		time.Sleep(time.Second)
		do()
	}
}

func TestWaitRouteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, mockserver.Config{})
		p.email("ada@example.org")
		for body, took := range map[string]time.Duration{
			`{"for":"message","count":2,"timeout_ms":3000}`: 3 * time.Second,
			`{"for":"message","count":2}`:                   10 * time.Second,
		} {
			start := time.Now()
			a := p.do("POST", "/_mock/wait?timeout_ms=10000", body)
			if a.status != 504 || !strings.Contains(a.text, "there are 1 of 2") || time.Since(start) != took {
				t.Errorf("%s: %d %s after %v, want 504 after %v", body, a.status, a.text, time.Since(start), took)
			}
		}
	})
}

// Without "for", the route waits for deliveries. Options are parameters of the query or fields of the body.
func TestWaitRouteForDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, mockserver.Config{RetrySchedule: []time.Duration{20 * time.Second}})
		p.webhook("SuppressedEmail.Added")
		p.SetTarget("app.test", says("")) // so that no name is looked up
		p.inject(mockserver.Fault{Action: mockserver.FaultDelay, Event: "*", Delay: 20 * time.Second})
		p.must("POST", "/suppressed-emails", `{"email":"eve@example.org"}`)
		for _, tt := range []struct {
			query, body string
			status      int
		}{
			{"", `{}`, 204},
			{"", `{"timeout_ms":5,"drain":false}`, 204},
			{"", `{"timeout_ms":5,"drain":true}`, 504},
			{"?timeout_ms=5&drain=false", `{}`, 204},
			{"?timeout_ms=5&drain=true", `{}`, 504},
			{"?timeout_ms=0", `{}`, 422},
			{"?drain=true&timeout_ms=60000", `{}`, 204},
		} {
			if a := p.do("POST", "/_mock/wait"+tt.query, tt.body); a.status != tt.status || a.status == 204 && a.text != "" {
				t.Errorf("%s %s: %d %s, want %d", tt.query, tt.body, a.status, a.text, tt.status)
			}
		}
		if state := p.Deliveries()[0].State; state != mockserver.DeliveryDelivered {
			t.Errorf("after draining the delivery is %s, want delivered", state)
		}
	})
}

// One account's idle queue can be awaited while another account's receiver hangs. The same holds for draining.
func TestWaitForOneAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		p := newProbe(t, mockserver.Config{
			Tokens:         []mockserver.Token{{Value: "one"}, {Value: "two", UserID: 2, AccountID: 2}},
			RetrySchedule:  []time.Duration{20 * time.Second},
			AttemptTimeout: time.Hour,
			Targets:        map[string]http.Handler{"app.test": says(""), "stuck.test": hang},
		})
		p.webhook("SuppressedEmail.Added")
		p.as("two").must("POST", "/webhooks", `{"url":"http://stuck.test/","events":["SuppressedEmail.Added"]}`)
		p.as("two").must("POST", "/suppressed-emails", `{"email":"eve@example.org"}`)
		p.must("POST", "/suppressed-emails", `{"email":"eve@example.org"}`)
		if _, err := p.SendEventTo("http://stuck.test/", parsedSecret(t, "s3cr3t"), []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			query, body string
			status      int
		}{
			{"", `{"account_id":1}`, 204},
			{"", `{"account_id":1,"drain":true}`, 204},
			{"?drain=true", `{"account_id":1}`, 204},
			{"", `{"account_id":2,"timeout_ms":5}`, 504},
			{"", `{"timeout_ms":5}`, 504},
			{"", `{"account_id":3}`, 404},
			{"", `{"account_id":0}`, 422},
		} {
			if a := p.do("POST", "/_mock/wait"+tt.query, tt.body); a.status != tt.status {
				t.Errorf("%s %s: %d %s, want %d", tt.query, tt.body, a.status, a.text, tt.status)
			}
		}
		if err := errors.Join(p.WaitAccount(t.Context(), 1), p.DrainAccount(t.Context(), 1)); err != nil {
			t.Error(err)
		}
		if p.WaitAccount(t.Context(), 3) == nil {
			t.Error("an account that does not exist was awaited")
		}
	})
}

func TestWaitRouteInvalid(t *testing.T) {
	tests := []struct{ name, body, loc, want string }{
		{name: "an unknown kind", body: `{"for":"mesage"}`, loc: "[body for]", want: "did you mean message?"},
		{name: "an empty kind", body: `{"for":""}`, loc: "[body for]", want: "there are delivery"},
		{name: "an unknown member", body: `{"for":"message","limit":2}`, loc: "[body limit]", want: "no such field"},
		{name: "a filter of another kind", body: `{"for":"message","state":"failed"}`, loc: "[body state]", want: "no such filter"},
		{name: "an unknown value", body: `{"for":"delivery","state":"faild"}`, loc: "[body state]", want: "did you mean failed?"},
		{name: "an empty filter", body: `{"for":"message","to":""}`, loc: "[body to]", want: "must not be empty"},
		{name: "drain with for", body: `{"for":"message","drain":true}`, loc: "[body drain]", want: "must not be set if `for` is set"},
		{name: "a filter without for", body: `{"to":"ada@example.org"}`, loc: "[body for]", want: "must be set if"},
		{name: "a number without for", body: `{"count":2}`, loc: "[body for]", want: "must be set if"},
	}
	p := newProbe(t, mockserver.Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := p.do("POST", "/_mock/wait", tt.body)
			if _, loc := a.detail(); a.status != 422 || loc != tt.loc || !strings.Contains(a.text, tt.want) {
				t.Errorf("got %d %s, want 422 at %s with %q", a.status, a.text, tt.loc, tt.want)
			}
		})
	}
}

// Shutdown ends waiting requests.
func TestWaitRouteShutdown(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	answered := make(chan string)
	go func() {
		a := p.do("POST", "/_mock/wait", `{"for":"message","timeout_ms":60000}`)
		answered <- fmt.Sprint(a.status, " ", a.text)
	}()
	must(t, p.Shutdown(t.Context()))
	if got := <-answered; !strings.HasPrefix(got, "504 ") || !strings.Contains(got, "the server is closed") {
		t.Errorf("got %s, want 504", got)
	}
}
