// Package pgstore remembers handled webhook events in PostgreSQL, in the
// transaction of what their handler writes: both are committed, or neither is.
// So what a handler writes there happens exactly once, even when a process or
// the database is killed at any moment.
//
//	pool, err := pgxpool.New(ctx, url)
//	…
//	_, err = pool.Exec(ctx, pgstore.Schema)
//	…
//	h := webhook.NewHandler(verifier, func(ctx context.Context, e *events.Event) error {
//		tx, _ := pgstore.Tx(ctx)
//		_, err := tx.Exec(ctx, "INSERT INTO …")
//		return err
//	}, webhook.Options{Once: pgstore.NewOnce(pool)})
//
// The package sqlonce does the same for database/sql, with any driver.
//
// # The handler
//
// A handler uses [Tx], and nothing else, for what must happen exactly once. What
// it does elsewhere, such as a request to another service, happens at least once:
// it is done before the commit, and done again if that fails.
//
// A handler that takes a second connection from the pool of the store may wait
// for ever: every connection may be held by a handler that waits for another one.
// Use Tx, or a pool of its own.
//
// The transaction is open, and its connection taken, for as long as the handler
// runs. The pool needs as many connections as events are to be handled at the
// same time. Work that takes long, or calls others, belongs into a queue: insert
// the job in the transaction.
//
// Do sets READ COMMITTED, whatever the default of the database is.
//
// # Failures
//
// When the handler fails, panics, or its context ends, everything is rolled back.
// When a process dies, PostgreSQL rolls back as soon as it learns of it: at once
// when the process is killed; when the machine is cut off, by the keepalive of
// TCP, after more than two hours by default. Set tcp_keepalives_idle,
// tcp_keepalives_interval and tcp_keepalives_count on the server, or
// idle_in_transaction_session_timeout to more than a handler takes. Until then
// the event is answered with 503, and delivered again.
//
// When the connection is lost during the commit, nobody knows whether it was
// carried out. The platform delivers again: if it was, the event is a duplicate.
// All this holds as long as the database keeps what it has committed: with
// synchronous_commit off, a crash of it loses events that were acknowledged.
//
// # PgBouncer
//
// Everything happens in one transaction, so that transaction mode will do. pgx
// prepares statements by default, which PgBouncer before 1.21 does not bear: add
// default_query_exec_mode=exec to the URL.
//
// # Clean-up
//
// The table grows by about 150 bytes an event. Call [Once.Forget] once an hour, or
// once a day, in any of the processes.
package pgstore
