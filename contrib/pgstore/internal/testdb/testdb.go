// Package testdb finds the PostgreSQL servers that tests may write to.
package testdb

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"testing"
)

// URLs returns the database URLs: "direct" from POSTGRES_URL, and "PgBouncer"
// from PGBOUNCER_URL if it is set. In CI, both variables must be set.
func URLs(t testing.TB) map[string]string {
	t.Helper()
	urls := map[string]string{}
	for way, variable := range map[string]string{"direct": "POSTGRES_URL", "PgBouncer": "PGBOUNCER_URL"} {
		if url := os.Getenv(variable); url != "" {
			urls[way] = url
		} else if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not set: CI needs a PostgreSQL, directly and through PgBouncer", variable)
		}
	}
	if urls["direct"] == "" {
		t.Skip("SKIPPED, nothing was tested: set POSTGRES_URL to a PostgreSQL server that the tests can change")
	}
	return urls
}

// Wire contains the connections of a pool. A test can cut them to simulate a
// crash.
type Wire struct {
	mu    sync.Mutex
	conns []net.Conn
	dead  bool
}

// Dial is a function for pgconn.Config.DialFunc.
func (w *Wire) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
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

// Cut closes all connections and rejects new ones.
func (w *Wire) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	for _, c := range w.conns {
		_ = c.Close()
	}
}
