// Package sqlonce is a deduplication store for webhook events in PostgreSQL,
// like package pgstore. It uses database/sql with any driver.
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
// documentation of package pgstore also apply to this package. Both packages
// use the same table, so a service can switch between them.
//
// If the context of a delivery ends during the commit, the outcome is unknown,
// as after a lost connection. lib/pq does not use the context for the commit,
// so a commit can take longer than its context. pgx uses it.
package sqlonce
