package mockserver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
)

// An application that works in the background is waited for, and nobody polls:
// time passes only as far as it has to.
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
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 3*time.Hour {
			t.Errorf("it took %v, want the three hours of the application", took)
		}
		if asked > 10 { // once, and after each message and each request
			t.Errorf("f was asked %d times for three messages", asked)
		}
	})
}

// Whatever there is to see wakes whoever waits for it.
func TestWaitForEachChange(t *testing.T) {
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

// open lets the recipient open a message.
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
		want string // "" is no error
	}{
		{name: "it holds already", ctx: ended, f: func() bool { return true }},
		{name: "the context ended", ctx: ended, f: never, want: "wait for: it has not happened: context canceled"},
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

// A target may come, change and go while the server runs.
func TestSetTarget(t *testing.T) {
	const host = "127.0.0.1:1" // where nobody listens
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

// says answers with a text.
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
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if !bytes.Contains(body, []byte(`"ok"`)) {
			t.Errorf("%s answers %s", base, body)
		}
	}
}
