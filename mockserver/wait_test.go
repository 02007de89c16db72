package mockserver_test

import (
	"context"
	"errors"
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

func TestWaitForEnds(t *testing.T) {
	never := func() bool { return false }
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p := newProbe(t, mockserver.Config{})
	if err := p.WaitFor(ended, func() bool { return true }); err != nil {
		t.Errorf("a condition that is met: %v", err)
	}
	err := p.WaitFor(ended, never)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "wait: the condition was not met: context canceled") {
		t.Errorf("a canceled context: %v", err)
	}
	for name, end := range map[string]func(*mockserver.Server){
		"Close": (*mockserver.Server).Close, "Shutdown": func(s *mockserver.Server) { _ = s.Shutdown(t.Context()) },
	} {
		p := newProbe(t, mockserver.Config{})
		go end(p.Server)
		if err := p.WaitFor(t.Context(), never); err == nil || !strings.Contains(err.Error(), "the server is closed") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A caller can add, replace and remove targets while the server runs. Their hosts are not case-sensitive.
func TestSetTarget(t *testing.T) {
	const host = "127.0.0.1:1" // no server listens on this port
	p := newProbe(t, mockserver.Config{Targets: map[string]http.Handler{host: says("the first")}})
	for _, step := range []struct {
		name, host string
		set        func()
		want       string
	}{
		{"as configured", host, func() {}, "the first"},
		{"another handler", host, func() { p.SetTarget(host, says("the second")) }, "the second"},
		{"after a reset", host, func() {}, "the second"},
		{"another port", host, func() { p.SetTarget("127.0.0.1:2", says("the third")) }, "the second"},
		{"none", host, func() { p.SetTarget(host, nil) }, "refused"},
		{"in capitals", "app.test", func() { p.SetTarget("APP.test", says("the fourth")) }, "the fourth"},
	} {
		step.set()
		p.must("POST", "/webhooks", map[string]any{"url": "http://" + step.host, "events": []string{"SuppressedEmail.Added"}})
		p.must("POST", "/suppressed-emails", `{"email":"ada@example.org"}`)
		p.fired()
		if a := p.Deliveries()[0].Attempts[0]; !strings.Contains(a.Response+a.Error, step.want) {
			t.Errorf("%s: got %+v, want %q", step.name, a, step.want)
		}
		p.Reset()
	}
}

// says responds with a text.
func says(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
}

func TestHTTPClient(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	a, b := p.HTTPClient(), p.HTTPClient()
	if a.Timeout = time.Second; b.Timeout != 0 {
		t.Error("HTTPClient returns the same client again")
	}
	for _, base := range []string{p.URL(), "http://platform.test"} {
		res, err := b.Get(base + "/_mock/health")
		must(t, err)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: got %d", base, res.StatusCode)
		}
	}
}

// The route waits for records that match the filters, and returns whole records.
func TestWaitRoute(t *testing.T) {
	for _, tt := range []struct {
		body  string
		total int
		want  []string // expected in the first record
	}{
		{`{"for":"message","to":"BOB@example.org"}`, 1, []string{`"to":"bob@example.org"`, `Hello\u003c/p\u003e"`, `"links":`}},
		{
			`{"for":"message","count":2,"account_id":1,"status":"delivered","sent_by":"email_api","search":"hello"}`, 2,
			[]string{`"to":"bob@example.org"`},
		},
		{
			`{"for":"delivery","event":"SuppressedEmail.Added","state":"delivered","webhook_id":"1"}`, 1,
			[]string{`"state":"delivered"`, `"signature":"`, `"secret":"whsec-`, `eve@example.org`},
		},
		{
			`{"for":"request","operation":"submitEmail","method":"post","status":"2xx","count":2}`, 2,
			[]string{`"operation":"submitEmail"`, `bob@example.org`, `"status":201`},
		},
		{`{"for":"request","status":404}`, 1, []string{`"path":"/nowhere"`, `"status":404`}},
		{`{"for":"event","event":"SuppressedEmail.Added"}`, 1, []string{`"event":"SuppressedEmail.Added"`, `eve@example.org`}},
	} {
		t.Run(tt.body, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProbe(t, mockserver.Config{Targets: receiver(), RecordEvents: true})
				p.webhook("SuppressedEmail.Added")
				start := time.Now()
				var app sync.WaitGroup
				app.Go(func() { // an application that sends a request every second
					for _, do := range []func(){
						func() { p.email("ada@example.org") },
						func() { p.email("bob@example.org") },
						func() { p.must("POST", "/suppressed-emails", `{"email":"eve@example.org"}`) },
						func() { p.do("GET", "/nowhere", nil) },
					} {
						time.Sleep(time.Second)
						do()
					}
				})
				a := p.must("POST", "/_mock/wait", tt.body)
				if took := time.Since(start); took%time.Second != 0 || took == 0 {
					t.Errorf("it returned after %v, not when the record was created", took)
				}
				if data, _ := a.object["data"].([]any); a.object["total"] != float64(tt.total) || len(data) != tt.total {
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

// Without "for", the route waits for deliveries. Options are parameters of the query or fields of the body.
func TestWaitRouteForDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, mockserver.Config{RetrySchedule: []time.Duration{20 * time.Second}, Targets: receiver()})
		p.inject(mockserver.Fault{Action: mockserver.FaultDelay, Event: "*", Delay: 20 * time.Second})
		p.causeDelivery()
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
		start := time.Now()
		a := p.do("POST", "/_mock/wait?timeout_ms=10000", `{"for":"request","operation":"createWebhook","count":2}`)
		if a.status != 504 || !strings.Contains(a.text, "there are 1 of 2") || time.Since(start) != 10*time.Second {
			t.Errorf("%d %s after %v, want 504 after 10 s", a.status, a.text, time.Since(start))
		}
	})
}

// A wait or drain of one account does not wait for the receiver of another account.
func TestWaitForOneAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		p := newProbe(t, mockserver.Config{
			Tokens:         []mockserver.Token{{Value: "one"}, {Value: "two", UserID: 2, AccountID: 2}},
			RetrySchedule:  []time.Duration{20 * time.Second},
			AttemptTimeout: time.Hour,
			Targets:        map[string]http.Handler{"app.test": says(""), "stuck.test": hang},
		})
		p.causeDelivery()
		p.as("two").must("POST", "/webhooks", `{"url":"http://stuck.test/","events":["SuppressedEmail.Added"]}`)
		p.as("two").must("POST", "/suppressed-emails", `{"email":"eve@example.org"}`)
		_, err := p.SendEventTo("http://stuck.test/", parsedSecret(t, "s3cr3t"), []byte(`{}`))
		must(t, err)
		for body, status := range map[string]int{
			`{"account_id":1}`:                204,
			`{"account_id":1,"drain":true}`:   204,
			`{"account_id":2,"timeout_ms":5}`: 504,
			`{"timeout_ms":5}`:                504,
			`{"account_id":3}`:                404,
			`{"account_id":0}`:                422,
		} {
			if a := p.do("POST", "/_mock/wait", body); a.status != status {
				t.Errorf("%s: %d %s, want %d", body, a.status, a.text, status)
			}
		}
		must(t, p.WaitAccount(t.Context(), 1))
		must(t, p.DrainAccount(t.Context(), 1))
		if p.WaitAccount(t.Context(), 3) == nil {
			t.Error("WaitAccount accepts an unknown account")
		}
	})
}

func TestWaitRouteInvalid(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	for body, want := range map[string][2]string{ // the location of the error, and a part of its message
		`{"for":"mesage"}`:                   {"[body for]", "did you mean message?"},
		`{"for":""}`:                         {"[body for]", "there are delivery"},
		`{"for":"message","limit":2}`:        {"[body limit]", "no such field"},
		`{"for":"message","state":"failed"}`: {"[body state]", "no such filter"},
		`{"for":"delivery","state":"faild"}`: {"[body state]", "did you mean failed?"},
		`{"for":"message","to":""}`:          {"[body to]", "must not be empty"},
		`{"for":"message","drain":true}`:     {"[body drain]", "must not be set if `for` is set"},
		`{"to":"ada@example.org"}`:           {"[body for]", "must be set if"},
		`{"count":2}`:                        {"[body for]", "must be set if"},
	} {
		a := p.do("POST", "/_mock/wait", body)
		if _, loc := a.detail(); a.status != 422 || loc != want[0] || !strings.Contains(a.text, want[1]) {
			t.Errorf("%s: got %d %s, want 422 at %s with %q", body, a.status, a.text, want[0], want[1])
		}
	}
}
