package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for args, want := range map[string]string{
		"":                           "127.0.0.1:8026 [dev-token//1/0] [] min_interval",
		"-addr :9000":                ":9000 [dev-token//1/0] [] min_interval",
		"-token a":                   "127.0.0.1:8026 [a//1/0] [] min_interval",
		"-retry-schedule none":       "127.0.0.1:8026 [dev-token//1/0] none min_interval",
		"-retry-schedule=1s,~2m,0":   "127.0.0.1:8026 [dev-token//1/0] [1s 2m0s 0s] min_interval",
		"-lookup-limit token_bucket": "127.0.0.1:8026 [dev-token//1/0] [] token_bucket",
		"-token a:a@example.com -token=b:b@x.y:7":  "127.0.0.1:8026 [a/a@example.com/1/0 b/b@x.y/2/7] [] min_interval",
		"-token a -read-only-token b:b@x.y:7":      "127.0.0.1:8026 [a//1/0 b/b@x.y/2/7 reads] [] min_interval",
		"-read-only-token b":                       "127.0.0.1:8026 [dev-token//2/0 b//1/0 reads] [] min_interval",
		"-hash-function sha512 -strict":            "127.0.0.1:8026 [dev-token//1/0] [] min_interval sha512 strict",
		"-clock frozen -now 2026-01-02T03:04:05Z":  "127.0.0.1:8026 [dev-token//1/0] [] min_interval frozen at 2026-01-02 03:04:05",
		"-clock running":                           "127.0.0.1:8026 [dev-token//1/0] [] min_interval",
		"-delivery-concurrency 1":                  "127.0.0.1:8026 [dev-token//1/0] [] min_interval 1 at a time within 10s",
		"-attempt-timeout 1500ms":                  "127.0.0.1:8026 [dev-token//1/0] [] min_interval 4 at a time within 1.5s",
		"-allow-target app -allow-target 10.0.0.1": "127.0.0.1:8026 [dev-token//1/0] [] min_interval [app] [10.0.0.1/32]",
	} {
		given := strings.Fields(args)
		for i := range given {
			given[i] = strings.ReplaceAll(given[i], "~", " ")
		}
		o, err := parse(given, io.Discard)
		if got := describe(o); err != nil || got != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", args, err, got, want)
		}
	}
}

// describe returns the options as text, without most defaults.
func describe(o options) string {
	c := o.config
	tokens := []string{}
	for _, token := range c.Tokens {
		text := fmt.Sprintf("%s/%s/%d/%d", token.Value, token.UserEmail, token.UserID, token.AccountID)
		if token.ReadOnly {
			text += " reads"
		}
		tokens = append(tokens, text)
	}
	schedule := fmt.Sprint(c.RetrySchedule)
	if c.RetrySchedule != nil && len(c.RetrySchedule) == 0 {
		schedule = "none"
	}
	out := fmt.Sprintf("%s %v %s %v", o.addr, tokens, schedule, c.Lookups)
	for _, part := range []struct {
		shown bool
		text  string
	}{
		{c.HashFunction != "", string(c.HashFunction)},
		{c.RejectUnknownFields, "strict"},
		{c.FreezeClock, "frozen"},
		{!c.Now.IsZero(), "at " + c.Now.UTC().Format(time.DateTime)},
		{c.DeliveryConcurrency != 4 || c.AttemptTimeout != 10*time.Second, fmt.Sprintf("%d at a time within %v", c.DeliveryConcurrency, c.AttemptTimeout)},
		{c.AllowTargetHosts != nil || c.AllowTargetNetworks != nil, fmt.Sprint(c.AllowTargetHosts, c.AllowTargetNetworks)},
	} {
		if part.shown {
			out += " " + part.text
		}
	}
	return out
}

func TestParseInvalid(t *testing.T) {
	for args, want := range map[string]string{
		"-token=":                         "must be token",
		"-token=:a@example.com":           "must be token",
		"-token a:b:c":                    "account-id must be an integer",
		"-token a:b:0":                    "account-id must be an integer",
		"-token a:b:1:c":                  "must be token",
		"-read-only-token=":               "must be token",
		"-hash-function md5":              "must be sha256 or sha512",
		"-hash-function=":                 "must be sha256 or sha512",
		"-retry-schedule soon":            "must be durations",
		"-retry-schedule -1s":             "must be durations",
		"-retry-schedule 1s,":             "must be durations",
		"-lookup-limit never":             "-lookup-limit",
		"-fault-seed -1":                  "-fault-seed",
		"-log xml":                        "must be text or json",
		"-log=":                           "must be text or json",
		"-clock stopped":                  "must be running or frozen",
		"-now noon":                       "must be a time",
		"-now 1969-01-01T00:00:00Z":       "in the years 1970 to 2199",
		"-now 2200-01-01T00:00:00Z":       "in the years 1970 to 2199",
		"-delivery-concurrency 0":         "must be 1 or more, got 0",
		"-delivery-concurrency many":      "-delivery-concurrency",
		"-attempt-timeout 0":              "must be more than 0",
		"-attempt-timeout soon":           "-attempt-timeout",
		"-nothing":                        "-nothing",
		"something":                       "unexpected argument",
		"-quiet trigger-happy -addr :900": "unexpected argument",
	} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got the error %v, want %q in it", args, err, want)
		}
	}
}

