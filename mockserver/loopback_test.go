package mockserver

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A server listens on the IPv4 loopback address, or on the IPv6 loopback address if IPv4 fails.
func TestListenLoopback(t *testing.T) {
	for name, want := range map[string]struct {
		fails  []string
		listen string // the address of the listener; "" if listening fails
	}{
		"IPv4 and IPv6": {listen: "127.0.0.1:0"},
		"no IPv4":       {fails: []string{"127.0.0.1:0"}, listen: "[::1]:0"},
		"neither":       {fails: []string{"127.0.0.1:0", "[::1]:0"}},
	} {
		t.Run(name, func(t *testing.T) {
			listened := ""
			got, err := listenLoopback(func(_ context.Context, _, address string) (net.Listener, error) {
				if slices.Contains(want.fails, address) {
					return nil, errors.New("no " + address)
				}
				listened = address
				return &net.TCPListener{}, nil
			})
			assert.Equal(t, want.listen, listened)
			assert.Equal(t, want.listen == "", got == nil)
			assert.Equal(t, want.listen != "", err == nil)
			for _, address := range want.fails {
				if err != nil && !strings.Contains(err.Error(), address) {
					t.Errorf("error %q, want %s in it", err, address)
				}
			}
		})
	}
}
