package sqlonce_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"example.com/emailplatform/contrib/pgstore/internal/testdb"
	"example.com/emailplatform/contrib/pgstore/sqlonce"
)

var fatal = testdb.Fatal

func open(t testing.TB, url string, dial testdb.Dial) *sql.DB {
	t.Helper()
	cfg, err := pgx.ParseConfig(url)
	fatal(t, err)
	cfg.DialFunc = dial
	db := stdlib.OpenDB(*cfg)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(t.Context(), sqlonce.Schema)
	fatal(t, err)
	return db
}

// direct returns a database without PgBouncer, and its store.
func direct(t testing.TB) (*sql.DB, *sqlonce.Once) {
	t.Helper()
	db := open(t, testdb.URLs(t)["direct"], testdb.Direct)
	return db, sqlonce.NewOnce(db, sqlonce.OnceOptions{})
}

// step runs SQL, or a method of the transaction.
func step(ctx context.Context, step string) error {
	tx, err := sqlonce.Tx(ctx)
	if err != nil {
		return err
	}
	switch step {
	case "Commit()":
		return tx.Commit()
	case "Rollback()":
		return tx.Rollback()
	}
	_, err = tx.ExecContext(ctx, step)
	return err
}

// TestOnce runs the tests of testdb.
func TestOnce(t *testing.T) {
	testdb.Test(t, testdb.Store{
		New: func(t testing.TB, url string, dial testdb.Dial) testdb.Once {
			return sqlonce.NewOnce(open(t, url, dial), sqlonce.OnceOptions{})
		},
		Exec: step,
		Scenarios: []testdb.Scenario{
			{Steps: "INSERT; Commit()", Result: testdb.Managed, Rows: 1, Own: 1, Outside: true},
			{Steps: "INSERT; Rollback()", Result: testdb.Managed, Outside: true},
		},
		Managed: sqlonce.ErrTxManaged,
	})
}

// TestCommitEndsWithContext: if the server hangs during the commit, Do returns when the context ends, and the
// connection is not used again.
func TestCommitEndsWithContext(t *testing.T) {
	db, once := direct(t)
	slow := slowCommit(t, db)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	start := time.Now()
	ran, err := once.Do(ctx, rand.Text(), func(ctx context.Context) error {
		return step(ctx, "INSERT INTO "+slow+" VALUES (1)")
	})
	if took := time.Since(start); !ran || !errors.Is(err, context.DeadlineExceeded) || took > 10*time.Second {
		t.Errorf("Do = %v, %v after %v", ran, err, took)
	}
	if s := db.Stats(); s.InUse != 0 {
		t.Errorf("%d connections are in use after all", s.InUse)
	}
}

// slowCommit creates a table whose commits take 30 seconds.
func slowCommit(t testing.TB, db *sql.DB) (name string) {
	t.Helper()
	name = "slow_" + strings.ToLower(rand.Text())
	_, err := db.ExecContext(t.Context(), strings.ReplaceAll(`CREATE TABLE NAME (n int);
		CREATE FUNCTION NAME() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(30); RETURN NEW; END';
		CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON NAME DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION NAME()`, "NAME", name))
	fatal(t, err)
	return name
}

// TestCancellationFreesKey: database/sql rolls back in the background when a context ends. Do waits for the rollback.
func TestCancellationFreesKey(t *testing.T) {
	_, once := direct(t)
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
	db, once := direct(t)
	db.SetMaxOpenConns(1)
	_, err := once.Do(t.Context(), rand.Text(), func(ctx context.Context) error {
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		ran, err := once.Do(short, rand.Text(), func(context.Context) error { return nil })
		if ran || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Do = %v, %v", ran, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if s := db.Stats(); s.InUse != 0 {
		t.Errorf("%d connections are in use after all", s.InUse)
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