func TestAllowTarget(t *testing.T) {
	var o options
	for _, target := range []string{
		"172.16.0.0/12", "app", "host.docker.internal", "10.1.2.3", "fd00:17::/64", "fd00::3", "My_App-1.", "169.254.0.0/16", "3com.net", "a1",
	} {
		if err := o.allowTarget(target); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	got := fmt.Sprint(o.config.AllowTargetHosts, o.config.AllowTargetNetworks)
	want := "[app host.docker.internal My_App-1. 3com.net a1] [172.16.0.0/12 10.1.2.3/32 fd00:17::/64 fd00::3/128 169.254.0.0/16]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, target := range []string{
		"", ".", "app:8080", "http://app", "app/", "*.example.com", "a b", "10.0.0.0/33", "10.0.0", "1234", "10.0.0.1:80",
		"[fd00::1]", "fe80::1%eth0", "app..test", "*", strings.Repeat("a", 64), "x." + strings.Repeat("a", 64),
		strings.Repeat("a", 64) + ".x", strings.Repeat("a.", 127) + "abc",
	} {
		if err := o.allowTarget(target); err == nil || !strings.Contains(err.Error(), "must be the name of a host") {
			t.Errorf("%q: %v", target, err)
		}
	}
	for _, target := range []string{"169.254.169.254", "169.254.169.254/32", "::ffff:169.254.169.254", "fd00:ec2::254", "100.100.100.200"} {
		if err := o.allowTarget(target); err == nil || !strings.Contains(err.Error(), "metadata service") {
			t.Errorf("%s, where clouds keep credentials: %v", target, err)
		}
	}
}

// Flags override the environment.
func TestEnvironment(t *testing.T) {
	t.Setenv(addrVariable, ":9000")
	t.Setenv(tokenVariable, "key:ann@example.com:7")
	for args, want := range map[string]string{
		"":                              ":9000 [key/ann@example.com/1/7] [] min_interval",
		"-addr 127.0.0.1:1 -token mine": "127.0.0.1:1 [mine//1/0] [] min_interval",
	} {
		o, err := parse(strings.Fields(args), io.Discard)
		if err != nil || describe(o) != want {
			t.Errorf("%q: %v\ngot  %s\nwant %s", args, err, describe(o), want)
		}
	}
	t.Setenv(tokenVariable, ":nobody")
	if _, err := parse(nil, io.Discard); err == nil || !strings.Contains(err.Error(), tokenVariable) || strings.Contains(err.Error(), "nobody") {
		t.Errorf("an invalid token: %v", err)
	}
}

func TestHelp(t *testing.T) {
	for args, want := range map[string][]string{
		"-h":            {"mockserver trigger", "mockserver verify", "-seed file", "-lookup-limit mode\n", "min_interval, token_bucket or fixed_window (default min_interval)", "(default 4)"},
		"help":          {"mockserver trigger", "-seed file"},
		"serve --help":  {"mockserver trigger", "-seed file"},
		"help serve":    {"mockserver trigger", "-seed file"},
		"help trigger":  {"Sends a signed event", "-variant variant"},
		"help verify":   {"the signature of a delivery", "-signature value"},
		"help health":   {"container health checks", "-timeout duration", "-addr address"},
		"trigger -help": {"Sends a signed event", "-variant variant"},
	} {
		var out strings.Builder
		if err := run(t.Context(), strings.Fields(args), &out); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: %v", args, err)
		}
		for _, part := range want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: no %q in\n%s", args, part, &out)
			}
		}
	}
}

func TestReachable(t *testing.T) {
	for address, want := range map[string]string{
		":80": "four:80", "0.0.0.0:80": "four:80", "[::]:80": "six:80", "127.0.0.1:80": "127.0.0.1:80",
		"192.0.2.1:80": "192.0.2.1:80", "[2001:db8::1]:80": "[2001:db8::1]:80", "localhost:80": "localhost:80", "x": "x",
	} {
		if got := reachable(address, "four", "six"); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestVersion(t *testing.T) {
	by := ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	var out strings.Builder
	if err := run(t.Context(), []string{"-version"}, &out); err != nil || !strings.HasPrefix(out.String(), "mockserver ") ||
		!strings.HasSuffix(out.String(), by+"\n") {
		t.Errorf("%v: %q", err, &out)
	}
	if got, want := version(nil), "mockserver (unknown)"+by; got != want {
		t.Errorf("without build information: %q, want %q", got, want)
	}
	if got, want := version(&debug.BuildInfo{Main: debug.Module{Version: "v0.2.0"}}), "mockserver v0.2.0"+by; got != want {
		t.Errorf("of a release: %q, want %q", got, want)
	}
}
