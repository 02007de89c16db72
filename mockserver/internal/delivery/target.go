package delivery

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// Allowed describes the targets that may receive deliveries. Loopback addresses are
// always allowed.
type Allowed struct {
	Public   bool           // public addresses are allowed
	Hosts    []string       // host names, without a port; their addresses are not checked
	Networks []netip.Prefix // networks that contain the addresses
}

// targetGuard connects only to allowed targets.
type targetGuard struct {
	Allowed

	dialer net.Dialer // replaced in tests; its ControlContext runs after the guard
}

// hostKey returns the same key for equal host names.
func hostKey(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// unmapped converts a network of IPv4-mapped IPv6 addresses to a network of
// IPv4 addresses.
func unmapped(network netip.Prefix) netip.Prefix {
	if network.Addr().Is4In6() && network.Bits() >= 96 {
		return netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-96)
	}
	return network
}

// dial connects to the host and port of a URL. It checks the resolved address before it
// sends the first packet, because a permitted host name could resolve to a forbidden
// address.
func (g *targetGuard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	// On Windows and other systems, package net replaces 0.0.0.0 and :: with a
	// loopback address before it calls ControlContext.
	if addr, _ := netip.ParseAddr(host); addr.Unmap().IsUnspecified() {
		return nil, g.mayDial(host, address)
	}
	dialer := g.dialer
	next := dialer.ControlContext
	dialer.ControlContext = func(ctx context.Context, network, resolved string, c syscall.RawConn) error {
		if err := g.mayDial(host, resolved); err != nil || next == nil {
			return err
		}
		return next(ctx, network, resolved, c)
	}
	return dialer.DialContext(ctx, network, address)
}

// mayDial returns an error if deliveries to a target are not allowed. It checks the
// host name in the URL and the resolved address.
func (g *targetGuard) mayDial(host, resolved string) error {
	to, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return fmt.Errorf("deliveries to %s are not allowed: %w", resolved, err)
	}
	addr := to.Addr().Unmap().WithZone("")
	if addr.IsLoopback() {
		return nil
	}
	if reason := g.rejectReason(host, addr); reason != "" {
		return fmt.Errorf("deliveries to %s are not allowed: %s", addr, reason)
	}
	return nil
}

// rejectReason returns the reason why deliveries to an address are not allowed, or ""
// if they are.
func (g *targetGuard) rejectReason(host string, addr netip.Addr) string {
	named := func(allowed string) bool { return hostKey(allowed) == hostKey(host) }
	contains := func(network netip.Prefix) bool { return unmapped(network).Contains(addr) }
	switch {
	case Metadata(addr):
		return "cloud metadata services keep credentials there"
	case addr.IsUnspecified() || addr.IsMulticast():
		return "not an address of one machine"
	case slices.ContainsFunc(g.Hosts, named) || slices.ContainsFunc(g.Networks, contains):
		return ""
	case !addr.IsGlobalUnicast() || addr.IsPrivate() || special(addr):
		return "not a public address; -allow-target (Config.AllowTargetNetworks, AllowTargetHosts) allows it"
	case !g.Public:
		return "only loopback addresses are allowed; -allow-targets (Config.AllowTargets) adds public ones"
	}
	return ""
}

// special reports whether an address is shared, reserved or for documentation, or
// contains an IPv4 address. Package netip has no methods for most such addresses, so this
// function uses their blocks from the IANA special-purpose registries. It also returns
// true for every IPv6 address outside 2000::/3, because only this block contains public
// addresses.
func special(addr netip.Addr) bool {
	if addr.Is6() && !netip.MustParsePrefix("2000::/3").Contains(addr) {
		return true
	}
	blocks := []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	}
	return slices.ContainsFunc(blocks, func(block string) bool { return netip.MustParsePrefix(block).Contains(addr) })
}

// Metadata reports whether addr is a cloud metadata address, or an IPv6 address that may
// contain an IPv4 metadata address. Deliveries to metadata addresses are never allowed,
// because these addresses serve credentials. This check is separate, because users can
// allow networks that contain metadata addresses. For example, they can allow link-local
// addresses, because some container engines use such an address for the host.
func Metadata(addr netip.Addr) bool {
	if addr.Is4() {
		return metadata4(addr)
	}
	switch addr.String() {
	case "fd00:ec2::254", // Amazon, machines
		"fd00:ec2::23", // Amazon, pods
		"fd20:ce::254", // Google
		"fd00:42::42":  // Scaleway
		return true
	}
	return slices.ContainsFunc(embedded4(addr), metadata4)
}

func metadata4(addr netip.Addr) bool {
	switch addr.String() {
	case "169.254.169.254", // nearly all
		"169.254.169.252", // Google, pods
		"169.254.170.2",   // Amazon, containers
		"169.254.170.23",  // Amazon, pods
		"169.254.0.23",    // Tencent
		"169.254.42.42",   // Scaleway
		"100.100.100.200", // Alibaba
		"168.63.129.16",   // Azure, in addition to 169.254.169.254
		"192.0.0.192":     // Oracle, in addition to 169.254.169.254
		return true
	}
	return false
}

// embedded4 returns the IPv4 addresses that an IPv6 address may contain. The caller checks them
// too, because a gateway or tunnel can forward a request to such an IPv4 address. The prefix of
// an IPv6 address does not show whether it contains an IPv4 address, because network operators
// choose their own prefixes. Therefore, embedded4 returns the four bytes at each position where
// an IPv4 address can be:
//
//   - after 2 bytes, in 6to4 addresses (RFC 3056)
//   - after 4, 5, 6, 7, 8 or 12 bytes, in translated addresses (RFC 6052), whose ninth byte
//     is not part of the IPv4 address and is skipped
//   - at the end, in IPv4-mapped and IPv4-compatible addresses
//
// At these positions, the function also finds 169.254.169.254 in the addresses of metadata services:
// fd00:a9fe:a9fe::1 (Akamai), fd00:c1::a9fe:a9fe (Oracle) and fe80::a9fe:a9fe (OpenStack).
func embedded4(addr netip.Addr) []netip.Addr {
	b := addr.As16()
	without := append(append([]byte{}, b[:8]...), b[9:]...)
	var found []netip.Addr
	for _, offset := range []int{2, 4, 5, 6, 7, 8, 11} {
		found = append(found, netip.AddrFrom4([4]byte(without[offset:offset+4])))
	}
	return found
}
