package sqlonce

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"example.com/emailplatform/contrib/pgstore/internal/handled"
	"example.com/emailplatform/webhook"
)

// Schema makes the table emailplatform_handled in the first schema of the search
// path, unless it is there. Run it before the first event, or copy it into your
// migrations.
const Schema = handled.Schema

// Once is a [webhook.Once] in PostgreSQL. It is safe for concurrent use, and
// shared by all processes that use the same database.
type Once struct{ db *sql.DB }

var _ webhook.Once = (*Once)(nil)

// OnceOptions configures a [Once]. It has no fields yet.
type OnceOptions struct{}

// NewOnce returns a store in db. If db is nil, it panics.
func NewOnce(db *sql.DB, _ OnceOptions) *Once {
	if db == nil {
		panic("sqlonce: NewOnce needs a database")
	}
	return &Once{db}
}

type txKey struct{}

// Tx returns the transaction of the event whose handler was called with ctx: what
// is written with it is committed together with the event's key. It reports false
// for any other context.
//
// The handler must not call Commit or Rollback: what was committed would be
// without its key, and happen again. A statement that fails fails the
// transaction, and so the event, even if the handler ignores the error.
func Tx(ctx context.Context) (*sql.Tx, bool) {
	tx, ok := ctx.Value(txKey{}).(*sql.Tx)
	return tx, ok
}

// Do implements [webhook.Once]. fn finds the transaction by [Tx].
func (o *Once) Do(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	tx, end, err := o.open(ctx)
	if err != nil {
		return false, fmt.Errorf("sqlonce: %w", err)
	}
	defer end() // also after a panic; after a commit it only gives the connection back
	sum, lock := handled.Key(key)
	if known, err := begin(ctx, tx, sum, lock); known || err != nil {
		return false, err
	}
	if err := fn(context.WithValue(ctx, txKey{}, tx)); err != nil {
		return true, err
	}
	if _, err := tx.ExecContext(ctx, handled.Remember, sum); err != nil {
		return true, fmt.Errorf("sqlonce: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return true, fmt.Errorf("sqlonce: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return true, fmt.Errorf("sqlonce: %w", err)
	}
	return true, nil
}

// open begins a transaction that ends with end, and not with ctx: database/sql
// would roll it back in the background, and the key be free some time after Do
// has returned.
func (o *Once) open(ctx context.Context) (_ *sql.Tx, end func(), err error) {
	conn, err := o.db.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	txCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel) // while it begins
	tx, err := conn.BeginTx(txCtx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	stop()
	if err != nil {
		cancel()
		_ = conn.Close()
		return nil, nil, err
	}
	return tx, func() {
		timer := time.AfterFunc(handled.CleanUp, cancel)
		_ = tx.Rollback()
		timer.Stop()
		cancel()
		_ = conn.Close()
	}, nil
}

// begin locks first and looks then: see [handled.Lock].
func begin(ctx context.Context, tx *sql.Tx, sum []byte, lock int64) (known bool, err error) {
	var locked bool
	if err := tx.QueryRowContext(ctx, handled.Lock, lock).Scan(&locked); err != nil {
		return false, fmt.Errorf("sqlonce: %w", err)
	}
	if err := tx.QueryRowContext(ctx, handled.Known, sum).Scan(&known); err != nil {
		return false, fmt.Errorf("sqlonce: %w", err)
	}
	if !known && !locked {
		return false, webhook.ErrInFlight
	}
	return known, nil
}

// Forget deletes the keys of events that were handled more than olderThan ago.
// olderThan must be at least 8 hours, because the platform retries deliveries
// for more than 7; a week is a good value. Forget deletes in batches of 5,000,
// so it does not block handlers for long. It returns the number of deleted
// keys, even if it fails. Concurrent calls are safe.
func (o *Once) Forget(ctx context.Context, olderThan time.Duration) (deleted int64, err error) {
	if err := handled.CheckAge(olderThan); err != nil {
		return 0, fmt.Errorf("sqlonce: Forget: %w", err)
	}
	for {
		n, err := o.forgetBatch(ctx, olderThan)
		deleted += n
		if err != nil {
			return deleted, fmt.Errorf("sqlonce: Forget: %w", err)
		}
		if n < handled.Batch {
			return deleted, nil
		}
	}
}

func (o *Once) forgetBatch(ctx context.Context, olderThan time.Duration) (int64, error) {
	result, err := o.db.ExecContext(ctx, handled.Forget, olderThan.Seconds())
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
