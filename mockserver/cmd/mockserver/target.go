package main

import (
	"errors"
	"net/netip"
	"strings"
	"unicode"

	"example.com/emailplatform/mockserver/internal/delivery"
)

// allowTarget is the flag -allow-target: a network, an address or the name of a
// host.
func (o *options) allowTarget(text string) error {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return o.allowNetwork(netip.PrefixFrom(addr, addr.BitLen()))
	}
	if network, err := netip.ParsePrefix(text); err == nil {
		return o.allowNetwork(network)
	}
	if !isHostName(text) {
		return errors.New("want the name of a host without a port, an IP address, or a network such as 172.16.0.0/12")
	}
	o.config.AllowTargetHosts = append(o.config.AllowTargetHosts, text)
	return nil
}

// allowNetwork refuses an address to which allowing it would not deliver.
func (o *options) allowNetwork(network netip.Prefix) error {
	if network.IsSingleIP() && delivery.Metadata(network.Addr().Unmap()) {
		return errors.New("nothing is ever delivered where clouds keep credentials of their machines")
	}
	o.config.AllowTargetNetworks = append(o.config.AllowTargetNetworks, network)
	return nil
}

// isHostName reports whether a text can be the name of a host or of a service of
// docker-compose, which may have underscores. What looks like an address is none:
// a name's last label is no number (RFC 3696, section 2).
func isHostName(text string) bool {
	labels := strings.Split(strings.TrimSuffix(text, "."), ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.IndexFunc(label, notOfAName) >= 0 {
			return false
		}
	}
	return len(text) <= 254 && strings.Trim(labels[len(labels)-1], "0123456789") != ""
}

func notOfAName(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_", unicode.ToLower(r))
}
