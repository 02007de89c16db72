package delivery

import (
	"net/netip"
	"slices"
)

// Metadata reports whether a cloud's machines ask this address for their own
// credentials, directly or as the IPv4 address that an IPv6 one stands for: nothing
// is ever delivered there. The rest of the link-local networks is none of theirs:
// some container engines put the host there.
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
	return slices.ContainsFunc(standsFor(addr), metadata4)
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
		"168.63.129.16",   // Azure, beside the first
		"192.0.0.192":     // Oracle, beside the first
		return true
	}
	return false
}

// standsFor returns the IPv4 addresses that a gateway or tunnel may make of an
// IPv6 one. Which prefixes do is for a network's operator to choose, so that the
// places alone count. 6to4 (RFC 3056) has the IPv4 address behind the first two
// bytes, translation (RFC 6052) behind 4 to 8 or 12 of them, passing over the
// ninth, mapped and compatible addresses have it at the end. Clouds do alike:
// Akamai's fd00:a9fe:a9fe::1, Oracle's fd00:c1::a9fe:a9fe, OpenStack's
// fe80::a9fe:a9fe.
func standsFor(addr netip.Addr) []netip.Addr {
	b := addr.As16()
	without := append(append([]byte{}, b[:8]...), b[9:]...)
	var found []netip.Addr
	for _, place := range []int{2, 4, 5, 6, 7, 8, 11} {
		found = append(found, netip.AddrFrom4([4]byte(without[place:place+4])))
	}
	return found
}
