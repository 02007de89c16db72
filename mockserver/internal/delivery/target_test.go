package delivery

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMayDial(t *testing.T) {
	local, public := &targetGuard{}, &targetGuard{Allowed: Allowed{Public: true}}
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
		{"168.63.129.16:80", false, false},
		{"nonsense", false, false},
	} {
		if err := local.mayDial("hook.test", row.address); (err == nil) != row.local {
			t.Errorf("%s: %v", row.address, err)
		}
		if err := public.mayDial("hook.test", row.address); (err == nil) != row.allowed {
			t.Errorf("%s, public targets allowed: %v", row.address, err)
		}
	}
}

func TestAllowedNetworks(t *testing.T) {
	for _, row := range []struct {
		network, address string
		allowed          bool
	}{
		{"172.18.0.0/16", "172.18.0.3:8080", true},
		{"172.18.0.0/16", "[::ffff:172.18.0.3]:8080", true},
		{"::ffff:172.18.0.0/112", "172.18.0.3:8080", true},
		{"::ffff:0.0.0.0/96", "172.18.0.3:8080", true},
		{"::ffff:0.0.0.0/90", "[fd00:17::3]:8080", false},
		{"::ffff:0.0.0.0/90", "[::ffc0:0:1]:8080", true},
		{"fd00:17::/112", "[fd00:17::3]:8080", true},
		{"fd00:17::/112", "[fd00:18::3]:8080", false},
		{"172.18.0.3/32", "172.18.0.3:8080", true},
		{"172.18.0.3/32", "172.18.0.4:8080", false},
		{"172.18.0.0/16", "172.19.0.3:8080", false},
		{"172.18.0.0/16", "93.184.215.14:443", false},
		{"fd00:17::/64", "[fd00:17::3]:8080", true},
		{"fd00:17::/64", "[fd00:18::3]:8080", false},
		{"fe80::/10", "[fe80::1%25eth0]:8080", true},
		{"fe80::/10", "[fe80::1%eth0]:8080", true},
		{"169.254.0.0/16", "169.254.1.2:8080", true},
		{"93.184.215.0/24", "93.184.215.14:443", true},
		{"0.0.0.0/0", "[fd00::1]:80", false},
		{"0.0.0.0/0", "0.0.0.0:80", false},
		{"0.0.0.0/0", "224.0.0.1:80", false},
		{"::/0", "[::]:80", false},
		{"::/0", "[ff02::1]:80", false},
		{"::/0", "10.0.0.1:80", false},
	} {
		g := &targetGuard{Allowed: Allowed{Networks: []netip.Prefix{netip.MustParsePrefix(row.network)}}}
		if err := g.mayDial("app", row.address); (err == nil) != row.allowed {
			t.Errorf("%s with %s allowed: %v", row.address, row.network, err)
		}
	}
}

// No option allows deliveries to metadata services of clouds, in any notation of their addresses.
func TestMetadataServicesAreRejected(t *testing.T) {
	everything := &targetGuard{Allowed: Allowed{
		Public: true,
		Hosts:  []string{"metadata.test"},
		Networks: []netip.Prefix{
			netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"), netip.MustParsePrefix("169.254.169.254/32"),
		},
	}}
	for _, address := range []string{
		"169.254.169.254", "169.254.169.252", "169.254.170.2", "169.254.170.23", "169.254.0.23", "169.254.42.42", "100.100.100.200",
		"168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42",
		"fd00:c1::a9fe:a9fe", "fe80::a9fe:a9fe", "fe80::a9fe:a9fe%eth0", "fd00:a9fe:a9fe::1",
		"::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::169.254.169.254", "::ffff:0:169.254.169.254",
		"::ffff:100.100.100.200", "::ffff:168.63.129.16", "64:ff9b::169.254.169.254", "64:ff9b:1::a9fe:a9fe",
		"64:ff9b:1:a9fe:a9:fe00::", "2002:a9fe:a9fe::1", "2001:db8:a9fe:a9fe::", "2001:db8:1a9:fea9:fe::",
		"2001:db8:1:a9fe:a9:fe00::", "2001:db8:1:1:a9:fea9:fe00:0",
	} {
		to := netip.AddrPortFrom(netip.MustParseAddr(address), 80).String()
		err := everything.mayDial("metadata.test", to)
		assert.ErrorContains(t, err, "credentials", address)
	}
	for _, address := range []string{"169.254.169.253", "169.254.1.2", "fd00:ec2::253", "10.254.169.254"} {
		assert.NoError(t, everything.mayDial("app", netip.AddrPortFrom(netip.MustParseAddr(address), 80).String()), "%s is not a metadata service", address)
	}
}

// errStop stops a dial before the first packet.
var errStop = errors.New("stopped before the first packet")

