package main

import (
	"context"
	"database/sql"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	_ "modernc.org/sqlite"

	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/contrib/sqlstore"
	"example.com/emailplatform/internal/tools/must"
	"example.com/emailplatform/mailroom"
)

// The engines of package mailroom that the groups compare.
const (
	onSQLite     = "sqlite"
	onPostgreSQL = "postgres"
	onRiver      = "river"
)

// engine is a store of package mailroom with its database.
type engine struct {
	store  mailroom.Store
	pool   *pgxpool.Pool                                      // with River
	record func(ctx context.Context, n mailroom.Notice) error // writes a row in the transaction of the notice
}

func openEngine(ctx context.Context, with settings) engine {
	switch with.Store {
	case onRiver:
		pool := must.Get(pgxpool.New(ctx, with.Postgres))
		store := must.Get(riverjobs.NewStore(pool, ""))
		return engine{store, pool, func(ctx context.Context, n mailroom.Notice) error {
			_, err := store.Tx(ctx).Exec(ctx, insertNotice, string(n.Reason), n.Key, n.EmailID)
			return err
		}}
	case onPostgreSQL:
		return sqlEngine(sqlstore.PostgreSQL, openSQL(with))
	}
	return sqlEngine(sqlstore.SQLite, openSQL(with))
}

func sqlEngine(d sqlstore.Dialect, db *sql.DB) engine {
	db.SetMaxIdleConns(8)
	store := sqlstore.New(d, db)
	return engine{store: store, record: func(ctx context.Context, n mailroom.Notice) error {
		_, err := store.Tx(ctx).ExecContext(ctx, insertNotice, string(n.Reason), n.Key, n.EmailID)
		return err
	}}
}

func openSQL(with settings) *sql.DB {
	if with.Store == onSQLite {
		return must.Get(sql.Open("sqlite", "file:"+filepath.ToSlash(with.File)+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)"))
	}
	return must.Get(sql.Open("pgx", with.Postgres))
}

const insertNotice = "INSERT INTO notices (reason, email_key, email_id) VALUES ($1, $2, $3)"

func createTables(ctx context.Context, db *sql.DB, with settings) {
	if with.Store == onSQLite {
		must.OK(sqlstore.New(sqlstore.SQLite, db).Create(ctx))
		must.Get(db.ExecContext(ctx, "CREATE TABLE notices (id INTEGER PRIMARY KEY AUTOINCREMENT, reason text, email_key text, email_id text)"))
		return
	}
	if with.Store == onRiver {
		pool := must.Get(pgxpool.New(ctx, with.Postgres))
		defer pool.Close()
		must.Get(must.Get(rivermigrate.New(riverpgxv5.New(pool), nil)).Migrate(ctx, rivermigrate.DirectionUp, nil))
		must.Get(pool.Exec(ctx, "TRUNCATE river_job, river_leader"))
	}
	must.OK(sqlstore.New(sqlstore.PostgreSQL, db).Create(ctx))
	must.Get(db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS notices (id bigserial PRIMARY KEY, reason text, email_key text, email_id text)"))
	must.Get(db.ExecContext(ctx, "TRUNCATE notices, emailplatform_items"))
}

// skewedClockStore is the store of a process whose clock is wrong. The times that this process stores and reads differ from the
// times of the other processes.
type skewedClockStore struct {
	mailroom.Store
	by time.Duration
}

func (s skewedClockStore) Update(ctx context.Context, fn func(ctx context.Context, tx mailroom.Tx) error) error {
	return s.Store.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error { return fn(ctx, skewedClockTx{tx, s.by}) })
}

type skewedClockTx struct {
	mailroom.Tx
	by time.Duration
}

func (skewedClockTx) move(by time.Duration, items ...mailroom.Item) []mailroom.Item {
	for i := range items {
		if !items[i].Due.IsZero() {
			items[i].Due = items[i].Due.Add(by)
		}
	}
	return items
}

func (tx skewedClockTx) Get(ctx context.Context, kind, key string) (mailroom.Item, bool, error) {
	it, found, err := tx.Tx.Get(ctx, kind, key)
	return tx.move(-tx.by, it)[0], found, err
}

func (tx skewedClockTx) Due(ctx context.Context, kind string, now time.Time, limit int) ([]mailroom.Item, error) {
	items, err := tx.Tx.Due(ctx, kind, now.Add(tx.by), limit)
	return tx.move(-tx.by, items...), err
}

func (tx skewedClockTx) Insert(ctx context.Context, it mailroom.Item) (bool, error) {
	return tx.Tx.Insert(ctx, tx.move(tx.by, it)[0])
}

func (tx skewedClockTx) Put(ctx context.Context, it mailroom.Item) error {
	return tx.Tx.Put(ctx, tx.move(tx.by, it)[0])
}
