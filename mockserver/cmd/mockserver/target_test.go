package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestAllowTarget(t *testing.T) {
	o, err := parse(strings.Fields("-allow-target 172.16.0.0/12 -allow-target app -allow-target=host.docker.internal "+
		"-allow-target 10.1.2.3 -allow-target fd00:17::/64 -allow-target fd00::3 -allow-target My_App-1."), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(o.config.AllowTargetHosts, o.config.AllowTargetNetworks)
	want := "[app host.docker.internal My_App-1.] [172.16.0.0/12 10.1.2.3/32 fd00:17::/64 fd00::3/128]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAllowTargetMistakes(t *testing.T) {
	for _, text := range []string{
		"", ".", "app:8080", "http://app", "app/", "*.example.com", "a b", "10.0.0.0/33", "10.0.0", "1234", "10.0.0.1:80",
		"[fd00::1]", "fe80::1%eth0", "app..test", "*", strings.Repeat("a", 64), strings.Repeat("a.", 127) + "abc",
	} {
		_, err := parse([]string{"-allow-target", text}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "-allow-target") || !strings.Contains(err.Error(), "want the name of a host") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What would be allowed in vain is a mistake. A network that has such addresses too
// is none.
func TestAllowTargetMetadata(t *testing.T) {
	for _, text := range []string{"169.254.169.254", "169.254.169.254/32", "::ffff:169.254.169.254", "fd00:ec2::254", "100.100.100.200"} {
		_, err := parse([]string{"-allow-target", text}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "-allow-target: nothing is ever delivered where clouds keep credentials") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := parse([]string{"-allow-target", "169.254.0.0/16"}, io.Discard); err != nil {
		t.Error(err)
	}
}