// TestDialChecksResolvedAddresses runs whole attempts with its own resolver and a dialer that sends nothing.
func TestDialChecksResolvedAddresses(t *testing.T) {
	names := resolver(map[string][]string{
		"app":      {"172.18.0.3"},
		"two":      {"169.254.169.254", "172.18.0.4"},
		"metadata": {"169.254.169.254"},
		"six":      {"fd00:ec2::254"},
		"mapped":   {"::ffff:169.254.169.254"},
		"public":   {"93.184.215.14"},
	})
	hosts := Allowed{Hosts: []string{"App", "two.", "metadata", "six", "mapped", "172.18.0.9"}}
	network := Allowed{Networks: []netip.Prefix{netip.MustParsePrefix("172.18.0.0/16")}}
	everything := Allowed{
		Public:   true,
		Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")},
	}
	for _, row := range []struct {
		name    string
		allow   Allowed
		host    string
		reached []string // the addresses that the guard allows
	}{
		{"nothing is allowed", Allowed{}, "app", nil},
		{"public addresses are allowed", Allowed{Public: true}, "app", nil},
		{"its name is allowed", hosts, "app", []string{"172.18.0.3:8080"}},
		{"its name, fully qualified and in capitals", hosts, "APP.", []string{"172.18.0.3:8080"}},
		{"its network is allowed", network, "app", []string{"172.18.0.3:8080"}},
		{"its address, by the name's rule", hosts, "172.18.0.9", []string{"172.18.0.9:8080"}},
		{"another name", hosts, "public", nil},
		{"a public name", Allowed{Public: true}, "public", []string{"93.184.215.14:8080"}},
		{"one of two addresses", hosts, "two", []string{"172.18.0.4:8080"}},
		{"metadata by an allowed name", hosts, "metadata", nil},
		{"metadata of IPv6 by an allowed name", hosts, "six", nil},
		{"metadata of IPv4 in IPv6 by an allowed name", hosts, "mapped", nil},
		{"metadata with everything allowed", everything, "metadata", nil},
		{"no address of one machine", everything, "0.0.0.0", nil},
		{"metadata by its address", everything, "169.254.169.254", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var reached []string
			g := &targetGuard{Allowed: row.allow}
			g.dialer.Resolver = names
			g.dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
				reached = append(reached, address)
				return errStop
			}
			to := "http://" + net.JoinHostPort(row.host, "8080") + "/hook"
			_, _, problem := newWebhookClient(Options{}, g).post(t.Context(), to, http.Header{}, nil)
			if !slices.Equal(reached, row.reached) {
				t.Errorf("reached %v, want %v: %s", reached, row.reached, problem)
			}
			if want := "not allowed"; row.reached == nil && !strings.Contains(problem, want) {
				t.Errorf("the attempt has the error %q, want %q in it", problem, want)
			}
		})
	}
}

// resolver returns a resolver that finds only the names in a table. It uses DNS over a pipe.
func resolver(table map[string][]string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			for serveName(there, table) == nil {
			}
		}()
		return here, nil
	}}
}

// serveName responds to one DNS query over TCP (RFC 1035, section 4.2.2). Only the first label of the name counts, because
// the machine may append a domain.
func serveName(c net.Conn, table map[string][]string) error {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return err
	}
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, query); err != nil {
		return err
	}
	end := 12 // index of the zero byte after the name
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	label := string(query[13 : 13+int(query[12])])
	response := append(slices.Clone(query[:2]), 0x84, 0, 0, 1, 0, 0, 0, 0, 0, 0)
	response = append(response, query[12:end+5]...)
	for _, text := range table[strings.ToLower(label)] {
		addr := netip.MustParseAddr(text)
		kind := byte(1) // A
		if addr.Is6() {
			kind = 28 // AAAA
		}
		if kind == query[end+2] {
			response[7]++
			response = append(response, 0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0, byte(addr.BitLen()/8))
			response = append(response, addr.AsSlice()...)
		}
	}
	binary.BigEndian.PutUint16(size[:], uint16(len(response)))
	_, err := c.Write(append(size[:], response...))
	return err
}

// Hosts are compared without case, and the port of the scheme may be omitted.
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
		require.NoError(t, err)
		found := newWebhookClient(Options{Targets: map[string]http.Handler{row.host: handler}}, nil).handler(to) != nil
		assert.Equal(t, row.found, found, "%s for the host %s", row.url, row.host)
	}
	both := newWebhookClient(Options{Targets: map[string]http.Handler{"hook.test": handler, "hook.test:80": http.NewServeMux()}}, nil)
	for host, exact := range both.handlers {
		assert.Equal(t, fmt.Sprintf("%T", exact), fmt.Sprintf("%T", both.handler(&url.URL{Scheme: "http", Host: host})), "%s: got the handler of another host", host)
	}
}
