// Package sqlonce is a deduplication store for webhook events in PostgreSQL. It
// is equivalent to package pgstore, but uses database/sql with any driver.
//
//	db, err := sql.Open("pgx", url)
//	…
//	_, err = db.ExecContext(ctx, sqlonce.Schema)
//	…
//	h := webhook.NewHandler(verifier, func(ctx context.Context, e *events.Event) error {
//		tx, err := sqlonce.Tx(ctx)
//		if err != nil {
//			return err
//		}
//		_, err = tx.ExecContext(ctx, "INSERT INTO …")
//		return err
//	}, webhook.Options{Once: sqlonce.NewOnce(db, sqlonce.OnceOptions{})})
//
// The sections about handlers, failures, PgBouncer and cleanup in the
// documentation of package pgstore also apply to this package. Packages pgstore
// and sqlonce use the same table, so a service can switch between them.
//
// A commit has an unknown outcome if the connection is lost, or if the context
// of the delivery is canceled or expires during the commit. With the driver
// pgx, the commit then stops immediately. With the driver lib/pq, the commit
// can take longer, because lib/pq does not use the context for commits.
package sqlonce

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.com/emailplatform/contrib/pgstore/internal/handled"
	"example.com/emailplatform/webhook"
)

// Schema creates the table emailplatform_handled in the first schema of the
// search path, if the table does not exist. Run Schema before the first event,
// or copy the statements into your migrations.
const Schema = handled.Schema

// Once is a [webhook.Once] that uses PostgreSQL. All processes that use the
// same database share the records of handled events. A Once is safe for
// concurrent use.
type Once struct{ db *sql.DB }

var _ webhook.Once = (*Once)(nil)

// OnceOptions configures a [Once]. There are no options yet.
type OnceOptions struct{}

// NewOnce returns a store that uses db. NewOnce panics if db is nil.
func NewOnce(db *sql.DB, _ OnceOptions) *Once {
	if db == nil {
		panic("sqlonce: NewOnce needs a database")
	}
	return &Once{db}
}

type txKey struct{}

// ErrTxManaged means that a handler ended the transaction itself. [Once.Do]
// then returns ErrTxManaged.
var ErrTxManaged = handled.ErrManaged

// Tx returns the transaction of the event whose handler received ctx. Writes in
// this transaction are committed together with the event's key. Tx returns an
// error if ctx contains no transaction.
//
// The handler must not end the transaction with Commit, Rollback or SQL. If the
// handler ends the transaction anyway, the event fails with [ErrTxManaged], and
// the platform delivers the event again. Data that the handler has already
// committed stays in the database, so the next delivery can duplicate the data.
// If a statement fails, the transaction and the event fail too, even if the
// handler ignores the error.
func Tx(ctx context.Context) (*sql.Tx, error) {
	tx, ok := ctx.Value(txKey{}).(*sql.Tx)
	if !ok {
		return nil, errors.New("sqlonce: no transaction in the context: " +
			"call Tx with the context of a handler whose webhook.Options.Once is a *sqlonce.Once")
	}
	return tx, nil
}

// Do implements [webhook.Once]. The function fn can obtain the transaction with
// [Tx].
func (o *Once) Do(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	tx, err := o.open(ctx)
	if err != nil {
		return false, fmt.Errorf("sqlonce: %w", err)
	}
	defer tx.end() // even after a panic; after a commit it only returns the connection
	sum, lock := handled.Key(key)
	if known, err := tx.begin(ctx, sum, lock); known || err != nil {
		return false, err
	}
	if err := fn(context.WithValue(ctx, txKey{}, tx.Tx)); err != nil {
		return true, tx.explain(ctx, err)
	}
	if err := tx.commit(ctx, sum); err != nil {
		return true, fmt.Errorf("sqlonce: %w", err)
	}
	return true, nil
}

// transaction ignores the cancellation of the context of Do. Otherwise
// database/sql would roll back the transaction in the background, and the key
// would become free some time after Do has returned.
type transaction struct {
	*sql.Tx
	conn   *sql.Conn
	cancel context.CancelFunc
	guard  string
}

func (o *Once) open(ctx context.Context) (*transaction, error) {
	conn, err := o.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	txCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel) // only while the transaction begins
	tx, err := conn.BeginTx(txCtx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	stop()
	if err != nil {
		cancel()
		_ = conn.Close()
		return nil, err
	}
	return &transaction{tx, conn, cancel, rand.Text()}, nil
}

func (tx *transaction) end() {
	timer := time.AfterFunc(handled.CleanUp, tx.cancel)
	_ = tx.Rollback()
	timer.Stop()
	tx.cancel()
	_ = tx.conn.Close()
}

// begin acquires the lock before it searches for the key; see [handled.Lock].
func (tx *transaction) begin(ctx context.Context, sum []byte, lock int64) (known bool, err error) {
	var locked bool
	var obstacle string
	if err := tx.QueryRowContext(ctx, handled.Lock, lock, tx.guard).Scan(&locked, &obstacle); err != nil {
		return false, fmt.Errorf("sqlonce: %w", err)
	}
	if err := tx.QueryRowContext(ctx, handled.Known, sum).Scan(&known); err != nil {
		return false, fmt.Errorf("sqlonce: %w", err)
	}
	switch {
	case known:
	case obstacle != "":
		return false, fmt.Errorf("sqlonce: %s", obstacle)
	case !locked:
		return false, webhook.ErrInFlight
	}
	return known, nil
}

// explain returns the error from a handler. It adds ErrTxManaged if the
// handler ended the transaction.
func (tx *transaction) explain(ctx context.Context, err error) error {
	guarded := false
	failed := tx.QueryRowContext(ctx, handled.Guarded, tx.guard).Scan(&guarded)
	if errors.Is(failed, sql.ErrTxDone) || failed == nil && !guarded {
		return fmt.Errorf("sqlonce: %w: %w", ErrTxManaged, err)
	}
	return err
}

// commit stops if ctx is canceled or expires, because the driver uses the
// context of BeginTx for COMMIT.
func (tx *transaction) commit(ctx context.Context, sum []byte) error {
	if _, err := tx.ExecContext(ctx, handled.Remember, sum, tx.guard); errors.Is(err, sql.ErrTxDone) {
		return ErrTxManaged
	} else if err != nil {
		return handled.Explain(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, tx.cancel)
	defer stop()
	if err := tx.Commit(); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	return nil
}

// Forget deletes the keys of events that were handled more than olderThan ago.
// A good value for olderThan is one week. The minimum is 8 hours (see
// "Late deliveries" in docs/production.md). Forget deletes keys in batches of
// 5,000, so it does not block handlers for long. Forget returns the number of
// deleted keys, even if an error occurs. Concurrent calls are safe.
func (o *Once) Forget(ctx context.Context, olderThan time.Duration) (deleted int64, err error) {
	deleted, err = handled.ForgetAll(olderThan, func(seconds float64) (int64, error) {
		result, err := o.db.ExecContext(ctx, handled.Forget, seconds)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	})
	if err != nil {
		return deleted, fmt.Errorf("sqlonce: Forget: %w", err)
	}
	return deleted, nil
}
