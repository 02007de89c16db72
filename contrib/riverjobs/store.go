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

// Store is a [mailroom.Store] in the table of package sqlstore. For each item that waits for
// its time, it adds a River job. A Store is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool
	jobs *river.Client[pgx.Tx] // used only to insert jobs
}

var _ mailroom.Store = (*Store)(nil)

// NewStore returns a Store in River's database. The schema must be equal to the field Schema
// in the River configuration. NewStore opens no connection.
func NewStore(pool *pgxpool.Pool, schema string) (*Store, error) {
	if pool == nil {
		return nil, errors.New("riverjobs: the pool must not be nil")
	}
	jobs, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: schema})
	return &Store{pool, jobs}, wrap(err)
}

// Create creates the table emailplatform_items and its indexes, unless they exist. It does
// not create River's tables. Several processes can call Create at the same time.
func (s *Store) Create(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, sqlstore.PostgreSQL.Schema())
	return wrap(err)
}

type key struct{ s *Store }

// transaction is an open transaction.
type transaction struct {
	pgx.Tx
	own   bool // the Store commits it
	after []func()
}

// With returns a context with a transaction, which the Store then uses and does not end.
func (s *Store) With(ctx context.Context, tx pgx.Tx) context.Context {
	return context.WithValue(ctx, key{s}, &transaction{Tx: tx})
}

func (s *Store) current(ctx context.Context) *transaction {
	t, _ := ctx.Value(key{s}).(*transaction)
	return t
}

// Tx returns the transaction in a context from the Store, for example in
// [mailroom.Options].OnNotice. Only the Store may end the transaction. Tx panics if the
// context has no transaction of this Store.
func (s *Store) Tx(ctx context.Context) pgx.Tx {
	if t := s.current(ctx); t != nil {
		return t.Tx
	}
	panic("riverjobs: the context has no transaction of this Store")
}

// Update implements [mailroom.Store].
func (s *Store) Update(ctx context.Context, fn func(ctx context.Context, tx mailroom.Tx) error) error {
	if t := s.current(ctx); t != nil {
		return fn(ctx, itemTx{t.Tx, s.jobs})
	}
	t := &transaction{own: true}
	var err error
	if t.Tx, err = s.pool.Begin(ctx); err != nil {
		return err
	}
	defer func() { _ = end(ctx, t.Rollback) }() // even after a panic; does nothing after the commit
	err = fn(context.WithValue(ctx, key{s}, t), itemTx{t.Tx, s.jobs})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = end(ctx, t.Commit)
	}
	if err != nil {
		return err
	}
	for _, f := range t.after {
		f()
	}
	return nil
}

// end ends a transaction, for at most 10 s. It ignores the cancellation of ctx, because
// PostgreSQL might then commit a transaction although Update returns an error.
func end(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return f(ctx)
}

// AfterCommit implements [mailroom.Store].
func (s *Store) AfterCommit(ctx context.Context, f func()) {
	if t := s.current(ctx); t != nil && t.own {
		t.after = append(t.after, f)
	}
}

// itemTx is a [mailroom.Tx].
type itemTx struct {
	tx   pgx.Tx
	jobs *river.Client[pgx.Tx]
}

func (t itemTx) find(ctx context.Context, where string, args ...any) ([]mailroom.Item, error) {
	rows, err := t.tx.Query(ctx, "SELECT kind, item_key, ref, due, value FROM emailplatform_items WHERE "+where, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (it mailroom.Item, err error) {
		var due *int64
		var value string
		if err = row.Scan(&it.Kind, &it.Key, &it.Ref, &due, &value); due != nil {
			it.Due = time.UnixMilli(*due)
		}
		it.Value = []byte(value)
		return it, err
	})
}

// Get implements [mailroom.Tx].
func (t itemTx) Get(ctx context.Context, kind, key string) (mailroom.Item, bool, error) {
	found, err := t.find(ctx, "kind = $1 AND item_key = $2 FOR UPDATE", kind, key)
	if err != nil || len(found) == 0 {
		return mailroom.Item{}, false, err
	}
	return found[0], true, nil
}

// Due implements [mailroom.Tx].
func (t itemTx) Due(ctx context.Context, kind string, now time.Time, limit int) ([]mailroom.Item, error) {
	return t.find(ctx, "kind = $1 AND due <= $2 ORDER BY due, item_key LIMIT $3 FOR UPDATE SKIP LOCKED", kind, now.UnixMilli(), limit)
}

// CountDue implements [mailroom.Tx].
func (t itemTx) CountDue(ctx context.Context, kind string, now time.Time) (n int, earliest time.Time, err error) {
	var due *int64
	err = t.tx.QueryRow(ctx, "SELECT count(*), min(due) FROM emailplatform_items WHERE kind = $1 AND due <= $2", kind, now.UnixMilli()).Scan(&n, &due)
	if due != nil {
		earliest = time.UnixMilli(*due)
	}
	return n, earliest, err
}

// ByRef implements [mailroom.Tx].
func (t itemTx) ByRef(ctx context.Context, kind, ref string) ([]mailroom.Item, error) {
	return t.find(ctx, "kind = $1 AND ref = $2 AND ref <> '' ORDER BY item_key LIMIT 100", kind, ref)
}

func (t itemTx) exec(ctx context.Context, statement string, args ...any) (int, error) {
	tag, err := t.tx.Exec(ctx, statement, args...)
	return int(tag.RowsAffected()), err
}

// store inserts the item, and then a job for it.
func (t itemTx) store(ctx context.Context, it mailroom.Item, onConflict string) (stored bool, err error) {
	var due *int64
	if !it.Due.IsZero() {
		due = new(it.Due.UnixMilli())
	}
	n, err := t.exec(ctx, `INSERT INTO emailplatform_items (kind, item_key, ref, due, value) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (kind, item_key) DO `+onConflict, it.Kind, it.Key, it.Ref, due, string(it.Value))
	if err == nil && n > 0 && it.IsWork() {
		_, err = t.jobs.InsertTx(ctx, t.tx, args{it.Kind, it.Key}, &river.InsertOpts{Queue: queuePrefix + it.Kind, ScheduledAt: it.Due})
	}
	return n > 0, err
}

// Insert implements [mailroom.Tx].
func (t itemTx) Insert(ctx context.Context, it mailroom.Item) (bool, error) {
	return t.store(ctx, it, "NOTHING")
}

// Put implements [mailroom.Tx].
func (t itemTx) Put(ctx context.Context, it mailroom.Item) error {
	_, err := t.store(ctx, it, "UPDATE SET ref = excluded.ref, due = excluded.due, value = excluded.value")
	return err
}

// Delete implements [mailroom.Tx].
func (t itemTx) Delete(ctx context.Context, kind, key string) error {
	_, err := t.exec(ctx, "DELETE FROM emailplatform_items WHERE kind = $1 AND item_key = $2", kind, key)
	return err
}

// Expire implements [mailroom.Tx].
func (t itemTx) Expire(ctx context.Context, kind string, now time.Time) (int, error) {
	return t.exec(ctx, `DELETE FROM emailplatform_items WHERE kind = $1 AND item_key IN (
		SELECT item_key FROM emailplatform_items WHERE kind = $1 AND due <= $2 LIMIT 5000 FOR UPDATE SKIP LOCKED)`, kind, now.UnixMilli())
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("riverjobs: %w", err)
}
