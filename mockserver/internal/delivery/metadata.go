package delivery

import (
	"net/netip"
	"slices"
)

// Metadata reports whether a is a metadata address of a cloud, which serves
// credentials, or an IPv6 address that maps to one. Deliveries to it are never
// allowed. Other link-local addresses can be allowed, because some container
// engines use them for the host.
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
		"168.63.129.16",   // Azure, in addition to the first
		"192.0.0.192":     // Oracle, in addition to the first
		return true
	}
	return false
}

// embedded4 returns the IPv4 addresses that a gateway or tunnel may derive from
// an IPv6 address. Network operators choose the prefixes, so only the positions
// count. 6to4 (RFC 3056) has the IPv4 address after the first two bytes.
// Translation (RFC 6052) has it after 4 to 8 or 12 bytes and skips the ninth.
// Mapped and compatible addresses have it at the end. Clouds use similar forms:
// Akamai fd00:a9fe:a9fe::1, Oracle fd00:c1::a9fe:a9fe, OpenStack
// fe80::a9fe:a9fe.
func embedded4(addr netip.Addr) []netip.Addr {
	b := addr.As16()
	without := append(append([]byte{}, b[:8]...), b[9:]...)
	var found []netip.Addr
	for _, place := range []int{2, 4, 5, 6, 7, 8, 11} {
		found = append(found, netip.AddrFrom4([4]byte(without[place:place+4])))
	}
	return found
}
