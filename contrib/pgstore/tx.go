package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"example.com/emailplatform/contrib/pgstore/internal/handled"
)

// ErrTxEnd is what Commit and Rollback of [Tx] return: the transaction is
// committed when the handler returns nil, and rolled back when it does not.
var ErrTxEnd = handled.ErrEnded

type txKey struct{}

// Tx returns the transaction of the event whose handler was called with ctx: what
// is written with it is committed together with the event's key. It reports false
// for any other context.
//
// Commit and Rollback do nothing but return [ErrTxEnd]; Begin makes a savepoint,
// which may be rolled back. A statement that fails outside of a savepoint fails
// the transaction, and so the event, even if the handler ignores the error. It
// must not be used after the handler has returned, nor by two goroutines at once.
func Tx(ctx context.Context) (pgx.Tx, bool) {
	tx, ok := ctx.Value(txKey{}).(pgx.Tx)
	return tx, ok
}

func withTx(ctx context.Context, tx pgx.Tx) context.Context {
	return context.WithValue(ctx, txKey{}, pgx.Tx(openTx{tx}))
}

// openTx cannot be ended by a handler.
type openTx struct{ pgx.Tx }

func (openTx) Commit(context.Context) error   { return ErrTxEnd }
func (openTx) Rollback(context.Context) error { return ErrTxEnd }
