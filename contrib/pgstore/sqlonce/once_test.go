package sqlonce_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/contrib/pgstore/internal/testdb"
	"example.com/emailplatform/contrib/pgstore/sqlonce"
	"example.com/emailplatform/webhook"
	"example.com/emailplatform/webhook/webhooktest"
)

func open(t testing.TB, url string) *sql.DB {
	t.Helper()
	return openThrough(t, url, &testdb.Wire{})
}

// openThrough returns a database whose connections go through wire.
func openThrough(t testing.TB, url string, wire *testdb.Wire) *sql.DB {
	t.Helper()
	cfg, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	cfg.DialFunc = wire.Dial
	db := stdlib.OpenDB(*cfg)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(t.Context(), sqlonce.Schema)
	require.NoError(t, err)
	return db
}

func TestOnce(t *testing.T) {
	for way, url := range testdb.URLs(t) {
		t.Run(way, func(t *testing.T) {
			webhooktest.TestOnce(t, func(t *testing.T) webhook.Once { return sqlonce.NewOnce(open(t, url), sqlonce.OnceOptions{}) })
		})
	}
}

func TestOnceCrash(t *testing.T) {
	for way, url := range testdb.URLs(t) {
		t.Run(way, func(t *testing.T) {
			webhooktest.TestCrash(t, func(t *testing.T) (webhook.Once, func()) {
				wire := &testdb.Wire{}
				return sqlonce.NewOnce(openThrough(t, url, wire), sqlonce.OnceOptions{}), wire.Cut
			})
		})
	}
}

// TestModel: whatever a handler does with its transaction, the event is handled if and only if its rows and its key
// are committed.
func TestModel(t *testing.T) {
	db := open(t, testdb.URLs(t)["direct"])
	once, effects := sqlonce.NewOnce(db, sqlonce.OnceOptions{}), "effects_"+strings.ToLower(rand.Text())
	_, err := db.ExecContext(t.Context(), "CREATE TABLE "+effects+" (key int)")
	require.NoError(t, err)
	store := testdb.Store{
		Do: func(key string, handler func(func(string, int) error) error) (bool, error) {
			return once.Do(t.Context(), key, func(ctx context.Context) error {
				tx, err := sqlonce.Tx(ctx)
				if err != nil {
					return err
				}
				return handler(func(name string, row int) error {
					if name == "INSERT" {
						name = fmt.Sprintf("INSERT INTO %s VALUES (%d)", effects, row)
					}
					_, err := tx.ExecContext(ctx, name)
					return err
				})
			})
		},
		Rows: func() (rows []int, err error) {
			var text string
			err = db.QueryRowContext(t.Context(), "WITH r AS (DELETE FROM "+effects+" RETURNING key) SELECT to_json(coalesce(array_agg(key ORDER BY key), '{}')) FROM r").Scan(&text)
			if err != nil {
				return nil, err
			}
			return rows, json.Unmarshal([]byte(text), &rows)
		},
		Managed: sqlonce.ErrTxManaged,
	}
	store.Check(t, 500)
}

func TestTxEndedByMethod(t *testing.T) {
	once := sqlonce.NewOnce(open(t, testdb.URLs(t)["direct"]), sqlonce.OnceOptions{})
	for name, end := range map[string]func(*sql.Tx) error{"Commit": (*sql.Tx).Commit, "Rollback": (*sql.Tx).Rollback} {
		for _, after := range []error{nil, testdb.ErrHandler} {
			ran, err := once.Do(t.Context(), rand.Text(), func(ctx context.Context) error {
				tx, err := sqlonce.Tx(ctx)
				return cmp.Or(err, end(tx), after)
			})
			if !ran || !errors.Is(err, sqlonce.ErrTxManaged) || !errors.Is(err, cmp.Or(after, err)) {
				t.Errorf("%s, then %v: Do = %v, %v", name, after, ran, err)
			}
		}
	}
}

