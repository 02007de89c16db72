// Package sqlonce is a deduplication store for webhook events in PostgreSQL.
// It is the equivalent of package pgstore for database/sql, with any driver.
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
// of the delivery ends during the commit. With the driver pgx, the commit is
// aborted when the context ends. With the driver lib/pq, the commit can take
// longer, because lib/pq does not use the context for commits.
package sqlonce
