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

// New returns a Store in a database. New panics if db is nil.
func New(dialect Dialect, db *sql.DB) *Store {
	if db == nil {
		panic("sqlstore: New needs a database")
	}
	return &Store{dialect, db}
}

// Create creates the table emailplatform_items and its indexes, unless they exist.
// Several processes can call Create at the same time.
func (s *Store) Create(ctx context.Context) error {
	return wrapError(retryWhileBusy(ctx, func() error {
		_, err := s.db.ExecContext(ctx, s.dialect.Schema())
		return err
	}))
}

type txKey struct{ s *Store }

// transaction is an open transaction.
type transaction struct {
	*sql.Tx
	cancel      context.CancelFunc // ends the statement in progress; nil if the Store does not end the transaction
	afterCommit []func()
}

// With returns a context that carries the transaction tx. Calls with this context, such as
// [mailroom.Room.Enqueue], write in the transaction. Your program must end the transaction,
// because the Store does not. After the commit, it can take up to a second until the Room
// finds emails that were enqueued in the transaction.
//
// In SQLite, a call that writes needs the write lock, and a transaction that has already read cannot
// wait for this lock. Therefore, the transaction must write before it reads, or begin with
// the write lock.
func (s *Store) With(ctx context.Context, tx *sql.Tx) context.Context {
	return context.WithValue(ctx, txKey{s}, &transaction{Tx: tx})
}

func (s *Store) transactionIn(ctx context.Context) *transaction {
	t, _ := ctx.Value(txKey{s}).(*transaction)
	return t
}

// Tx returns the transaction in a context from the Store, for example in
// [mailroom.Options].OnNotice. Only the Store may end the transaction. Tx panics if the
// context has no transaction of this Store.
func (s *Store) Tx(ctx context.Context) *sql.Tx {
	if t := s.transactionIn(ctx); t != nil {
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
	if t := s.transactionIn(ctx); t != nil {
		return fn(ctx, s.itemTx(t))
	}
	if err := ctx.Err(); err != nil {
		return wrapError(err)
	}
	t, err := s.beginLocked(ctx)
	if err != nil {
		return wrapError(err)
	}
	defer func() { _ = t.end(t.Rollback) }() // even after a panic; does nothing after the commit
	if err := fn(context.WithValue(ctx, txKey{s}, t), s.itemTx(t)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("sqlstore: not committed: %w", err)
	}
	if err := t.end(t.Commit); err != nil {
		return wrapError(err)
	}
	for _, f := range t.afterCommit {
		f()
	}
	return nil
}

// end calls Commit or Rollback. If the database does not respond within endTimeout, end cancels
// the call.
func (t *transaction) end(f func() error) error {
	timer := time.AfterFunc(endTimeout, t.cancel)
	err := f()
	if !timer.Stop() && err != nil {
		err = fmt.Errorf("no response within %v: %w", endTimeout, err)
	}
	return err
}

func (s *Store) itemTx(t *transaction) mailroom.Tx {
	return s.dialect.Tx(func(ctx context.Context, statement string, args ...any) (Rows, error) {
		return t.QueryContext(ctx, statement, args...)
	})
}

// AfterCommit implements [mailroom.Store].
func (s *Store) AfterCommit(ctx context.Context, f func()) {
	if t := s.transactionIn(ctx); t != nil && t.cancel != nil {
		t.afterCommit = append(t.afterCommit, f)
	}
}

const (
	endTimeout     = 5 * time.Second
	busyTimeout    = 10 * time.Second
	busyRetryDelay = 10 * time.Millisecond
)

// beginLocked begins a transaction. In SQLite it acquires the write lock first, because a
// transaction that reads first cannot wait for the lock later.
func (s *Store) beginLocked(ctx context.Context) (t *transaction, err error) {
	err = retryWhileBusy(ctx, func() error {
		if t, err = s.beginTx(ctx); err != nil || s.dialect != SQLite {
			return err
		}
		if _, err = t.ExecContext(ctx, "UPDATE emailplatform_items SET due = due WHERE kind = ''"); err != nil {
			_ = t.Rollback()
		}
		return err
	})
	return t, err
}

// beginTx waits for a connection until ctx ends. The transaction itself ignores the end of
// ctx, because database/sql would otherwise roll back in the background while fn runs.
func (s *Store) beginTx(ctx context.Context) (*transaction, error) {
	beginCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stopCancel := context.AfterFunc(ctx, cancel)
	tx, err := s.db.BeginTx(beginCtx, nil)
	if stopCancel() {
		return &transaction{Tx: tx, cancel: cancel}, err
	}
	if err == nil {
		_ = tx.Rollback()
	}
	return nil, ctx.Err()
}

// retryWhileBusy calls f again while another connection has the write lock of SQLite.
func retryWhileBusy(ctx context.Context, f func() error) error {
	for deadline := time.Now().Add(busyTimeout); ; {
		err := f()
		if err == nil || !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(busyRetryDelay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isBusy reports whether err means that another connection has the write lock. It compares
// texts, because the error types depend on the driver.
func isBusy(err error) bool {
	text := err.Error()
	return strings.Contains(text, "SQLITE_BUSY") || strings.Contains(text, "database is locked") ||
		strings.Contains(text, "database table is locked")
}

func wrapError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sqlstore: %w", err)
}
