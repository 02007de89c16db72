package riverjobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/emailplatform/contrib/sqlstore"
	"example.com/emailplatform/mailroom"
)

// Store is a [mailroom.Store] in the table of package sqlstore. For each scheduled item, it
// adds a River job. A Store is safe for concurrent use.
type Store struct {
	pool      *pgxpool.Pool
	jobClient *river.Client[pgx.Tx] // used only to insert jobs
}

var _ mailroom.Store = (*Store)(nil)

// NewStore returns a Store in River's database. The schema must be equal to the field Schema
// in the River configuration. NewStore opens no connection.
func NewStore(pool *pgxpool.Pool, schema string) (*Store, error) {
	if pool == nil {
		return nil, errors.New("riverjobs: the pool must not be nil")
	}
	jobs, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: schema})
	return &Store{pool, jobs}, wrapError(err)
}

// Create creates the table emailplatform_items and its indexes, unless they exist. It does
// not create River's tables. Several processes can call Create at the same time.
func (s *Store) Create(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, sqlstore.PostgreSQL.Schema())
	return wrapError(err)
}

type txKey struct{ s *Store }

// transaction is an open transaction.
type transaction struct {
	pgx.Tx
	owned       bool // the Store commits it
	afterCommit []func()
}

// With returns a context that carries the transaction tx. The Store uses this transaction and
// does not end it.
func (s *Store) With(ctx context.Context, tx pgx.Tx) context.Context {
	return context.WithValue(ctx, txKey{s}, &transaction{Tx: tx})
}

func (s *Store) transactionIn(ctx context.Context) *transaction {
	t, _ := ctx.Value(txKey{s}).(*transaction)
	return t
}

// Tx returns the transaction in a context from the Store, for example in
// [mailroom.Options].OnNotice. Only the Store may end the transaction. Tx panics if the
// context has no transaction of this Store.
func (s *Store) Tx(ctx context.Context) pgx.Tx {
	if t := s.transactionIn(ctx); t != nil {
		return t.Tx
	}
	panic("riverjobs: the context has no transaction of this Store")
}

// Update implements [mailroom.Store].
func (s *Store) Update(ctx context.Context, fn func(ctx context.Context, tx mailroom.Tx) error) error {
	if t := s.transactionIn(ctx); t != nil {
		return fn(ctx, s.newItemTx(t.Tx))
	}
	t := &transaction{owned: true}
	var err error
	if t.Tx, err = s.pool.Begin(ctx); err != nil {
		return wrapError(err)
	}
	defer func() { _ = endTx(ctx, t.Rollback) }() // even after a panic; does nothing after the commit
	if err := fn(context.WithValue(ctx, txKey{s}, t), s.newItemTx(t.Tx)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("riverjobs: not committed: %w", err)
	}
	if err := endTx(ctx, t.Commit); err != nil {
		return wrapError(err)
	}
	for _, f := range t.afterCommit {
		f()
	}
	return nil
}

// endTx ends a transaction. The limit is 5 s. endTx ignores the cancellation of
// ctx, because PostgreSQL might otherwise commit a transaction although Update
// returns an error.
func endTx(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return f(ctx)
}

// AfterCommit implements [mailroom.Store].
func (s *Store) AfterCommit(ctx context.Context, f func()) {
	if t := s.transactionIn(ctx); t != nil && t.owned {
		t.afterCommit = append(t.afterCommit, f)
	}
}

// itemTx is a [mailroom.Tx] that also inserts a job for each stored item with work to do (see
// [mailroom.Item.IsWork]).
type itemTx struct {
	mailroom.Tx
	tx        pgx.Tx
	jobClient *river.Client[pgx.Tx]
}

func (s *Store) newItemTx(tx pgx.Tx) itemTx {
	return itemTx{sqlstore.PostgreSQL.Tx(func(ctx context.Context, statement string, args ...any) (sqlstore.Rows, error) {
		result, err := tx.Query(ctx, statement, args...)
		return rows{result}, err
	}), tx, s.jobClient}
}

// rows is a [sqlstore.Rows].
type rows struct{ pgx.Rows }

func (r rows) Close() error {
	r.Rows.Close()
	return r.Err()
}

// Insert implements [mailroom.Tx].
func (t itemTx) Insert(ctx context.Context, it mailroom.Item) (bool, error) {
	inserted, err := t.Tx.Insert(ctx, it)
	if err != nil || !inserted {
		return false, err
	}
	return true, t.addJob(ctx, it)
}

// Put implements [mailroom.Tx].
func (t itemTx) Put(ctx context.Context, it mailroom.Item) error {
	if err := t.Tx.Put(ctx, it); err != nil {
		return err
	}
	return t.addJob(ctx, it)
}

func (t itemTx) addJob(ctx context.Context, it mailroom.Item) error {
	if !it.IsWork() {
		return nil
	}
	_, err := t.jobClient.InsertTx(ctx, t.tx, jobArgs{it.Kind, it.Key}, &river.InsertOpts{Queue: queuePrefix + it.Kind, ScheduledAt: it.Due})
	return wrapError(err)
}

func wrapError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("riverjobs: %w", err)
}
