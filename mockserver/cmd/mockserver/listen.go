package main

import (
	"context"
	"net"
	"sync"
)

// held is a listener that accepts nobody until it is released. Who comes before
// that waits, as for a server that is busy, and loses nothing.
type held struct {
	net.Listener
	released <-chan struct{}
	release  func()
}

// hold listens, so that an address that is taken is known at once.
func hold(ctx context.Context, address string) (held, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
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
