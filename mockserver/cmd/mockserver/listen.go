package main

import (
	"context"
	"fmt"
	"net"
	"sync"

	"example.com/emailplatform/mockserver"
)

// held is a listener that accepts nobody until it is released. Who comes before
// that waits, as for a server that is busy, and loses nothing.
type held struct {
	net.Listener
	released <-chan struct{}
	release  func()
}

// hold listens, so that an address that is taken is known at once. From another
// machine a token is all that protects the state and its secrets: the default
// one, which everybody knows, is for loopback alone.
func hold(ctx context.Context, address string, defaultToken bool) (held, error) {
	to, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return held{}, err
	}
	if defaultToken && !to.IP.IsLoopback() {
		return held{}, fmt.Errorf("%s can be reached from other machines: give a -token of your own, because everybody knows %s",
			address, mockserver.DefaultToken)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", to.String())
	if err != nil {
		return held{}, err
	}
	released := make(chan struct{})
	return held{listener, released, sync.OnceFunc(func() { close(released) })}, nil
}

// Accept implements [net.Listener].
func (h held) Accept() (net.Conn, error) {
	<-h.released
	return h.Listener.Accept()
}

// Close implements [net.Listener].
func (h held) Close() error {
	defer h.release() // only now: there is nobody left to accept
	return h.Listener.Close()
}
