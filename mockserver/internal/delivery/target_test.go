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
		found := newTarget(map[string]http.Handler{row.host: handler}, false).handler(to) != nil
		if found != row.found {
			t.Errorf("%s for the host %s: found %v, want %v", row.url, row.host, found, row.found)
		}
	}
	both := newTarget(map[string]http.Handler{"hook.test": handler, "hook.test:80": http.NewServeMux()}, false)
	for host, exact := range both.handlers {
		if got := both.handler(&url.URL{Scheme: "http", Host: host}); fmt.Sprintf("%T", got) != fmt.Sprintf("%T", exact) {
			t.Errorf("%s: got the handler of another host", host)
		}
	}
}

func TestMayDial(t *testing.T) {
	for _, row := range []struct {
		address        string
		local, allowed bool // with AllowTargets off and on
	}{
		{"127.0.0.1:80", true, true},
		{"127.8.9.1:80", true, true},
		{"[::1]:80", true, true},
		{"[::ffff:127.0.0.1]:80", true, true},
		{"93.184.215.14:443", false, true},
		{"[2606:2800:21f:cb07::1]:443", false, true},
		{"10.1.2.3:80", false, false},
		{"172.16.0.1:80", false, false},
		{"192.168.0.1:80", false, false},
		{"169.254.169.254:80", false, false},
		{"100.64.0.1:80", false, false},
		{"0.0.0.0:80", false, false},
		{"0.1.2.3:80", false, false},
		{"192.0.2.1:80", false, false},
		{"198.18.0.1:80", false, false},
		{"224.0.0.1:80", false, false},
		{"255.255.255.255:80", false, false},
		{"[::]:80", false, false},
		{"[fe80::1%25eth0]:80", false, false},
		{"[fd00::1]:80", false, false},
		{"[ff02::1]:80", false, false},
		{"[::ffff:10.0.0.1]:80", false, false},
		{"[::10.0.0.1]:80", false, false},
		{"[64:ff9b::a00:1]:80", false, false},
		{"[2002:a00:1::]:80", false, false},
		{"[2001:0:1::1]:80", false, false},
		{"[2001:db8::1]:80", false, false},
		{"[2001:db8::1%25eth0]:80", false, false},
		{"[3fff::1]:80", false, false},
		{"[64:ff9b:1::1]:80", false, false},
		{"[100::1]:80", false, false},
		{"[100:0:0:1::1]:80", false, false},
		{"[5f00::1]:80", false, false},
		{"[fec0::1]:80", false, false},
		{"[4000::1]:80", false, false},
		{"app.test:80", false, false},
		{"nonsense", false, false},
	} {
		if err := mayDial(row.address, false); (err == nil) != row.local {
			t.Errorf("%s: %v", row.address, err)
		}
		if err := mayDial(row.address, true); (err == nil) != row.allowed {
			t.Errorf("%s, public targets allowed: %v", row.address, err)
		}
	}
}
