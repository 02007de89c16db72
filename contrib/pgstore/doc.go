// Package pgstore is a deduplication store for webhook events in PostgreSQL. It
// uses the transaction of the handler: the key of the event and the data that
// the handler writes are committed together. So these writes happen exactly
// once, even if the process or the database crashes.
//
//	pool, err := pgxpool.New(ctx, url)
//	…
//	_, err = pool.Exec(ctx, pgstore.Schema)
//	…
//	h := webhook.NewHandler(verifier, func(ctx context.Context, e *events.Event) error {
//		tx, err := pgstore.Tx(ctx)
//		if err != nil {
//			return err
//		}
//		_, err = tx.Exec(ctx, "INSERT INTO …")
//		return err
//	}, webhook.Options{Once: pgstore.NewOnce(pool, pgstore.OnceOptions{})})
//
// Package sqlonce does the same for database/sql, with any driver.
//
// # The handler
//
// Only writes through [Tx] happen exactly once. Other effects, such as a request
// to another service, happen at least once: they happen before the commit, and
// happen again if the commit fails.
//
// Each handler holds one connection and an open transaction while it runs. Size
// the pool for the number of concurrent handlers. Never acquire a second
// connection from the same pool in a handler, because this can deadlock. Use Tx,
// or a separate pool. For long work, insert a job into a queue in the
// transaction.
//
// The transaction is always READ COMMITTED. Only the store ends it. If a handler
// ends it with SQL or on its connection, the event fails with [ErrTxManaged] and
// is delivered again. Data that the handler committed can then be written again.
//
// # Failures
//
// If the handler fails or panics, or if its context ends, everything is rolled
// back. If a process crashes, PostgreSQL rolls back as soon as it detects the
// closed connection. If the machine loses its network, the detection depends on
// TCP keepalive and takes more than two hours by default. Set
// tcp_keepalives_idle, tcp_keepalives_interval and tcp_keepalives_count on the
// server, or set idle_in_transaction_session_timeout to more than the duration
// of a handler. Until the rollback, deliveries of the event get 503 and are
// retried.
//
// If the connection is lost during the commit, the outcome of the commit is
// unknown. The platform delivers the event again. If the commit succeeded, this
// delivery is a duplicate. This requires a durable database: with
// synchronous_commit off, a crash of the database can lose acknowledged events.
//
// # PgBouncer
//
// The store needs only one transaction per event, so PgBouncer's transaction
// mode works. pgx prepares statements by default, which PgBouncer before 1.21
// does not support: add default_query_exec_mode=exec to the URL.
//
// # Cleanup
//
// The table grows by about 150 bytes per event. Call [Once.Forget] hourly or
// daily in any of the processes.
package pgstore
