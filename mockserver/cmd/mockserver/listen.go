package main

import (
	"context"
	"fmt"
	"net"
	"sync"

	"example.com/emailplatform/mockserver"
)

// heldListener accepts no connection until it is released. Clients that connect before
// that wait.
type heldListener struct {
	net.Listener
	released <-chan struct{}
	release  func()
}

// listenHeld listens immediately, so an address in use is detected early. It
// accepts the default token, which is not a secret, only on loopback addresses.
func listenHeld(ctx context.Context, address string, defaultToken bool) (l heldListener, err error) {
	to, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return l, err
	}
	if defaultToken && !to.IP.IsLoopback() {
		return l, fmt.Errorf("-token is required because other machines can reach %s, and the default token %s is public",
			address, mockserver.DefaultToken)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", to.String())
	if err != nil {
		return l, err
	}
	released := make(chan struct{})
	return heldListener{listener, released, sync.OnceFunc(func() { close(released) })}, nil
}

// Accept implements [net.Listener].
func (l heldListener) Accept() (net.Conn, error) {
	<-l.released
	return l.Listener.Accept()
}

// Close implements [net.Listener].
func (l heldListener) Close() error {
	defer l.release() // only now, when there is nothing to accept any more
	return l.Listener.Close()
}
