package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestHealth(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", ":0", "0.0.0.0:0"} {
		r := start(t, "-addr", address, "-token", "key")
		port := r.base[strings.LastIndex(r.base, ":"):]
		listens := strings.TrimSuffix(address, ":0") + port
		var out strings.Builder
		if err := run(t.Context(), []string{"health", "-addr", listens}, &out); err != nil ||
			out.String() != "http://127.0.0.1"+port+" is well\n" {
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
			t.Errorf("%s: it is well after its end", address)
		}
	}
}

// What answers there, but not as a platform that is well, fails.
func TestHealthIsBad(t *testing.T) {
	hangs := make(chan struct{})
	for name, row := range map[string]struct {
		answer  http.HandlerFunc
		timeout string
		want    string // part of the error
	}{
		"an error":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "1h", "is not well: 500"},
		"redirect":  {http.RedirectHandler("/elsewhere", http.StatusFound).ServeHTTP, "1h", "is not well: 302"},
		"no answer": {func(http.ResponseWriter, *http.Request) { <-hangs }, "50ms", "does not answer within 50ms"},
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

func TestHealthMistakes(t *testing.T) {
	for _, args := range []string{"-timeout 0", "-timeout -1s", "-timeout soon", "now", "-addr nowhere", "-addr 127.0.0.1:port"} {
		if err := run(t.Context(), append([]string{"health"}, strings.Fields(args)...), &output{}); err == nil {
			t.Errorf("%s: it was accepted", args)
		}
	}
}

func TestThisMachine(t *testing.T) {
	for address, want := range map[string]string{
		":80": "127.0.0.1:80", "0.0.0.0:80": "127.0.0.1:80", "[::]:80": "[::1]:80", "127.0.0.1:80": "127.0.0.1:80",
		"192.0.2.1:80": "192.0.2.1:80", "[2001:db8::1]:80": "[2001:db8::1]:80", "localhost:80": "localhost:80", "x": "x",
	} {
		if got := thisMachine(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestVersion(t *testing.T) {
	var out strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // ends what should not have begun
	defer cancel()
	if err := run(ctx, []string{"-version"}, &out); err != nil || !strings.HasPrefix(out.String(), "mockserver ") ||
		!strings.HasSuffix(out.String(), ", "+runtime.Version()+", "+runtime.GOOS+"/"+runtime.GOARCH+"\n") {
		t.Errorf("%v: %q", err, &out)
	}
}

func TestVersionOfBuilds(t *testing.T) {
	by := ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	checkout := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123abcd"}, {Key: "vcs.time", Value: "now"}, {Key: "vcs.modified", Value: "true"}}
	unchanged := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123abcd"}, {Key: "vcs.modified", Value: "false"}}
	for _, tt := range []struct {
		name  string
		build *debug.BuildInfo
		want  string
	}{
		{"nothing is known", nil, "mockserver (unknown)"},
		{"go install of a release", &debug.BuildInfo{Main: debug.Module{Version: "v0.2.0"}}, "mockserver v0.2.0"},
		{"a release from its checkout", &debug.BuildInfo{Main: debug.Module{Version: "v0.2.0"}, Settings: unchanged}, "mockserver v0.2.0, revision 0123abcd"},
		{"a changed checkout", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: checkout}, "mockserver (devel), revision 0123abcd with changes"},
	} {
		if got := version(tt.build); got != tt.want+by {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want+by)
		}
	}
}

// The environment stands for the flags of a container, and gives way to them.
func TestEnvironment(t *testing.T) {
	t.Setenv(addrVariable, ":9000")
	t.Setenv(tokenVariable, "key:ann@example.com:7")
	for args, want := range map[string]string{
		"":                                "addr=:9000 tokens=[key/ann@example.com/1/7] schedule=[] lookups=gap",
		"-addr 127.0.0.1:1 -token mine":   "addr=127.0.0.1:1 tokens=[mine//1/0] schedule=[] lookups=gap",
		"-retry-schedule none -token=a:b": "addr=:9000 tokens=[a/b/1/0] schedule=none lookups=gap",
	} {
		o, err := parse(strings.Fields(args), &output{})
		if err != nil || describe(o) != want {
			t.Errorf("%q: %v\ngot  %s\nwant %s", args, err, describe(o), want)
		}
	}
	t.Setenv(tokenVariable, ":nobody")
	if _, err := parse(nil, &output{}); err == nil || !strings.Contains(err.Error(), tokenVariable) ||
		strings.Contains(err.Error(), "nobody") {
		t.Errorf("a token that is none: %v", err)
	}
}
