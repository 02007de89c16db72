package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/emailplatform/contrib/pgstore/internal/handled"
	"example.com/emailplatform/webhook"
)

// Schema makes the table emailplatform_handled in the first schema of the search
// path, unless it is there. Run it before the first event, or copy it into your
// migrations.
const Schema = handled.Schema

// DB is what a [Once] needs of a *pgxpool.Pool.
type DB interface {
	BeginTx(ctx context.Context, opts pgx.TxOptions) (pgx.Tx, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Once is a [webhook.Once] in PostgreSQL. It is safe for concurrent use if its DB
// is, and shared by all processes that use the same database.
type Once struct{ db DB }

var _ webhook.Once = (*Once)(nil)

// OnceOptions configures a [Once]. It has no fields yet.
type OnceOptions struct{}

// NewOnce returns a store in db, most often a *pgxpool.Pool. If db is nil, it
// panics.
func NewOnce(db DB, _ OnceOptions) *Once {
	if db == nil {
		panic("pgstore: NewOnce needs a database")
	}
	return &Once{db}
}

// Do implements [webhook.Once]. fn finds the transaction by [Tx].
func (o *Once) Do(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	tx, err := o.db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return false, fmt.Errorf("pgstore: %w", err)
	}
	defer rollback(ctx, tx) // also after a panic; after a commit it does nothing
	sum, lock := handled.Key(key)
	if known, err := begin(ctx, tx, sum, lock); known || err != nil {
		return false, err
	}
	if err := fn(withTx(ctx, tx)); err != nil {
		return true, err
	}
	if _, err := tx.Exec(ctx, handled.Remember, sum); err != nil {
		return true, fmt.Errorf("pgstore: %w", err)
	}
	if err := tx.Commit(ctx); err != nil {
		return true, fmt.Errorf("pgstore: %w", err)
	}
	return true, nil
}

// begin locks first and looks then: see [handled.Lock].
func begin(ctx context.Context, tx pgx.Tx, sum []byte, lock int64) (known bool, err error) {
	var locked bool
	if err := tx.QueryRow(ctx, handled.Lock, lock).Scan(&locked); err != nil {
		return false, fmt.Errorf("pgstore: %w", err)
	}
	if err := tx.QueryRow(ctx, handled.Known, sum).Scan(&known); err != nil {
		return false, fmt.Errorf("pgstore: %w", err)
	}
	if !known && !locked {
		return false, webhook.ErrInFlight
	}
	return known, nil
}

// rollback frees the key even if ctx is done.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handled.CleanUp)
	defer cancel()
	_ = tx.Rollback(ctx)
}

// Forget deletes the keys of events that were handled more than olderThan ago.
// olderThan must be at least 8 hours, because the platform retries deliveries
// for more than 7; a week is a good value. Forget deletes in batches of 5,000,
// so it does not block handlers for long. It returns the number of deleted
// keys, even if it fails. Concurrent calls are safe.
func (o *Once) Forget(ctx context.Context, olderThan time.Duration) (deleted int64, err error) {
	if err := handled.CheckAge(olderThan); err != nil {
		return 0, fmt.Errorf("pgstore: Forget: %w", err)
	}
	for {
		tag, err := o.db.Exec(ctx, handled.Forget, olderThan.Seconds())
		if err != nil {
			return deleted, fmt.Errorf("pgstore: Forget: %w", err)
		}
		deleted += tag.RowsAffected()
		if tag.RowsAffected() < handled.Batch {
			return deleted, nil
		}
	}
}
