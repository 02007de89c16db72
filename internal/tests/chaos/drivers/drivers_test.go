// Package drivers tests contrib/sqlstore with the drivers of PostgreSQL and SQLite. It is in a separate
// module, because the root module, which contains sqlstore, must not require a driver. The driver modernc.org/sqlite needs
// only Go:
//
//	go test -C internal/tests/chaos -run '/^sqlite$' ./drivers
//
// The tests of the other drivers need a C compiler or a server.
package drivers

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
	_ "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"example.com/emailplatform/contrib/sqlstore"
	"example.com/emailplatform/internal/tests/testservers"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mailroom/mailroomtest"
	"example.com/emailplatform/webhook"
	"example.com/emailplatform/webhook/webhooktest"
)

// database is an empty database that several processes open.
type database struct {
	dialect     sqlstore.Dialect
	driver, url string
}

// withEachDriver runs a test with each driver. The tables of PostgreSQL are in a schema of their own.
func withEachDriver(t *testing.T, test func(t *testing.T, d database)) {
	t.Helper()
	for _, name := range []string{"sqlite", "sqlite3", "pgx", "postgres"} {
		t.Run(name, func(t *testing.T) {
			d := database{sqlstore.SQLite, name, "file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "db"))}
			switch name {
			case "sqlite":
				d.url += "?_pragma=journal_mode(WAL)"
			case "sqlite3":
				d.url += "?_journal_mode=WAL&_busy_timeout=0" // the Store waits itself
			default:
				d.dialect, d.url = sqlstore.PostgreSQL, newSchema(t)
			}
			db := d.open(t)
			require.NoError(t, sqlstore.New(d.dialect, db).Create(t.Context()))
			test(t, d)
		})
	}
}

// newSchema creates a schema in PostgreSQL, and returns the URL of a database with it as the default.
func newSchema(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(testservers.Address(t, "POSTGRES_URL"))
	require.NoError(t, err)
	query := u.Query()
	query.Set("sslmode", "disable")
	u.RawQuery = query.Encode()
	admin := database{driver: "pgx", url: u.String()}.open(t)
	schema := fmt.Sprint("sqlstore_", time.Now().UnixNano())
	_, err = admin.ExecContext(t.Context(), "CREATE SCHEMA "+schema)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = admin.Exec("DROP SCHEMA " + schema + " CASCADE") })
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return u.String()
}

func (d database) open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.driver, d.url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (d database) store(t *testing.T) *sqlstore.Store {
	t.Helper()
	return sqlstore.New(d.dialect, d.open(t))
}

func TestStore(t *testing.T) {
	withEachDriver(t, func(t *testing.T, d database) {
		mailroomtest.TestStore(t, func(t *testing.T) mailroom.Store { return d.store(t) })
	})
}

// TestCreate: several processes create the table at the same time.
func TestCreate(t *testing.T) {
	withEachDriver(t, func(t *testing.T, d database) {
		_, err := d.open(t).ExecContext(t.Context(), "DROP TABLE emailplatform_items")
		require.NoError(t, err)
		err = d.store(t).Update(t.Context(), func(ctx context.Context, tx mailroom.Tx) error { return tx.Delete(ctx, "test", "1") })
		require.ErrorContains(t, err, "sqlstore: ")
		var wg sync.WaitGroup
		for range 4 {
			s := d.store(t)
			wg.Go(func() { assert.NoError(t, s.Create(t.Context())) })
		}
		wg.Wait()
	})
}

// TestInTx: the application's writes and the Store's writes are in one transaction.
func TestInTx(t *testing.T) {
	withEachDriver(t, func(t *testing.T, d database) {
		db := d.open(t)
		s := sqlstore.New(d.dialect, db)
		_, err := db.ExecContext(t.Context(), "CREATE TABLE orders (id INTEGER)")
		require.NoError(t, err)
		insert := func(result error) error {
			return s.InTx(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				assert.Same(t, tx, s.Tx(ctx))
				_, err := tx.ExecContext(ctx, "INSERT INTO orders VALUES (1)")
				return errors.Join(err, s.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error {
					return tx.Put(ctx, mailroom.Item{Kind: "test", Key: "1"})
				}), result)
			})
		}
		count := func() (orders, items int) {
			require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM orders").Scan(&orders))
			require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM emailplatform_items").Scan(&items))
			return orders, items
		}
		require.Error(t, insert(errors.New("rollback")))
		orders, items := count()
		assert.Equal(t, []int{0, 0}, []int{orders, items})
		require.NoError(t, insert(nil))
		orders, items = count()
		assert.Equal(t, []int{1, 1}, []int{orders, items})
		assert.PanicsWithValue(t, "sqlstore: New needs a database", func() { sqlstore.New(d.dialect, nil) })
		assert.PanicsWithValue(t, "sqlstore: the context has no transaction of this Store", func() { s.Tx(t.Context()) })
	})
}

