package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/emailplatform/mailroom"
)

// Querier runs statements. It is a *sql.Tx, or an adapter for another database layer. The
// statements have the placeholders of the [Dialect]: $1 for PostgreSQL and ? for SQLite.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Begin calls fn in a transaction, with a context from [Store.With]. It commits if fn
// returns nil, and rolls back if fn returns an error or panics.
type Begin func(ctx context.Context, fn func(ctx context.Context) error) error

// Store is a [mailroom.Store] in the table emailplatform_items. A Store is safe for
// concurrent use.
type Store struct {
	dialect Dialect
	begin   Begin
	db      *sql.DB // nil with NewFunc
}

var _ mailroom.Store = (*Store)(nil)

// New returns a Store in a database.
func New(dialect Dialect, db *sql.DB) *Store {
	s := &Store{dialect: dialect, db: db}
	s.begin = s.beginSQL
	return s
}

// NewFunc returns a Store that uses the transactions of another database layer. For SQLite,
// begin must acquire the write lock at the start, because a transaction that has already
// read cannot wait for the lock.
func NewFunc(dialect Dialect, begin Begin) *Store { return &Store{dialect: dialect, begin: begin} }

// Create creates the table emailplatform_items and its indexes, unless they exist.
// Several processes can call Create at the same time.
func (s *Store) Create(ctx context.Context) error {
	var err error
	switch {
	case s.db == nil:
		err = s.begin(ctx, s.createTable)
	case s.dialect == SQLite: // without a transaction, because there is no table to lock
		err = whileBusy(ctx, func() error { return s.createTable(s.With(ctx, s.db, nil)) })
	default:
		err = s.beginSQL(ctx, s.createTable)
	}
	return wrap(err)
}

func (s *Store) createTable(ctx context.Context) error {
	for _, statement := range s.dialect.schema() {
		rows, err := s.current(ctx).q.QueryContext(ctx, statement)
		if err != nil {
			return err
		}
		for rows.Next() { // some drivers run the statement only here
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	return nil
}

type key struct{ s *Store }

// transaction is an open transaction.
type transaction struct {
	q     Querier
	after func(func()) // nil if the commit cannot be observed
}

// With returns a context with a transaction of the application. The Store uses this
// transaction, but does not end it. Work that is added in the transaction can start only
// after the commit. The function afterCommit must register its argument to be called after
// the commit. If afterCommit is nil, the work starts with a delay of up to
// [mailroom.Options].Poll. For SQLite, the transaction must write before it reads, or begin
// with the write lock, as [NewFunc] requires.
func (s *Store) With(ctx context.Context, tx Querier, afterCommit func(func())) context.Context {
	return context.WithValue(ctx, key{s}, &transaction{tx, afterCommit})
}

func (s *Store) current(ctx context.Context) *transaction {
	t, _ := ctx.Value(key{s}).(*transaction)
	return t
}

// Tx returns the transaction in a context from the Store, for example in
// [mailroom.Options].OnNotice. Only the Store may end the transaction. Tx panics if the
// context has no transaction of this Store, or if the transaction is not a *sql.Tx.
func (s *Store) Tx(ctx context.Context) *sql.Tx {
	if t := s.current(ctx); t != nil {
		if tx, ok := t.q.(*sql.Tx); ok {
			return tx
		}
	}
	panic("sqlstore: the context has no *sql.Tx of this Store")
}

// InTx calls fn in a transaction. It commits if fn returns nil, and rolls back if fn
// returns an error or panics, or if ctx is canceled.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	return s.Update(ctx, func(ctx context.Context, _ mailroom.Tx) error { return fn(ctx, s.Tx(ctx)) })
}

// Update implements [mailroom.Store].
func (s *Store) Update(ctx context.Context, fn func(ctx context.Context, tx mailroom.Tx) error) error {
	if t := s.current(ctx); t != nil {
		return fn(ctx, s.items(t.q))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.begin(ctx, func(ctx context.Context) error { return fn(ctx, s.items(s.current(ctx).q)) })
}

func (s *Store) items(q Querier) mailroom.Tx {
	return s.dialect.Tx(func(ctx context.Context, statement string, args ...any) (Rows, error) {
		return q.QueryContext(ctx, statement, args...)
	})
}

// AfterCommit implements [mailroom.Store].
func (s *Store) AfterCommit(ctx context.Context, f func()) {
	if t := s.current(ctx); t != nil && t.after != nil {
		t.after(f)
	}
}

func (s *Store) beginSQL(ctx context.Context, fn func(ctx context.Context) error) error {
	tx, err := s.open(ctx)
	if err != nil {
		return wrap(err)
	}
	defer func() { _ = tx.Rollback() }() // even after a panic; does nothing after the commit
	var after []func()
	if err := fn(s.With(ctx, tx, func(f func()) { after = append(after, f) })); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("sqlstore: not committed: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return wrap(err)
	}
	for _, f := range after {
		f()
	}
	return nil
}

const (
	busyTimeout = 10 * time.Second
	busyPause   = 10 * time.Millisecond
)

// open begins a transaction. In SQLite it acquires the write lock first, because a
// transaction that reads first cannot wait for the lock later.
func (s *Store) open(ctx context.Context) (tx *sql.Tx, err error) {
	if s.dialect != SQLite {
		return s.beginTx(ctx)
	}
	err = whileBusy(ctx, func() error {
		if tx, err = s.beginTx(ctx); err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, "UPDATE emailplatform_items SET due = due WHERE kind = ''"); err != nil {
			_ = tx.Rollback()
		}
		return err
	})
	return tx, err
}

// beginTx waits for a connection until ctx ends. The transaction itself ignores the end of
// ctx, because database/sql would otherwise roll back in the background while fn runs.
func (s *Store) beginTx(ctx context.Context) (*sql.Tx, error) {
	waiting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	tx, err := s.db.BeginTx(waiting, nil)
	if stop() {
		return tx, err
	}
	if err == nil {
		_ = tx.Rollback()
	}
	return nil, ctx.Err()
}

// whileBusy calls f again while another connection has the write lock of SQLite.
func whileBusy(ctx context.Context, f func() error) error {
	for deadline := time.Now().Add(busyTimeout); ; {
		err := f()
		if err == nil || !busy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// busy reports whether err means that another connection has the write lock. It compares
// texts, because the error types depend on the driver.
func busy(err error) bool {
	text := err.Error()
	return strings.Contains(text, "SQLITE_BUSY") || strings.Contains(text, "database is locked") ||
		strings.Contains(text, "database table is locked")
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sqlstore: %w", err)
}
