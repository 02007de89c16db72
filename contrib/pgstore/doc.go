// Package pgstore is a deduplication store for webhook events in PostgreSQL. It stores the
// key of an event in the transaction that contains the writes of your handler. Therefore
// the handler's writes happen exactly once, even if the process or the database crashes.
// The package requires pgx; for database/sql, use mailroom.NewOnce with contrib/sqlstore.
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
// # The handler
//
// Only writes through [Tx] happen exactly once. If the commit fails after the handler, the
// platform delivers the event again, so other effects, such as a request to another
// service, can happen again.
//
// Each handler holds one connection and an open transaction while it runs, so size the pool
// for the number of concurrent handlers. Instead of running a long task, a handler can use
// the transaction to insert a job for the task into a queue. A handler must never acquire a
// second connection from the same pool, because concurrent handlers could then wait for
// each other forever.
//
// Only the store may end the transaction; see [Tx]. The isolation level is always READ
// COMMITTED.
//
// # Failures
//
// If the handler fails or panics, or if its context is canceled or expires, the store
// rolls back the transaction. Until the rollback, other deliveries of the event receive a
// 503 response, so the platform retries these deliveries.
//
// If a process crashes, PostgreSQL rolls back the transaction when it detects the closed
// connection. However, if the machine loses its network connection, PostgreSQL by
// default detects this only after more than two hours. To shorten this time, set
// tcp_keepalives_idle, tcp_keepalives_interval and tcp_keepalives_count on the server,
// or set idle_in_transaction_session_timeout to more than the duration of a handler.
//
// If the store cannot write, because the transaction is read-only or the role has no
// privilege, Do returns an error and does not call the handler.
//
// If the connection is lost during the commit, the platform delivers the event again. If
// the commit succeeded, the store detects the second delivery as a duplicate.
//
// Only PostgreSQL itself can lose an event: if it loses the commit of an acknowledged
// event, the platform does not deliver the event again. This can happen after a crash with
// synchronous_commit off, or a failover with asynchronous replication.
//
// # PgBouncer
//
// The store supports PgBouncer in transaction mode. By default, pgx prepares
// statements, which requires PgBouncer 1.21 or newer. For older versions of
// PgBouncer, add default_query_exec_mode=exec to the URL.
//
// # Cleanup
//
// The table grows by about 150 bytes per event. To delete old events, call [Once.Forget]
// hourly or daily in one of the processes.
package pgstore
