package pgstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/emailplatform/webhook"
)

// DB contains the methods of *pgxpool.Pool that a [Once] needs. SendBatch must
// support [pgx.Batch.BeginTx].
type DB interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Once is a [webhook.Once] that uses PostgreSQL. All processes that use the
// same database share the records of handled events. A Once is safe for
// concurrent use if its DB is.
type Once struct{ db DB }

var _ webhook.Once = (*Once)(nil)

// OnceOptions configures a [Once]. There are no options yet.
type OnceOptions struct{}

// NewOnce returns a store that uses db, which is usually a *pgxpool.Pool.
// NewOnce panics if db is nil.
func NewOnce(db DB, _ OnceOptions) *Once {
	if isNil(db) {
		panic("pgstore: NewOnce needs a database")
	}
	return &Once{db}
}

// isNil reports whether v is nil or a nil pointer.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}

// Do implements [webhook.Once]. The function fn obtains the transaction with [Tx]. An
// event needs two round trips to the database in addition to the queries of fn.
func (o *Once) Do(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	tx, known, err := o.begin(ctx, key)
	defer rollback(ctx, tx) // also after a panic; after a commit it does nothing
	if known || err != nil {
		return false, err
	}
	if err := fn(context.WithValue(ctx, txKey{}, pgx.Tx(openTx{tx}))); err != nil {
		if tx.Conn().PgConn().TxStatus() == idle {
			err = fmt.Errorf("pgstore: %w: %w", ErrTxManaged, err)
		}
		return true, err
	}
	if err := commit(ctx, tx); err != nil {
		return true, fmt.Errorf("pgstore: %w", err)
	}
	return true, nil
}

// The states of a connection.
const (
	idle   = 'I' // not in a transaction
	failed = 'E' // in a transaction that can only be rolled back
)

// commit inserts the key and commits. If ctx has ended, commit sends no statement.
// Otherwise, pgx would close the connection, and PostgreSQL would unlock the key only
// some time after Do has returned.
func commit(ctx context.Context, tx pgx.Tx) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch tx.Conn().PgConn().TxStatus() {
	case idle:
		return ErrTxManaged
	case failed:
		return fmt.Errorf("a statement in the handler failed: %w", pgx.ErrTxCommitRollback)
	}
	return explain(tx.Commit(ctx))
}

// begin acquires the lock of the key before it searches for the key; see [lockKey]. Even
// after an error, the caller must roll back the transaction.
func (o *Once) begin(ctx context.Context, key string) (tx pgx.Tx, known bool, err error) {
	sum, lock := hashKey(key)
	guard := rand.Text()
	b := &pgx.Batch{}
	b.BeginTx(pgx.TxOptions{IsoLevel: pgx.ReadCommitted, CommitQuery: insertAndCommit(sum, guard)})
	var locked bool
	var reason string
	b.Queue(lockKey, lock, guard).QueryRow(func(row pgx.Row) error { return row.Scan(&locked, &reason) })
	b.Queue(knowsKey, sum).QueryRow(func(row pgx.Row) error { return row.Scan(&known) })
	results := o.db.SendBatch(ctx, b)
	if err := results.Close(); err != nil {
		return results.Tx(), false, fmt.Errorf("pgstore: %w", err)
	}
	switch {
	case known:
	case reason != "":
		return results.Tx(), false, fmt.Errorf("pgstore: %s", reason)
	case !locked:
		return results.Tx(), false, webhook.ErrInFlight
	}
	return results.Tx(), known, nil
}

// rollback frees the key even if ctx has ended.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = tx.Rollback(ctx)
}

const (
	batch = 5000 // rows that forgetBatch deletes, so the locks last only milliseconds
	// least is the minimum age of a key that can be deleted. Before this age, the
	// platform may deliver the event again.
	least = 8 * time.Hour
)

// Forget deletes the keys of events that were handled more than olderThan ago. It returns the
// number of deleted keys, even if it also returns an error. A good value for olderThan is one
// week. The minimum is 8 hours, because the platform retries deliveries for more than 7 hours
// (see "Webhook retry schedule" in docs/production.md). Forget deletes keys in batches of
// 5,000, so it does not block handlers for long. Concurrent calls are safe.
func (o *Once) Forget(ctx context.Context, olderThan time.Duration) (deleted int64, err error) {
	if olderThan < least {
		return 0, fmt.Errorf("pgstore: Forget: olderThan must be at least %v, got %v, because the platform retries deliveries for more than 7 hours",
			least, olderThan)
	}
	for {
		tag, err := o.db.Exec(ctx, forgetBatch, olderThan.Seconds())
		deleted += tag.RowsAffected()
		if err != nil {
			return deleted, fmt.Errorf("pgstore: Forget: %w", err)
		}
		if tag.RowsAffected() < batch {
			return deleted, nil
		}
	}
}

// ErrTxManaged means that a handler tried to end the transaction itself. The
// transaction's Commit and Rollback methods return this error and have no effect. If
// the handler ended the transaction in another way, with SQL or through the
// connection, [Once.Do] returns this error.
var ErrTxManaged = errors.New("the handler must not end the transaction: return nil to commit, or an error to roll back")

type txKey struct{}

// Tx returns the transaction of the event whose handler received ctx. Writes in this
// transaction are committed together with the event's key. Tx returns an error if ctx
// contains no transaction. The transaction is not safe for concurrent use. Do not use it
// after the handler has returned.
//
// The transaction's Commit and Rollback methods return [ErrTxManaged] and have no effect.
// Its Begin method creates a savepoint that can be rolled back, so you can use
// pgx.BeginFunc(ctx, tx, …). If a statement fails outside a savepoint, the transaction
// and the event fail, even if the handler ignores the error.
//
// The transaction's Conn method returns the connection, for example to read its
// configuration. Do not begin or end a transaction on it, either with SQL or with a
// function such as pgx.BeginFunc(ctx, tx.Conn(), …). If the handler ends the transaction
// anyway, the event fails with [ErrTxManaged], and the platform delivers it again. Data
// that the handler has committed stays in the database, so the next delivery can
// duplicate it.
func Tx(ctx context.Context) (pgx.Tx, error) {
	tx, ok := ctx.Value(txKey{}).(pgx.Tx)
	if !ok {
		return nil, errors.New("pgstore: no transaction in the context: " +
			"call Tx with the context of a handler whose webhook.Options.Once is a *pgstore.Once")
	}
	return tx, nil
}

// openTx is a transaction that a handler cannot commit or roll back.
type openTx struct{ pgx.Tx }

func (openTx) Commit(context.Context) error   { return ErrTxManaged }
func (openTx) Rollback(context.Context) error { return ErrTxManaged }
