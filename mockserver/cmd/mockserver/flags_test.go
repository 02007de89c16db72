package main

import (
	"fmt"
	"io"
	"net/netip"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

func TestParse(t *testing.T) {
	for args, want := range map[string]func(*options){
		"":                           func(*options) {},
		"-addr :9000":                func(o *options) { o.addr = ":9000" },
		"-token a":                   func(o *options) { o.config.Tokens = []mockserver.Token{{Value: "a", UserID: 1}} },
		"-retry-schedule none":       func(o *options) { o.config.RetrySchedule = []time.Duration{} },
		"-retry-schedule=1s,~2m,0":   func(o *options) { o.config.RetrySchedule = []time.Duration{time.Second, 2 * time.Minute, 0} },
		"-lookup-limit token_bucket": func(o *options) { o.config.LookupLimit = mockserver.LookupTokenBucket },
		"-token a:a@example.com -token=b:b@x.y:7": func(o *options) {
			o.config.Tokens = []mockserver.Token{{Value: "a", UserEmail: "a@example.com", UserID: 1}, {Value: "b", UserEmail: "b@x.y", UserID: 2, AccountID: 7}}
		},
		"-token a -read-only-token b:b@x.y:7": func(o *options) {
			o.config.Tokens = []mockserver.Token{{Value: "a", UserID: 1}, {Value: "b", UserEmail: "b@x.y", UserID: 2, AccountID: 7, ReadOnly: true}}
		},
		"-read-only-token b": func(o *options) {
			o.config.Tokens = []mockserver.Token{{Value: "dev-token", UserID: 2}, {Value: "b", UserID: 1, ReadOnly: true}}
		},
		"-hash-function sha512 -strict": func(o *options) { o.config.HashFunction, o.config.RejectUnknownFields = webhook.SHA512, true },
		"-clock frozen -now 2026-01-02T03:04:05Z": func(o *options) {
			o.clock, o.config.FreezeClock, o.config.Now = "frozen", true, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		},
		"MOCKSERVER_TOKEN=a,b:b@x.y:7 MOCKSERVER_READ_ONLY_TOKEN=c": func(o *options) {
			o.config.Tokens = []mockserver.Token{{Value: "a", UserID: 2}, {Value: "c", UserID: 1, ReadOnly: true}, {Value: "b", UserEmail: "b@x.y", UserID: 3, AccountID: 7}}
		},
		"MOCKSERVER_STRICT=true MOCKSERVER_QUIET=1 MOCKSERVER_ATTEMPT_TIMEOUT=2s MOCKSERVER_STATE= -strict=false": func(o *options) {
			o.quiet, o.config.AttemptTimeout = true, 2*time.Second
		},
		"MOCKSERVER_ALLOW_TARGET=app,~10.0.0.1 MOCKSERVER_VERSION=1.2.3 MOCKSERVER_TRIGGER_URL=http://x": func(o *options) {
			o.config.AllowTargetHosts, o.config.AllowTargetNetworks = []string{"app"}, []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
		},
		"MOCKSERVER_ALLOW_TARGET=app -allow-target web,db": func(o *options) { o.config.AllowTargetHosts = []string{"web", "db"} },
		"-clock running":                                func(o *options) { o.clock = "running" },
		"-quirks no-count,~max-page=5":                  func(o *options) { o.config.Quirks = []string{"no-count", "max-page=5"} },
		"MOCKSERVER_QUIRKS=no-count MOCKSERVER_ADDR=:1": func(o *options) { o.addr, o.config.Quirks = ":1", []string{"no-count"} },
		"-delivery-concurrency 1":                       func(o *options) { o.config.DeliveryConcurrency = 1 },
		"-attempt-timeout 1500ms":                       func(o *options) { o.config.AttemptTimeout = 1500 * time.Millisecond },
		"-allow-target app -allow-target 10.0.0.1": func(o *options) {
			o.config.AllowTargetHosts, o.config.AllowTargetNetworks = []string{"app"}, []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
		},
		"MOCKSERVER_ADDR=:9000 MOCKSERVER_TOKEN=key:ann@example.com:7": func(o *options) {
			o.addr, o.config.Tokens = ":9000", []mockserver.Token{{Value: "key", UserEmail: "ann@example.com", UserID: 1, AccountID: 7}}
		},
		"MOCKSERVER_ADDR=:9000 MOCKSERVER_TOKEN=key -addr 127.0.0.1:1 -token mine": func(o *options) {
			o.addr, o.config.Tokens = "127.0.0.1:1", []mockserver.Token{{Value: "mine", UserID: 1}}
		},
	} {
		t.Run(args, func(t *testing.T) {
			var given []string
			for arg := range strings.FieldsSeq(args) {
				if name, value, _ := strings.Cut(arg, "="); strings.HasPrefix(name, "MOCKSERVER_") {
					t.Setenv(name, strings.ReplaceAll(value, "~", " "))
				} else {
					given = append(given, strings.ReplaceAll(arg, "~", " "))
				}
			}
			expected := options{addr: "127.0.0.1:8026", config: mockserver.Config{
				Tokens: []mockserver.Token{{Value: "dev-token", UserID: 1}}, DeliveryConcurrency: 4, AttemptTimeout: 10 * time.Second,
			}}
			want(&expected)
			got, err := parseServe(given, io.Discard)
			require.NoError(t, err)
			assert.Equal(t, expected, got)
		})
	}
}

func TestAllowTarget(t *testing.T) {
	var o options
	for _, target := range []string{
		"172.16.0.0/12", "app", "host.docker.internal", "10.1.2.3", "fd00:17::/64", "fd00::3", "My_App-1.", "169.254.0.0/16", "3com.net", "a1",
	} {
		assert.NoError(t, o.allowTarget(target), target)
	}
	got := fmt.Sprint(o.config.AllowTargetHosts, o.config.AllowTargetNetworks)
	want := "[app host.docker.internal My_App-1. 3com.net a1] [172.16.0.0/12 10.1.2.3/32 fd00:17::/64 fd00::3/128 169.254.0.0/16]"
	assert.Equal(t, want, got)
	for _, target := range []string{
		"", ".", "app:8080", "http://app", "app/", "*.example.com", "a b", "10.0.0.0/33", "10.0.0", "1234", "10.0.0.1:80",
		"[fd00::1]", "fe80::1%eth0", "app..test", "*", strings.Repeat("a", 64), "x." + strings.Repeat("a", 64),
		strings.Repeat("a", 64) + ".x", strings.Repeat("a.", 127) + "abc",
	} {
		err := o.allowTarget(target)
		assert.ErrorContains(t, err, "must be a host name", target)
	}
	for _, target := range []string{"169.254.169.254", "169.254.169.254/32", "::ffff:169.254.169.254", "fd00:ec2::254", "100.100.100.200"} {
		err := o.allowTarget(target)
		assert.ErrorContains(t, err, "metadata service", "%s, a metadata service", target)
	}
}

func TestReachable(t *testing.T) {
	for address, want := range map[string]string{
		":80": "four:80", "0.0.0.0:80": "four:80", "[::]:80": "six:80", "127.0.0.1:80": "127.0.0.1:80",
		"192.0.2.1:80": "192.0.2.1:80", "[2001:db8::1]:80": "[2001:db8::1]:80", "localhost:80": "localhost:80", "x": "x",
	} {
		assert.Equal(t, want, reachable(address, "four", "six"), address)
	}
}

func TestVersion(t *testing.T) {
	by := ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	var out strings.Builder
	err := run(t.Context(), []string{"-version"}, nil, &out)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(out.String(), "mockserver "))
	assert.True(t, strings.HasSuffix(out.String(), by+"\n"))
	assert.Equal(t, "mockserver (unknown)"+by, version(nil), "without build information")
	assert.Equal(t, "mockserver v0.2.0"+by, version(&debug.BuildInfo{Main: debug.Module{Version: "v0.2.0"}}), "of a release")
}
