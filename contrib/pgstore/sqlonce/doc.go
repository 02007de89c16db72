// Package sqlonce is package pgstore for database/sql: it remembers handled
// webhook events in PostgreSQL, in the transaction of what their handler writes.
// It works with any driver for PostgreSQL, and needs none of its own.
//
//	db, err := sql.Open("pgx", url)
//	…
//	_, err = db.ExecContext(ctx, sqlonce.Schema)
//	…
//	h := webhook.NewHandler(verifier, func(ctx context.Context, e *events.Event) error {
//		tx, _ := sqlonce.Tx(ctx)
//		_, err := tx.ExecContext(ctx, "INSERT INTO …")
//		return err
//	}, webhook.Options{Once: sqlonce.NewOnce(db, sqlonce.OnceOptions{})})
//
// What package pgstore says of handlers, failures, PgBouncer and clean-up is true
// here too, and both share their table: a service may go from one to the other.
package sqlonce
