package control_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/contract"
)

// TestTextIsUnicode sends text that is not Unicode in the URLs of all operations and control routes, and in the bodies of
// control routes.
func TestTextIsUnicode(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	check := func(route, body, place string) {
		t.Helper()
		method, path, _ := strings.Cut(route, " ")
		want := http.StatusBadRequest
		if body == "" { // openapi.yaml allows 400 only for bodies
			want = http.StatusUnprocessableEntity
		}
		p.Do(method, path, body).Has(want, `"loc":[`+place)
	}
	parameter := regexp.MustCompile(`{[^}]*}`)
	checkURL := func(route string) string {
		check(parameter.ReplaceAllString(route, "1")+"?a=%E9", "", `"query","a"`)
		if parameter.MatchString(route) {
			check(parameter.ReplaceAllString(route, "%E9"), "", `"path"`)
		}
		return parameter.ReplaceAllString(route, "1")
	}
	for _, o := range contract.Operations() {
		checkURL(o.Method + " " + o.Path)
	}
	for path, item := range controlDocument(t).Paths.Map() {
		for method, o := range item.Operations() {
			if route := checkURL(method + " " + path); o.RequestBody != nil {
				check(route, "{\"\xe9\":1}", `"body"`)
				check(route, `{"\ud800":1}`, `"body"`)
			}
		}
	}
}

// TestNUL shows which bodies can contain U+0000.
func TestNUL(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	for route, want := range map[string]string{
		`POST /_mock/seed {"lists":[{"name":"a\u0000"}]}`:                                                  `"lists",0,"name"`,
		`POST /_mock/accounts/1/api/lists {"name":"a\u0000"}`:                                              `"name"`,
		`POST /_mock/events {"url":"http://127.0.0.1:1","secret":"s","body":{"event":"a\u0000"}}`:          "",
		`POST /_mock/faults {"action":"status","operation":"listTags","body":"a\u0000"}`:                   "",
		`POST /_mock/verify {"body":"a\u0000","secret":"s","hash_function":"sha256","signature":"c2lnbg"}`: "",
	} {
		method, rest, _ := strings.Cut(route, " ")
		path, body, _ := strings.Cut(rest, " ")
		got := p.Do(method, path, body)
		assert.Equal(t, want != "", got.Status == http.StatusBadRequest, "%s: %d %s", route, got.Status, got.Body)
		assert.Contains(t, got.Body, want, route)
	}
}

// The error for a seed, a state or a body names UTF-16, which Windows PowerShell writes, and gzip.
func TestNotUTF8(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	for text, want := range map[string]string{
		"\xff\xfe{\x00}\x00": "must be UTF-8, got UTF-16", "\xfe\xff\x00{\x00}": "must be UTF-8, got UTF-16",
		"\x1f\x8b\x08\x00": "must not be compressed, got gzip",
	} {
		require.ErrorContains(t, p.Seed(strings.NewReader(text)), want)
		require.ErrorContains(t, p.Restore(strings.NewReader(text)), want)
		for _, route := range []string{"POST /lists", "POST /_mock/faults", "POST /_mock/seed", "PUT /_mock/state"} {
			method, path, _ := strings.Cut(route, " ")
			got := p.Do(method, path, text)
			assert.Contains(t, []int{http.StatusBadRequest, http.StatusUnsupportedMediaType}, got.Status, route)
			assert.Contains(t, got.Body, want, route)
		}
	}
	mark := p.Post("/lists", "\ufeff{}")
	assert.Contains(t, mark.Body, "must not begin with a byte order mark")
}

// A state can contain U+0000, because a receiver can respond with it.
func TestStateIsUnicode(t *testing.T) {
	p := probe.New(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("a\x00\xe9"))
	})}})
	p.CauseDelivery()
	p.Fired()
	state := p.Get("/_mock/state").OK().Body
	require.Contains(t, state, `a\u0000`)
	p.Do("PUT", "/_mock/state", state).OK()
	damaged := strings.Replace(state, "a@example.org", "a@\xe9xample.org", 1)
	got := p.Do("PUT", "/_mock/state", damaged)
	assert.Equal(t, http.StatusBadRequest, got.Status)
	assert.Regexp(t, `accounts\[0\]: byte \d+: must be UTF-8, got the byte 0xE9`, got.Body)
	assert.ErrorContains(t, p.Restore(strings.NewReader(damaged)), "must be UTF-8, got the byte 0xE9")
	assert.ErrorContains(t, p.Seed(strings.NewReader("{\"lists\":[{\"name\":\"\xe9\"}]}")), "lists[0].name: must be UTF-8, got the byte 0xE9")
}
