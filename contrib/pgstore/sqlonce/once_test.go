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
	"example.com/emailplatform/webhook"
	"example.com/emailplatform/webhook/webhooktest"
)

func open(t testing.TB, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), sqlonce.Schema); err != nil {
		t.Fatal(err)
	}
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
				cfg, err := pgx.ParseConfig(url)
				if err != nil {
					t.Fatal(err)
				}
				wire := &testdb.Wire{}
				cfg.DialFunc = wire.Dial
				db := stdlib.OpenDB(*cfg)
				t.Cleanup(func() { _ = db.Close() })
				return sqlonce.NewOnce(db, sqlonce.OnceOptions{}), wire.Cut
			})
		})
	}
}

func TestEffects(t *testing.T) {
	db := open(t, testdb.URLs(t)["direct"])
	once := sqlonce.NewOnce(db, sqlonce.OnceOptions{})
	failed := errors.New("the handler fails")
	for _, tt := range []struct {
		name string
		end  func(*sql.Tx) error
		want int
	}{
		{"success", func(*sql.Tx) error { return nil }, 1},
		{"failure", func(*sql.Tx) error { return failed }, 0},
		{"hides an error of SQL", func(tx *sql.Tx) error { _, _ = tx.Exec("SELECT 1/0"); return nil }, 0},
		{"rolls back by itself", func(tx *sql.Tx) error { return tx.Rollback() }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			effects, key := "effects_"+strings.ToLower(rand.Text()), rand.Text()
			if _, err := db.ExecContext(t.Context(), "CREATE TABLE "+effects+" (key text)"); err != nil {
				t.Fatal(err)
			}
			ran, err := once.Do(t.Context(), key, func(ctx context.Context) error {
				tx, ok := sqlonce.Tx(ctx)
				if !ok {
					return errors.New("no transaction")
				}
				if _, err := tx.ExecContext(ctx, "INSERT INTO "+effects+" VALUES ($1)", key); err != nil {
					return err
				}
				return tt.end(tx)
			})
			if !ran || (err == nil) != (tt.want == 1) {
				t.Errorf("Do = %v, %v", ran, err)
			}
			var n int
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+effects).Scan(&n); err != nil || n != tt.want {
				t.Errorf("%d effects, %v; want %d", n, err, tt.want)
			}
			if again, _ := once.Do(t.Context(), key, func(context.Context) error { return nil }); again != (tt.want == 0) {
				t.Errorf("handled again: %v", again)
			}
		})
	}
}

func TestTxOfAnotherContext(t *testing.T) {
	if tx, ok := sqlonce.Tx(t.Context()); ok || tx != nil {
		t.Error(tx, ok)
	}
}

// TestKeyIsFreeAtOnce: database/sql rolls back in the background when a context
// ends; Do does not return before.
func TestKeyIsFreeAtOnce(t *testing.T) {
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

// TestPoolIsExhausted: who waits for a connection stops when its context ends,
// and nothing is left open.
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
	if err != nil {
		t.Error(err)
	}
	if s := db.Stats(); s.InUse != 0 {
		t.Errorf("%d connections are in use after all", s.InUse)
	}
}

func TestForget(t *testing.T) {
	for way, url := range testdb.URLs(t) {
		t.Run(way, func(t *testing.T) {
			db := open(t, url)
			once := sqlonce.NewOnce(db, sqlonce.OnceOptions{})
			const old = 6000
			if _, err := db.ExecContext(t.Context(), `INSERT INTO emailplatform_handled
				SELECT sha256(gen_random_uuid()::text::bytea), now() - interval '30 days' FROM generate_series(1, 6000)`); err != nil {
				t.Fatal(err)
			}
			// Another test may forget some of them at the same time.
			if _, err := once.Forget(t.Context(), 29*24*time.Hour); err != nil {
				t.Error(err)
			}
			var left int
			if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM emailplatform_handled WHERE handled_at < now() - interval '29 days'`).Scan(&left); err != nil || left != 0 {
				t.Errorf("%d of %d are left, %v", left, old, err)
			}
			if _, err := once.Forget(t.Context(), time.Hour); err == nil {
				t.Error("forgot what may come again")
			}
		})
	}
}

func TestNoDatabase(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	sqlonce.NewOnce(nil, sqlonce.OnceOptions{})
}
