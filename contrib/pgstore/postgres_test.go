package pgstore_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/emailplatform/contrib/pgstore"
	"example.com/emailplatform/contrib/pgstore/internal/testdb"
)

// newPool returns a pool of the PostgreSQL at url with the table.
func newPool(t testing.TB, url string, change ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(url)
	fatal(t, err)
	for _, c := range change {
		c(cfg)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	fatal(t, err)
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(t.Context(), pgstore.Schema); err != nil {
		t.Fatal(err)
	}
	return pool
}

func direct(t testing.TB, change ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	return newPool(t, testdb.URLs(t)["direct"], change...)
}

func through(wire *testdb.Wire) func(*pgxpool.Config) {
	return func(cfg *pgxpool.Config) { cfg.ConnConfig.DialFunc = wire.Dial }
}

// fatal ends the test if there is an error.
func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
