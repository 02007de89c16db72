package pgstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/contrib/pgstore"
	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/testservers"
	"example.com/emailplatform/webhook"
	"example.com/emailplatform/webhook/webhooktest"
)

// urls returns the URL in POSTGRES_URL. If PGBOUNCER_URL is set, urls also returns the URL in this variable. With
// CI=true, PGBOUNCER_URL must be set.
func urls(t testing.TB) map[string]string {
	t.Helper()
	found := map[string]string{"direct": testservers.Address(t, "POSTGRES_URL")}
	if os.Getenv("PGBOUNCER_URL") != "" || os.Getenv("CI") == "true" {
		found["PgBouncer"] = testservers.Address(t, "PGBOUNCER_URL")
	}
	return found
}

func TestOnce(t *testing.T) {
	for way, url := range urls(t) {
		t.Run(way, func(t *testing.T) {
			webhooktest.TestOnce(t, func(t *testing.T) webhook.Once { return pgstore.NewOnce(newPool(t, url), pgstore.OnceOptions{}) })
		})
	}
}

func TestOnceCrash(t *testing.T) {
	for way, url := range urls(t) {
		t.Run(way, func(t *testing.T) {
			webhooktest.TestCrash(t, func(t *testing.T) (webhook.Once, func()) {
				w := &connections{}
				return pgstore.NewOnce(newPool(t, url, through(w)), pgstore.OnceOptions{}), w.cut
			})
		})
	}
}

// table creates a table for the rows of a handler.
func table(t testing.TB, pool *pgxpool.Pool) (name string) {
	t.Helper()
	name = "effects_" + strings.ToLower(rand.Text())
	_, err := pool.Exec(t.Context(), "CREATE TABLE "+name+" (key text)")
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = pool.Exec(context.Background(), "DROP TABLE "+name) }) //nolint:usetesting // t.Context has ended
	return name
}

func count(t testing.TB, pool *pgxpool.Pool, table string) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// TestModel: whatever a handler does with its transaction, the event is handled if and only if its rows and its key
// are committed.
func TestModel(t *testing.T) {
	pool := direct(t)
	once, effects := pgstore.NewOnce(pool, pgstore.OnceOptions{}), table(t, pool)
	store := modeled{
		do: func(key string, handler func(func(string, int) error) error) (bool, error) {
			return once.Do(t.Context(), key, func(ctx context.Context) error {
				tx, err := pgstore.Tx(ctx)
				if err != nil {
					return err
				}
				return handler(func(name string, row int) error { return step(ctx, tx, name, effects, row) })
			})
		},
		rows: func() ([]int, error) {
			rows, err := pool.Query(t.Context(), "WITH r AS (DELETE FROM "+effects+" RETURNING key::int) SELECT key FROM r ORDER BY key")
			if err != nil {
				return nil, err
			}
			return pgx.CollectRows(rows, pgx.RowTo[int])
		},
	}
	store.check(t, 500)
}

// step runs one of steps.
func step(ctx context.Context, tx pgx.Tx, name, effects string, row int) error {
	insert := fmt.Sprintf("INSERT INTO %s VALUES (%d)", effects, row)
	in := func(db beginner) error {
		err := pgx.BeginFunc(ctx, db, func(inner pgx.Tx) error {
			if _, err := inner.Exec(ctx, insert); err != nil {
				return err
			}
			if strings.HasSuffix(name, "fails") {
				return errRollback
			}
			return nil
		})
		if errors.Is(err, errRollback) {
			return nil
		}
		return err
	}
	var err error
	switch name {
	case "Commit()":
		err = tx.Commit(ctx)
	case "Rollback()":
		err = tx.Rollback(ctx)
	case "Begin() commits", "Begin() fails":
		err = in(tx)
	case "BeginFunc commits", "BeginFunc fails":
		err = in(tx.Conn())
	case "INSERT":
		_, err = tx.Exec(ctx, insert)
	default:
		_, err = tx.Exec(ctx, name)
	}
	return err
}

type beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