// TestCommitEndsWithContext: if the server hangs during the commit, Do returns when the context ends, and the
// connection is not used again.
func TestCommitEndsWithContext(t *testing.T) {
	db := open(t, testdb.URLs(t)["direct"])
	once := sqlonce.NewOnce(db, sqlonce.OnceOptions{})
	slow := slowCommit(t, db)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	start := time.Now()
	ran, err := once.Do(ctx, rand.Text(), func(ctx context.Context) error {
		tx, err := sqlonce.Tx(ctx)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO "+slow+" VALUES (1)")
		return err
	})
	if took := time.Since(start); !ran || !errors.Is(err, context.DeadlineExceeded) || took > 10*time.Second {
		t.Errorf("Do = %v, %v after %v", ran, err, took)
	}
	assert.Equal(t, 0, db.Stats().InUse, "connections are in use at the end")
}

// slowCommit creates a table whose commits take 30 seconds.
func slowCommit(t testing.TB, db *sql.DB) (name string) {
	t.Helper()
	name = "slow_" + strings.ToLower(rand.Text())
	_, err := db.ExecContext(t.Context(), strings.ReplaceAll(`CREATE TABLE NAME (n int);
		CREATE FUNCTION NAME() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(30); RETURN NEW; END';
		CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON NAME DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION NAME()`, "NAME", name))
	require.NoError(t, err)
	return name
}

func TestTxWithoutOnce(t *testing.T) {
	if tx, err := sqlonce.Tx(t.Context()); err == nil || tx != nil || !strings.Contains(err.Error(), "webhook.Options.Once") {
		t.Error(tx, err)
	}
}

// TestCancellationFreesKey: database/sql rolls back in the background when a context ends. Do waits for the rollback.
func TestCancellationFreesKey(t *testing.T) {
	once := sqlonce.NewOnce(open(t, testdb.URLs(t)["direct"]), sqlonce.OnceOptions{})
	for range 50 {
		key := rand.Text()
		ctx, cancel := context.WithCancel(t.Context())
		_, _ = once.Do(ctx, key, func(ctx context.Context) error {
			cancel()
			return ctx.Err()
		})
		if ran, err := once.Do(t.Context(), key, func(context.Context) error { return nil }); !ran || err != nil {
			t.Fatalf("Do = %v, %v; want the key to be free", ran, err)
		}
	}
}

// TestPoolIsExhausted: a caller that waits for a connection returns when its context ends, and no connection remains
// in use.
func TestPoolIsExhausted(t *testing.T) {
	db := open(t, testdb.URLs(t)["direct"])
	db.SetMaxOpenConns(1)
	once := sqlonce.NewOnce(db, sqlonce.OnceOptions{})
	_, err := once.Do(t.Context(), rand.Text(), func(ctx context.Context) error {
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		ran, err := once.Do(short, rand.Text(), func(context.Context) error { return nil })
		if ran || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Do = %v, %v", ran, err)
		}
		return nil
	})
	assert.NoError(t, err)
	assert.Equal(t, 0, db.Stats().InUse, "connections are in use at the end")
}

func TestForget(t *testing.T) {
	for way, url := range testdb.URLs(t) {
		t.Run(way, func(t *testing.T) {
			db := open(t, url)
			once := sqlonce.NewOnce(db, sqlonce.OnceOptions{})
			const old = 6000
			_, err := db.ExecContext(t.Context(), `INSERT INTO emailplatform_handled
				SELECT sha256(gen_random_uuid()::text::bytea), now() - interval '30 days' FROM generate_series(1, 6000)`)
			require.NoError(t, err)
			// Another test may forget some of them at the same time.
			if _, err := once.Forget(t.Context(), 29*24*time.Hour); err != nil {
				t.Error(err)
			}
			var left int
			if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM emailplatform_handled WHERE handled_at < now() - interval '29 days'`).Scan(&left); err != nil || left != 0 {
				t.Errorf("%d of %d keys remain, %v", left, old, err)
			}
			if _, err := once.Forget(t.Context(), time.Hour); err == nil {
				t.Error("Forget accepts an age of 1 h")
			}
		})
	}
}

func TestNilDatabasePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	sqlonce.NewOnce(nil, sqlonce.OnceOptions{})
}
