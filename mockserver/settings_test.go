package mockserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// A token that does not exist is an error, which does not contain the token.
func TestRevokeToken(t *testing.T) {
	p := probe.New(t, mockserver.Config{Tokens: []mockserver.Token{{Value: "one"}, {Value: "two"}}})
	require.NoError(t, p.RevokeToken("one"))
	assert.Equal(t, 401, p.Get("/lists").Status, "with the revoked token")
	for _, token := range []string{"one", "unknown-secret", ""} {
		err := p.RevokeToken(token)
		require.Error(t, err, "%q", token)
		if token != "" {
			assert.NotContains(t, err.Error(), token)
		}
	}
	p.Reset()
	p.Get("/lists").OK()
}
