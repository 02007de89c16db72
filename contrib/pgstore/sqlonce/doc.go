// Package sqlonce is a deduplication store for webhook events in PostgreSQL,
// like package pgstore. It uses database/sql with any driver, and the
// transaction of the handler.
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
// The documentation of package pgstore on handlers, failures, PgBouncer and
// cleanup applies here too. Both packages share their table, so a service can
// change from one to the other.
//
// If the context of a delivery ends during the commit, the event fails and its
// outcome is unknown, as after a lost connection. This requires a driver that
// uses the context of BeginTx for the commit, as pgx does. With lib/pq, a
// commit can take longer than its context.
package sqlonce
