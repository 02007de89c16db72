package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"example.com/emailplatform/contrib/pgstore/internal/handled"
)

// ErrTxManaged is what Commit and Rollback of [Tx] return: the transaction is
// committed when the handler returns nil, and rolled back when it does not.
var ErrTxManaged = handled.ErrEnded

type txKey struct{}

// Tx returns the transaction of the event that is being handled with ctx. Its
// writes are committed together with the event's key. For any other context it
// returns false.
//
// Commit and Rollback only return [ErrTxManaged]. Begin creates a savepoint, which
// can be rolled back. A statement that fails outside a savepoint fails the
// transaction and so the event, even if the handler ignores the error. The
// transaction is not safe for concurrent use, and must not be used after the
// handler has returned.
func Tx(ctx context.Context) (pgx.Tx, bool) {
	tx, ok := ctx.Value(txKey{}).(pgx.Tx)
	return tx, ok
}

func withTx(ctx context.Context, tx pgx.Tx) context.Context {
	return context.WithValue(ctx, txKey{}, pgx.Tx(openTx{tx}))
}

// openTx cannot be ended by a handler.
type openTx struct{ pgx.Tx }

func (openTx) Commit(context.Context) error   { return ErrTxManaged }
func (openTx) Rollback(context.Context) error { return ErrTxManaged }
