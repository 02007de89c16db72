package mockserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
)

// A caller can add, replace and remove targets while the server runs. Letter case in their hosts is
// ignored.
func TestSetTarget(t *testing.T) {
	const host = "127.0.0.1:1" // no server listens on this port
	p := probe.New(t, mockserver.Config{Targets: map[string]http.Handler{host: says("the first")}})
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
		p.Post("/webhooks", map[string]any{"url": "http://" + step.host, "events": []string{"SuppressedEmail.Added"}}).OK()
		p.Post("/suppressed-emails", `{"email":"ada@example.org"}`).OK()
		p.Fired()
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
