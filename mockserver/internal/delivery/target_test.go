package delivery

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
)

// A host is the same in any case, and with the port of the scheme or without.
func TestTargetsByHost(t *testing.T) {
	handler := http.NotFoundHandler()
	for _, row := range []struct {
		host, url string
		found     bool
	}{
		{"hook.test", "http://hook.test/", true},
		{"hook.test", "http://Hook.Test/", true},
		{"Hook.Test", "http://hook.test/", true},
		{"hook.test", "http://hook.test:80/", true},
		{"hook.test", "http://hook.test:/", true},
		{"hook.test", "https://hook.test:443/", true},
		{"hook.test:80", "http://hook.test/", true},
		{"hook.test:443", "https://hook.test/", true},
		{"hook.test:8080", "http://HOOK.test:8080/", true},
		{"[::1]", "http://[::1]:80/", true},
		{"[::1]:80", "http://[::1]/", true},
		{"hook.test", "http://hook.test:8080/", false},
		{"hook.test", "http://hook.test:443/", false},
		{"hook.test", "https://hook.test:80/", false},
		{"hook.test:443", "http://hook.test/", false},
		{"hook.test", "http://other.test/", false},
	} {
		to, err := url.Parse(row.url)
		if err != nil {
			t.Fatal(err)
		}
		found := newTarget(Options{Targets: map[string]http.Handler{row.host: handler}}, nil).handler(to) != nil
		if found != row.found {
			t.Errorf("%s for the host %s: found %v, want %v", row.url, row.host, found, row.found)
		}
	}
	both := newTarget(Options{Targets: map[string]http.Handler{"hook.test": handler, "hook.test:80": http.NewServeMux()}}, nil)
	for host, exact := range both.handlers {
		if got := both.handler(&url.URL{Scheme: "http", Host: host}); fmt.Sprintf("%T", got) != fmt.Sprintf("%T", exact) {
			t.Errorf("%s: got the handler of another host", host)
		}
	}
}
