package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"example.com/emailplatform/mailroom"
)

// Store is a [mailroom.Store] in the table emailplatform_items. A Store is safe for
// concurrent use.
type Store struct {
	dialect Dialect
	db      *sql.DB
}

var _ mailroom.Store = (*Store)(nil)

// New returns a Store in a database.
func New(dialect Dialect, db *sql.DB) *Store { return &Store{dialect, db} }

// Create creates the table emailplatform_items and its indexes, unless they exist.
// Several processes can call Create at the same time.
func (s *Store) Create(ctx context.Context) error {
	return wrap(whileBusy(ctx, func() error {
		_, err := s.db.ExecContext(ctx, s.dialect.Schema())
		return err
	}))
}

type key struct{ s *Store }

// transaction is an open transaction.
type transaction struct {
	*sql.Tx
	own   bool // the Store commits it
	after []func()
}

// With returns a context with a transaction, which the Store then uses and does not end.
// Emails of the transaction are sent up to a second after the commit. For SQLite, the
// transaction must write before it reads, or begin with the write lock, because a
// transaction that has already read cannot wait for the lock.
func (s *Store) With(ctx context.Context, tx *sql.Tx) context.Context {
	return context.WithValue(ctx, key{s}, &transaction{Tx: tx})
}

func (s *Store) current(ctx context.Context) *transaction {
	t, _ := ctx.Value(key{s}).(*transaction)
	return t
}

// Tx returns the transaction in a context from the Store, for example in
// [mailroom.Options].OnNotice. Only the Store may end the transaction. Tx panics if the
// context has no transaction of this Store.
func (s *Store) Tx(ctx context.Context) *sql.Tx {
	if t := s.current(ctx); t != nil {
		return t.Tx
	}
	panic("sqlstore: the context has no transaction of this Store")
}

// InTx calls fn in a transaction. It commits if fn returns nil, and rolls back if fn
// returns an error or panics, or if ctx is canceled.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context, tx *sql.Tx) error) error {
	return s.Update(ctx, func(ctx context.Context, _ mailroom.Tx) error { return fn(ctx, s.Tx(ctx)) })
}

// Update implements [mailroom.Store].
func (s *Store) Update(ctx context.Context, fn func(ctx context.Context, tx mailroom.Tx) error) error {
	if t := s.current(ctx); t != nil {
		return fn(ctx, s.items(t))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := s.open(ctx)
	if err != nil {
		return wrap(err)
	}
	defer func() { _ = tx.Rollback() }() // even after a panic; does nothing after the commit
	t := &transaction{Tx: tx, own: true}
	if err := fn(context.WithValue(ctx, key{s}, t), s.items(t)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("sqlstore: not committed: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return wrap(err)
	}
	for _, f := range t.after {
		f()
	}
	return nil
}

func (s *Store) items(t *transaction) mailroom.Tx {
	return s.dialect.Tx(func(ctx context.Context, statement string, args ...any) (Rows, error) {
		return t.QueryContext(ctx, statement, args...)
	})
}

// AfterCommit implements [mailroom.Store].
func (s *Store) AfterCommit(ctx context.Context, f func()) {
	if t := s.current(ctx); t != nil && t.own {
		t.after = append(t.after, f)
	}
}

const (
	busyTimeout = 10 * time.Second
	busyPause   = 10 * time.Millisecond
)

// open begins a transaction. In SQLite it acquires the write lock first, because a
// transaction that reads first cannot wait for the lock later.
func (s *Store) open(ctx context.Context) (tx *sql.Tx, err error) {
	err = whileBusy(ctx, func() error {
		if tx, err = s.begin(ctx); err != nil || s.dialect != SQLite {
			return err
		}
		if _, err = tx.ExecContext(ctx, "UPDATE emailplatform_items SET due = due WHERE kind = ''"); err != nil {
			_ = tx.Rollback()
		}
		return err
	})
	return tx, err
}

// begin waits for a connection until ctx ends. The transaction itself ignores the end of
// ctx, because database/sql would otherwise roll back in the background while fn runs.
func (s *Store) begin(ctx context.Context) (*sql.Tx, error) {
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
