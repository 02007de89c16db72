// Package testdb contains the tests of the stores in PostgreSQL.
package testdb

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/emailplatform/webhook"
	"example.com/emailplatform/webhook/webhooktest"
)

// Store describes a store to test.
type Store struct {
	// New returns a store of the database at url. dial opens its connections.
	New func(t testing.TB, url string, dial Dial) Once
	// Exec runs a step of a scenario in the transaction of the handler that received ctx.
	Exec func(ctx context.Context, step string) error
	// Scenarios contain steps that only this store has, such as methods of its driver.
	Scenarios []Scenario
	// Managed is the error for handlers that ended the transaction.
	Managed error
}

// Dial opens a connection.
type Dial = func(ctx context.Context, network, addr string) (net.Conn, error)

// Once is a deduplication store in PostgreSQL.
type Once interface {
	webhook.Once
	Forget(ctx context.Context, olderThan time.Duration) (deleted int64, err error)
}

// Direct opens a connection.
var Direct = new(net.Dialer).DialContext

// Test tests a store, directly and through PgBouncer.
func Test(t *testing.T, s Store) {
	t.Helper()
	for way, url := range URLs(t) {
		t.Run(way, func(t *testing.T) {
			webhooktest.TestOnce(t, func(t *testing.T) webhook.Once { return s.New(t, url, Direct) })
			webhooktest.TestCrash(t, func(t *testing.T) (webhook.Once, func()) {
				w := &wire{}
				return s.New(t, url, w.dial), w.cut
			})
			t.Run("Forget", func(t *testing.T) { s.forget(t, url) })
		})
	}
	t.Run("scenarios", s.scenarios)
	t.Run("concurrent processes", s.concurrentProcesses)
	t.Run("no transaction", func(t *testing.T) {
		if err := s.Exec(t.Context(), "SELECT 1"); err == nil || !strings.Contains(err.Error(), "webhook.Options.Once") {
			t.Error(err)
		}
	})
}

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
		t.Skip("SKIPPED, nothing was proven: set POSTGRES_URL to a PostgreSQL that may be written to")
	}
	return urls
}

// Connect returns a connection without PgBouncer.
func Connect(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), URLs(t)["direct"])
	Fatal(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) //nolint:usetesting // t.Context has ended
	return conn
}

// Fatal ends the test if there is an error.
func Fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wire contains the connections of a store. A test can cut them to simulate a
// crash.
type wire struct {
	mu    sync.Mutex
	conns []net.Conn
	dead  bool
}

func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return nil, errors.New("the connection was cut")
	}
	conn, err := Direct(ctx, network, addr)
	if err == nil {
		w.conns = append(w.conns, conn)
	}
	return conn, err
}

// cut closes all connections and rejects new ones.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	for _, c := range w.conns {
		_ = c.Close()
	}
}

func (s Store) forget(t *testing.T, url string) {
	once, conn, young := s.New(t, url, Direct), Connect(t), rand.Text()
	succeed := func(context.Context) error { return nil }
	_, err := conn.Exec(t.Context(), "SELECT pg_advisory_lock(7426953)") // the tests of both stores use the same table
	Fatal(t, err)
	_, err = once.Do(t.Context(), young, succeed)
	Fatal(t, err)
	const old, least = 12_000, 8 * time.Hour
	_, err = conn.Exec(t.Context(), `INSERT INTO emailplatform_handled
		SELECT sha256(gen_random_uuid()::text::bytea), now() - interval '9 hours' FROM generate_series(1, $1::int)`, old)
	Fatal(t, err)
	for _, age := range []time.Duration{-time.Hour, 0, least - 1} {
		if n, err := once.Forget(t.Context(), age); n != 0 || err == nil || !strings.Contains(err.Error(), "olderThan") {
			t.Errorf("%v: deleted %d, %v", age, n, err)
		}
	}
	if n, err := once.Forget(t.Context(), least); err != nil || n < old {
		t.Errorf("deleted %d, %v; want %d", n, err, old)
	}
	var left int
	err = conn.QueryRow(t.Context(), "SELECT count(*) FROM emailplatform_handled WHERE handled_at < now() - interval '8 hours'").Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%d are left, %v", left, err)
	}
	if ran, err := once.Do(t.Context(), young, succeed); ran || err != nil {
		t.Errorf("a young key was deleted: %v, %v", ran, err)
	}
}

// newTable creates a table for the rows of handlers, and returns a statement that inserts a row.
func newTable(t testing.TB, conn *pgx.Conn) (name, insert string) {
	t.Helper()
	name = "effects_" + strings.ToLower(rand.Text())
	_, err := conn.Exec(t.Context(), "CREATE TABLE "+name+" (n int)")
	Fatal(t, err)
	t.Cleanup(func() { _, _ = conn.Exec(context.Background(), "DROP TABLE "+name) }) //nolint:usetesting // t.Context has ended
	return name, "INSERT INTO " + name + " SELECT 1"
}

// concurrentProcesses: many events arrive at several processes at the same time, in a database with another default
// isolation level. Each has one effect.
func (s Store) concurrentProcesses(t *testing.T) {
	const events, processes = 300, 4
	strict, err := url.Parse(URLs(t)["direct"])
	Fatal(t, err)
	query := strict.Query()
	query.Set("default_transaction_isolation", "serializable")
	strict.RawQuery = query.Encode()
	conn := Connect(t)
	name, insert := newTable(t, conn)
	var called atomic.Int64
	var wg sync.WaitGroup
	keys := make([]string, events)
	for i := range keys {
		keys[i] = rand.Text()
	}
	for range processes {
		once := s.New(t, strict.String(), Direct)
		wg.Go(func() {
			for _, key := range keys {
				deliver(t, once, key, func(ctx context.Context) error {
					called.Add(1)
					return s.Exec(ctx, insert+" WHERE current_setting('transaction_isolation') = 'read committed'")
				})
			}
		})
	}
	wg.Wait()
	var n int
	Fatal(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+name).Scan(&n))
	if n != events || called.Load() != events {
		t.Errorf("%d effects of %d calls for %d events", n, called.Load(), events)
	}
}

// deliver repeats a delivery until the event is handled, as the platform does.
func deliver(t testing.TB, once webhook.Once, key string, fn func(context.Context) error) {
	for {
		_, err := once.Do(t.Context(), key, fn)
		if err == nil {
			return
		}
		if !errors.Is(err, webhook.ErrInFlight) {
			t.Error(err)
			return
		}
		time.Sleep(time.Millisecond)
	}
}
