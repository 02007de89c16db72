// Package pgstore is a deduplication store for webhook events in PostgreSQL.
// The handler writes its data in the same transaction that stores the key of
// the event. So these writes happen exactly once, even if the process or the
// database crashes.
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
// Only writes through [Tx] happen exactly once. Other effects, such as a
// request to another service, happen at least once, because the commit can fail
// afterwards.
//
// Each handler holds one connection and an open transaction while it runs. Size
// the pool for the number of concurrent handlers. Never acquire a second
// connection from the same pool in a handler, because this can deadlock. For
// long work, insert a job into a queue in the transaction.
//
// The isolation level is always READ COMMITTED. Only the store may end the
// transaction; see [Tx].
//
// # Failures
//
// If the handler fails or panics, or if its context ends, the store rolls back
// the transaction. If a process crashes, PostgreSQL rolls back when it detects
// the closed connection. If the machine loses its network connection, the
// detection takes more than two hours by default. To shorten this time, set
// tcp_keepalives_idle, tcp_keepalives_interval and tcp_keepalives_count on the
// server, or set idle_in_transaction_session_timeout to more than the duration
// of a handler. Until the rollback, further deliveries of the event get 503,
// and the platform retries them.
//
// If the connection is lost during the commit, the platform delivers the event
// again. If the commit succeeded, this delivery is a duplicate. With
// synchronous_commit off, a crash of the database can lose acknowledged events.
//
// # PgBouncer
//
// The store works with PgBouncer in transaction mode. pgx prepares statements
// by default, which PgBouncer before 1.21 does not support. For these versions,
// add default_query_exec_mode=exec to the URL.
//
// # Cleanup
//
// The table grows by about 150 bytes per event. Call [Once.Forget] hourly or
// daily in one of the processes.
package pgstore
