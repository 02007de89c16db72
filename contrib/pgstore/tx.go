package pgstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"example.com/emailplatform/contrib/pgstore/internal/handled"
)

// ErrTxManaged means that a handler tried to end the transaction itself. The
// methods Commit and Rollback of the transaction return ErrTxManaged and have
// no effect. [Once.Do] returns ErrTxManaged if the handler ended the
// transaction with SQL or through the connection.
var ErrTxManaged = handled.ErrManaged

var errNoTx = errors.New("pgstore: no transaction in the context: call Tx with the context of a handler whose webhook.Options.Once is a *pgstore.Once")

type txKey struct{}

// Tx returns the transaction of the event that is being handled with ctx.
// Writes in this transaction are committed together with the event's key. For
// any other context, Tx returns an error.
//
// Commit and Rollback return [ErrTxManaged] and have no effect. Begin creates a
// savepoint that can be rolled back, so you can use pgx.BeginFunc(ctx, tx, …). If a
// statement fails outside a savepoint, the transaction and the event fail too, even
// if the handler ignores the error. The transaction is not safe for concurrent use.
// Do not use the transaction after the handler has returned.
//
// Conn returns the connection, for example to read its configuration. Do not begin or end a
// transaction on this connection, either with SQL or with a function such as
// pgx.BeginFunc(ctx, tx.Conn(), …). If the handler ends the transaction anyway, the event
// fails with [ErrTxManaged], and the platform delivers the event again. Data that the
// handler has already committed stays in the database, so the next delivery can duplicate
// the data.
func Tx(ctx context.Context) (pgx.Tx, error) {
	tx, ok := ctx.Value(txKey{}).(pgx.Tx)
	if !ok {
		return nil, errNoTx
	}
	return tx, nil
}

func withTx(ctx context.Context, tx pgx.Tx) context.Context {
	return context.WithValue(ctx, txKey{}, pgx.Tx(openTx{tx}))
}

// openTx is a transaction that a handler cannot commit or roll back.
type openTx struct{ pgx.Tx }

func (openTx) Commit(context.Context) error   { return ErrTxManaged }
func (openTx) Rollback(context.Context) error { return ErrTxManaged }
