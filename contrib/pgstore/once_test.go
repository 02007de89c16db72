package pgstore_test

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/emailplatform/contrib/pgstore"
	"example.com/emailplatform/contrib/pgstore/internal/testdb"
)

var fatal = testdb.Fatal

// newPool returns a pool of the PostgreSQL at url with the table.
func newPool(t testing.TB, url string, dial testdb.Dial) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(url)
	fatal(t, err)
	cfg.ConnConfig.DialFunc = dial
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	fatal(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), pgstore.Schema)
	fatal(t, err)
	return pool
}

// step runs SQL, or a method of the transaction.
func step(ctx context.Context, step string) error {
	tx, err := pgstore.Tx(ctx)
	if err != nil {
		return err
	}
	method, sql, _ := strings.Cut(step, ": ")
	inner := func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sql)
		return err
	}
	switch method {
	case "Commit()":
		return tx.Commit(ctx)
	case "Rollback()":
		return tx.Rollback(ctx)
	case "BeginFunc(Tx)":
		return pgx.BeginFunc(ctx, tx, inner)
	case "BeginFunc(Conn)":
		return pgx.BeginFunc(ctx, tx.Conn(), inner)
	}
	_, err = tx.Exec(ctx, step)
	return err
}

// TestOnce runs the tests of testdb.
func TestOnce(t *testing.T) {
	const handled, managed = testdb.Handled, testdb.Managed
	testdb.Test(t, testdb.Store{
		New: func(t testing.TB, url string, dial testdb.Dial) testdb.Once {
			return pgstore.NewOnce(newPool(t, url, dial), pgstore.OnceOptions{})
		},
		Exec: step,
		Scenarios: []testdb.Scenario{
			{Steps: "INSERT; Commit()", Errors: 1, Result: handled, Rows: 1},
			{Steps: "INSERT; Rollback()", Errors: 1, Result: handled, Rows: 1},
			{Steps: "INSERT; BeginFunc(Tx): INSERT", Result: handled, Rows: 2},
			{Steps: "INSERT; BeginFunc(Tx): SELECT 1/0", Errors: 1, Result: handled, Rows: 1},
			{Steps: "INSERT; BeginFunc(Conn): INSERT", Result: managed, Rows: 2, Own: 2, Outside: true},
			{Steps: "INSERT; BeginFunc(Conn): SELECT 1/0", Errors: 1, Result: managed, Outside: true},
		},
		Managed: pgstore.ErrTxManaged,
	})
}

func TestConcurrentSchema(t *testing.T) {
	schema := "s" + strings.ToLower(rand.Text())
	_, err := testdb.Connect(t).Exec(t.Context(), "CREATE SCHEMA "+schema)
	fatal(t, err)
	var wg sync.WaitGroup
	for range 8 {
		conn := testdb.Connect(t)
		wg.Go(func() {
			if _, err := conn.Exec(t.Context(), "SET search_path = "+schema+";"+pgstore.Schema); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestNilDatabasePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	pgstore.NewOnce(nil, pgstore.OnceOptions{})
}

// TestEarlyEvent: the README's handler counts a bounce that arrives before the program
// has stored the id of the email.
func TestEarlyEvent(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil || !strings.Contains(string(readme), countBounce) {
		t.Fatalf("the README does not show countBounce (%v)", err)
	}
	pool := newPool(t, testdb.URLs(t)["direct"], testdb.Direct)
	ctx := t.Context()
	_, err = pool.Exec(ctx, `DROP TABLE IF EXISTS recipients;
		CREATE TABLE recipients (email_id text PRIMARY KEY, bounces int NOT NULL DEFAULT 0)`)
	fatal(t, err)
	once, key := pgstore.NewOnce(pool, pgstore.OnceOptions{}), rand.Text()
	for range 2 { // the platform can deliver an event several times
		_, err := once.Do(ctx, key, func(ctx context.Context) error {
			tx, err := pgstore.Tx(ctx)
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, countBounce, "email-1")
			return err
		})
		fatal(t, err)
	}
	_, err = pool.Exec(ctx, "INSERT INTO recipients (email_id) VALUES ($1) ON CONFLICT DO NOTHING", "email-1")
	fatal(t, err)
	var bounces int
	fatal(t, pool.QueryRow(ctx, "SELECT bounces FROM recipients WHERE email_id = $1", "email-1").Scan(&bounces))
	if bounces != 1 {
		t.Errorf("%d bounces, want 1", bounces)
	}
}