var errRollback = errors.New("rolled back on purpose")

func TestTxWithoutOnce(t *testing.T) {
	if tx, err := pgstore.Tx(t.Context()); err == nil || tx != nil || !strings.Contains(err.Error(), "webhook.Options.Once") {
		t.Error(tx, err)
	}
}

// TestConcurrentProcesses: many events arrive at several pools at the same time, in a database whose default
// isolation level is not READ COMMITTED. Each event has one effect.
func TestConcurrentProcesses(t *testing.T) {
	const events, deliveries = 300, 4
	strict := func(cfg *pgxpool.Config) {
		cfg.MaxConns = deliveries
		cfg.ConnConfig.RuntimeParams["default_transaction_isolation"] = "repeatable read"
	}
	pool := direct(t)
	effects := table(t, pool)
	var called atomic.Int64
	var wg sync.WaitGroup
	keys := make([]string, events)
	for i := range keys {
		keys[i] = rand.Text()
	}
	for range deliveries {
		once := pgstore.NewOnce(direct(t, strict), pgstore.OnceOptions{})
		wg.Go(func() {
			for _, key := range keys {
				deliver(t, once, key, func(ctx context.Context) error {
					called.Add(1)
					tx, err := pgstore.Tx(ctx)
					if err != nil {
						return err
					}
					_, err = tx.Exec(ctx, "INSERT INTO "+effects+" VALUES ($1)", key)
					return err
				})
			}
		})
	}
	wg.Wait()
	if n := count(t, pool, effects); n != events || called.Load() != events {
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

// TestPoolIsExhausted: a handler that needs a second connection of an exhausted pool waits until its context ends.
// Afterwards the pool is usable again.
func TestPoolIsExhausted(t *testing.T) {
	const conns = 2
	pool := direct(t, func(cfg *pgxpool.Config) { cfg.MaxConns = conns })
	once := pgstore.NewOnce(pool, pgstore.OnceOptions{})
	var wg sync.WaitGroup
	var ready sync.WaitGroup
	ready.Add(conns)
	// All calls have the same deadline, because if one call ended earlier, another could use its connection.
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	for range conns {
		wg.Go(func() {
			ran, err := once.Do(ctx, rand.Text(), func(ctx context.Context) error {
				ready.Done()
				ready.Wait()
				_, err := pool.Exec(ctx, "SELECT 1")
				return err
			})
			if !ran || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Do = %v, %v", ran, err)
			}
		})
	}
	wg.Wait()
	if ran, err := once.Do(t.Context(), rand.Text(), func(context.Context) error { return nil }); !ran || err != nil {
		t.Errorf("afterwards: %v, %v", ran, err)
	}
}

func TestForget(t *testing.T) {
	for way, url := range urls(t) {
		t.Run(way, func(t *testing.T) {
			pool := newPool(t, url)
			once, young := pgstore.NewOnce(pool, pgstore.OnceOptions{}), rand.Text()
			_, err := once.Do(t.Context(), young, func(context.Context) error { return nil })
			require.NoError(t, err)
			const old = 12_000
			_, err = pool.Exec(t.Context(), `INSERT INTO emailplatform_handled
				SELECT sha256(gen_random_uuid()::text::bytea), now() - interval '8 days' FROM generate_series(1, $1::int)`, old)
			require.NoError(t, err)
			if n, err := once.Forget(t.Context(), 7*24*time.Hour); err != nil || n < old {
				t.Errorf("deleted %d keys, %v; want %d", n, err, old)
			}
			var left int
			err = pool.QueryRow(t.Context(), `SELECT count(*) FROM emailplatform_handled
				WHERE handled_at BETWEEN now() - interval '9 days' AND now() - interval '7 days'`).Scan(&left)
			if err != nil || left != 0 {
				t.Errorf("%d keys remain, %v", left, err)
			}
			if ran, err := once.Do(t.Context(), young, func(context.Context) error { return nil }); ran || err != nil {
				t.Errorf("a recent key was deleted: %v, %v", ran, err)
			}
		})
	}
}

func TestForgetTooYoung(t *testing.T) {
	once := pgstore.NewOnce(direct(t), pgstore.OnceOptions{})
	for _, age := range []time.Duration{-time.Hour, 0, 8*time.Hour - 1} {
		if _, err := once.Forget(t.Context(), age); err == nil || !strings.Contains(err.Error(), "olderThan") {
			t.Errorf("%v: %v", age, err)
		}
	}
	if _, err := once.Forget(t.Context(), 8*time.Hour); err != nil {
		t.Errorf("8 hours: %v", err)
	}
}

func TestConcurrentSchema(t *testing.T) {
	pool := direct(t)
	schema := "s" + strings.ToLower(rand.Text())
	_, err := pool.Exec(t.Context(), "CREATE SCHEMA "+schema)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			conn, err := pgx.Connect(t.Context(), pool.Config().ConnString())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close(t.Context()) }()
			if _, err := conn.Exec(t.Context(), "SET search_path = "+schema); err != nil {
				t.Error(err)
			}
			if _, err := conn.Exec(t.Context(), pgstore.Schema); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestNilDatabasePanics: a database that is nil, or a nil pool, causes a panic when the program starts.
func TestNilDatabasePanics(t *testing.T) {
	for _, none := range []pgstore.DB{nil, (*pgxpool.Pool)(nil)} {
		require.PanicsWithValue(t, "pgstore: NewOnce needs a database", func() { pgstore.NewOnce(none, pgstore.OnceOptions{}) })
	}
}

// TestEarlyEvent: the README's handler counts a bounce that arrives before the program
// has stored the id of the email.
func TestEarlyEvent(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil || !strings.Contains(string(readme), countBounce) {
		t.Fatalf("the README does not show countBounce (%v)", err)
	}
	pool := direct(t)
	ctx := t.Context()
	exec := func(query string, args ...any) {
		t.Helper()
		_, err := pool.Exec(ctx, query, args...)
		require.NoError(t, err)
	}
	exec("DROP TABLE IF EXISTS recipients")
	exec("CREATE TABLE recipients (email_id text PRIMARY KEY, bounces int NOT NULL DEFAULT 0)")

	secret, err := webhook.ParseSecret("whsec_example", "sha256")
	require.NoError(t, err)
	verifier, err := webhook.NewVerifier(secret)
	require.NoError(t, err)
	handler := webhook.NewHandler(verifier, func(ctx context.Context, e *events.Event) error {
		tx, err := pgstore.Tx(ctx)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, countBounce, e.EmailID())
		return err
	}, webhook.Options{Once: pgstore.NewOnce(pool, pgstore.OnceOptions{})})
	body := []byte(`{"id":"` + rand.Text() + `","event":"Email.Bounced","data":{"email":{"id":"email-1"}}}`)
	for range 2 { // the platform can deliver an event several times
		r, err := webhook.NewRequest(ctx, "http://shop.test/hook", secret, body)
		require.NoError(t, err)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusNoContent {
			t.Fatalf("response %d: %s", w.Code, w.Body)
		}
	}
	exec("INSERT INTO recipients (email_id) VALUES ($1) ON CONFLICT DO NOTHING", "email-1")
	var bounces int
	if err := pool.QueryRow(ctx, "SELECT bounces FROM recipients WHERE email_id = $1", "email-1").Scan(&bounces); err != nil || bounces != 1 {
		t.Errorf("%d bounces, %v", bounces, err)
	}
}

// newPool returns a pool for the PostgreSQL server at url, and creates the table in its database.
func newPool(t testing.TB, url string, change ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(url)
	require.NoError(t, err)
	for _, c := range change {
		c(cfg)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), pgstore.Schema)
	require.NoError(t, err)
	return pool
}

func direct(t testing.TB, change ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	return newPool(t, testservers.Address(t, "POSTGRES_URL"), change...)
}

func through(w *connections) func(*pgxpool.Config) {
	return func(cfg *pgxpool.Config) { cfg.ConnConfig.DialFunc = w.dial }
}
