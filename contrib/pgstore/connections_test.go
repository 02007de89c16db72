package pgstore_test

import (
	"context"
	"errors"
	"net"
	"sync"
)

// connections contains the connections of a pool. A test can cut them to simulate a
// crash.
type connections struct {
	mu    sync.Mutex
	conns []net.Conn
	dead  bool
}

// dial is a function for pgconn.Config.DialFunc.
func (w *connections) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return nil, errors.New("the connection was cut")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err == nil {
		w.conns = append(w.conns, conn)
	}
	return conn, err
}

// cut closes all connections and rejects new ones.
func (w *connections) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	for _, c := range w.conns {
		_ = c.Close()
	}
}