// TestReadOnly: in a read-only session, the Once returns an error and does not call the function. The driver lib/pq makes
// each transaction writable, so the Once stores the key.
func TestReadOnly(t *testing.T) {
	withEachDriver(t, func(t *testing.T, d database) {
		db, set := d.open(t), "PRAGMA query_only = 1"
		if d.dialect == sqlstore.PostgreSQL {
			set = "SET default_transaction_read_only = on"
		}
		db.SetMaxOpenConns(1)
		_, err := db.ExecContext(t.Context(), set)
		require.NoError(t, err)
		once, runs := mailroom.NewOnce(sqlstore.New(d.dialect, db), time.Hour), 0
		for range 2 {
			_, err = once.Do(t.Context(), "1", func(context.Context) error { runs++; return nil })
		}
		if d.driver == "postgres" {
			require.NoError(t, err)
			assert.Equal(t, 1, runs)
			return
		}
		assert.ErrorContains(t, err, "sqlstore: ")
		assert.Zero(t, runs)
	})
}

// TestNoConnection: a call that waits for a connection ends with its context.
func TestNoConnection(t *testing.T) {
	withEachDriver(t, func(t *testing.T, d database) {
		db := d.open(t)
		db.SetMaxOpenConns(1)
		held, err := db.Conn(t.Context())
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		nothing := func(context.Context, mailroom.Tx) error { return nil }
		s := sqlstore.New(d.dialect, db)
		require.ErrorIs(t, s.Update(ctx, nothing), context.DeadlineExceeded)
		require.NoError(t, held.Close())
		require.NoError(t, s.Update(t.Context(), nothing))
	})
}

func TestOnce(t *testing.T) {
	withEachDriver(t, func(t *testing.T, d database) {
		var options []webhooktest.Option
		if d.dialect == sqlstore.SQLite {
			options = append(options, webhooktest.OneWriter)
		}
		webhooktest.TestOnce(t, func(t *testing.T) webhook.Once { return mailroom.NewOnce(d.store(t), time.Hour) }, options...)
		webhooktest.TestCrash(t, func(t *testing.T) (webhook.Once, func()) {
			w := &crashingConnector{driver: d.open(t).Driver(), url: d.url}
			db := sql.OpenDB(w)
			t.Cleanup(func() { _ = db.Close() })
			return mailroom.NewOnce(sqlstore.New(d.dialect, db), time.Hour), w.crash
		})
	})
}

// crashingConnector opens connections, and closes them without database/sql, whose Close waits for transactions.
type crashingConnector struct {
	driver driver.Driver
	url    string

	mu    sync.Mutex
	conns []driver.Conn
	dead  bool
}

func (w *crashingConnector) Driver() driver.Driver { return w.driver }

func (w *crashingConnector) Connect(context.Context) (driver.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return nil, errors.New("crashed")
	}
	conn, err := w.driver.Open(w.url)
	w.conns = append(w.conns, conn)
	return conn, err
}

func (w *crashingConnector) crash() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	for _, c := range w.conns {
		if e, ok := c.(driver.ExecerContext); ok && strings.HasPrefix(w.url, "file:") { // modernc.org/sqlite panics after Close
			_, _ = e.ExecContext(context.Background(), "ROLLBACK", nil)
			continue
		}
		_ = c.Close()
	}
}

// TestSilentDatabase: a call ends soon if the database does not respond to the end of its transaction.
func TestSilentDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sql.OpenDB(silent{})
		defer db.Close()
		start, s := time.Now(), sqlstore.New(sqlstore.PostgreSQL, db)
		for _, result := range []error{nil, assert.AnError} {
			require.Error(t, s.Update(t.Context(), func(context.Context, mailroom.Tx) error { return result }))
		}
		assert.Equal(t, 10*time.Second, time.Since(start))
	})
}

// silent is a connection that does not respond to Commit and Rollback.
type silent struct{ begun context.Context }

func (silent) Connect(context.Context) (driver.Conn, error) { return silent{}, nil }
func (silent) Driver() driver.Driver                        { return nil }
func (silent) Prepare(string) (driver.Stmt, error)          { return nil, assert.AnError }
func (silent) Close() error                                 { return nil }
func (silent) Begin() (driver.Tx, error)                    { return nil, assert.AnError }
func (s silent) Commit() error                              { return s.Rollback() }

func (silent) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	return silent{ctx}, nil
}

func (s silent) Rollback() error {
	<-s.begun.Done()
	return s.begun.Err()
}
