// Package sqlstore keeps the state of package mailroom in PostgreSQL or SQLite, with database/sql
// and any driver. It can use the application's own transactions. It imports no driver, so it does
// not affect the version of the application's driver. Its tests need drivers, so they are in another
// module, in internal/tests/chaos/drivers.
//
// Each process regularly checks the table for work. Every second, the process runs one transaction for each
// of its workers (mailroom.Options.Workers) and three further transactions, even if there is no work.
// docs/performance.md shows how many emails per second one process sends. To distribute the emails to many
// processes, use module contrib/riverjobs, which adds the job queue River and uses the same table.
//
//	store := sqlstore.New(sqlstore.SQLite, db)
//	if err := store.Create(ctx); err != nil {
//		return err
//	}
//	room, err := mailroom.New(c, store, mailroom.Options{…})
//	if err != nil {
//		return err
//	}
//	room.Start()
//	return store.InTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
//		if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id) VALUES (17)"); err != nil {
//			return err
//		}
//		return room.Enqueue(ctx, "order-17", submission)
//	})
//
// In OnNotice, call [Store.Tx] to get the transaction. To use another database layer instead of database/sql,
// write a mailroom.Store with [Dialect.Tx], as examples/integrations/pocketbase does.
//
// SQLite has one writer, so transactions run one after the other. With `PRAGMA journal_mode=WAL`,
// readers do not wait for the writer. For an in-memory database, limit the pool to one connection,
// because each connection opens its own database. MySQL is not supported, because it has neither
// RETURNING nor ON CONFLICT.
package sqlstore
