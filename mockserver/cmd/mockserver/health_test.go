package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", ":0", "0.0.0.0:0"} {
		r := start(t, "-addr", address, "-token", "key")
		port := r.base[strings.LastIndex(r.base, ":"):]
		listens := strings.TrimSuffix(address, ":0") + port
		var out strings.Builder
		if err := run(t.Context(), []string{"health", "-addr", listens}, &out); err != nil ||
			out.String() != "http://127.0.0.1"+port+" is healthy\n" {
			t.Errorf("%s: %v, said %q", address, err, &out)
		}
		t.Setenv(addrVariable, listens)
		if err := run(t.Context(), []string{"health"}, &out); err != nil {
			t.Errorf("%s, by the environment: %v", address, err)
		}
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), []string{"health"}, &out); err == nil {
			t.Errorf("%s: it is healthy after its end", address)
		}
	}
}

func TestUnhealthy(t *testing.T) {
	hangs := make(chan struct{})
	for name, row := range map[string]struct {
		answer  http.HandlerFunc
		timeout string
		want    string // part of the error
	}{
		"an error":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "1h", "is not healthy: 500"},
		"redirect":  {http.RedirectHandler("/elsewhere", http.StatusFound).ServeHTTP, "1h", "is not healthy: 302"},
		"no answer": {func(http.ResponseWriter, *http.Request) { <-hangs }, "50ms", "did not respond within 50ms"},
		"another":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello\x1b")) }, "1h", "200 OK hello?"},
	} {
		server := httptest.NewServer(row.answer)
		addr := strings.TrimPrefix(server.URL, "http://")
		err := run(t.Context(), []string{"health", "-addr", addr, "-timeout", row.timeout}, &output{})
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q in it", name, err, row.want)
		}
		if name == "no answer" {
			close(hangs)
		}
		server.Close()
	}
}

func TestHealthInvalidFlags(t *testing.T) {
	for _, args := range []string{"-timeout 0", "-timeout -1s", "-timeout soon", "now", "-addr nowhere", "-addr 127.0.0.1:port"} {
		if err := run(t.Context(), append([]string{"health"}, strings.Fields(args)...), &output{}); err == nil {
			t.Errorf("%s: it was accepted", args)
		}
	}
}
