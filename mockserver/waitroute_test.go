package mockserver_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
)

// Whatever a list shows can be waited for, by the filters of the list, and is
// answered whole.
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

func TestWaitRouteInVain(t *testing.T) {
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
		if _, err := p.Inject(mockserver.Fault{Action: mockserver.FaultDelay, Event: "*", Delay: 20 * time.Second}); err != nil {
			t.Fatal(err)
		}
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

func TestWaitRouteMistakes(t *testing.T) {
	tests := []struct{ name, body, loc, want string }{
		{name: "an unknown kind", body: `{"for":"mesage"}`, loc: "[body for]", want: "did you mean message?"},
		{name: "an empty kind", body: `{"for":""}`, loc: "[body for]", want: "want a value"},
		{name: "an unknown member", body: `{"for":"message","limit":2}`, loc: "[body limit]", want: "no such member"},
		{name: "a filter of another kind", body: `{"for":"message","state":"failed"}`, loc: "[body state]", want: "no such filter"},
		{name: "an unknown value", body: `{"for":"delivery","state":"faild"}`, loc: "[body state]", want: "did you mean failed?"},
		{name: "an unknown event", body: `{"for":"event","event":"Email.Opend"}`, loc: "[body event]", want: "did you mean Email.Opened?"},
		{name: "an account that is none", body: `{"for":"event","account_id":0}`, loc: "[body account_id]", want: "1 or more"},
		{name: "an empty filter", body: `{"for":"message","to":""}`, loc: "[body to]", want: "want a value"},
		{name: "no number at all", body: `{"for":"message","count":0}`, loc: "[body count]", want: "1 to 1000"},
		{name: "too many", body: `{"for":"message","count":1001}`, loc: "[body count]", want: "1 to 1000"},
		{name: "no time", body: `{"for":"message","timeout_ms":0}`, loc: "[body timeout_ms]", want: "1 to 60000"},
		{name: "too long", body: `{"timeout_ms":60001}`, loc: "[body timeout_ms]", want: "1 to 60000"},
		{name: "drain with for", body: `{"for":"message","drain":true}`, loc: "[body drain]", want: "without `for`"},
		{name: "a filter without for", body: `{"to":"ada@example.org"}`, loc: "[body for]", want: "required"},
		{name: "a number without for", body: `{"count":2}`, loc: "[body for]", want: "required"},
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

// A graceful stop does not wait for those who wait.
func TestWaitRouteAtTheEnd(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	answered := make(chan string)
	go func() {
		a := p.do("POST", "/_mock/wait", `{"for":"message","timeout_ms":60000}`)
		answered <- fmt.Sprint(a.status, " ", a.text)
	}()
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-answered; !strings.HasPrefix(got, "504 ") || !strings.Contains(got, "the server is closed") {
		t.Errorf("got %s, want 504", got)
	}
}
