// Package riverjobs sends and looks up emails with River, a job queue in
// PostgreSQL (github.com/riverqueue/river). An application inserts a job for each
// email in its own transaction. The workers never send an email again if the
// platform may have processed it, even after a crash. They stop sending during an
// outage.
//
//	pool, err := pgxpool.New(ctx, url)
//	…
//	jobs, err := riverjobs.New(pool, c, riverjobs.Options{}) // c is a *client.Client
//	…
//	workers := river.NewWorkers()
//	jobs.Register(workers)
//	queue, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
//		Workers: workers,
//		Queues: map[string]river.QueueConfig{
//			riverjobs.SendQueue:   {MaxWorkers: 8},
//			riverjobs.LookupQueue: {MaxWorkers: 1},
//		},
//		RescueStuckJobsAfter: 2 * time.Minute,
//	})
//	…
//	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
//		_, err := queue.InsertTx(ctx, tx, riverjobs.SendArgs{Key: "order-17", Submission: client.EmailSubmission{…}}, nil)
//		return err
//	})
//
// The package needs River's tables and the tables in [Schema]. All replicas share
// them, and need no other coordination.
//
// # The result of an email
//
// The result determines what happens to the job:
//
//	Result of Emails.Send                Job                  Email
//	accepted                             completed            sent once
//	client.ErrNotQueued                  canceled             not sent
//	no connection, 401, 429              snoozed              sent later
//	503 with Retry-After                 snoozed              sent later
//	403                                  snoozed for MaxPause sent later
//	another 4xx status                   canceled             not sent
//	client.ErrOutcomeUnknown             snoozed for an hour  unknown, see below
//	the process ends before the result   rescued by River     unknown, see below
//
// Snoozing does not count as an attempt in River. The errors of a canceled job
// contain the reason. If you retry the canceled job in River, it sends the email.
// The job's output is an [Output], unless the email will be sent later.
//
// A worker commits the state "sending" before the request. If a job starts in that
// state, an earlier process ended during the request, and the outcome is unknown.
//
// # Unknown outcomes
//
// The workers do not send an email with an unknown outcome again. [Jobs.Unknown]
// lists these emails, and [Jobs.Resolve] records the decision of an operator.
// [Jobs.Reconcile] resolves an email without an operator. If an event contains an
// unknown email id, a job looks up the id, and compares the recipient, the subject
// and the time. So include the key in the subject, for example "Your order 17". If
// the recipient does nothing, there is no event, and an operator must decide.
//
// # Outages
//
// After an unknown outcome, a 401, a 429, a 503 or a failed connection, all
// replicas stop sending for [Options.Pause]. Then one job sends its email. If it
// succeeds, the other jobs continue. If it fails, the pause doubles, up to
// [Options.MaxPause]. One job also sends alone after 30 seconds without a
// successful request. Therefore an outage that begins while the queue is empty
// causes one unknown outcome for each pause. If an outage begins while jobs are
// sending emails, the requests in progress, at most MaxWorkers in each replica,
// can also have unknown outcomes. Waiting jobs are snoozed for the rest of the
// pause.
//
// # Shutdown
//
// Stop the River client before the process ends. Stopping does not interrupt
// requests. Wait some seconds longer than their deadline, [Options.SendTimeout].
//
// # Uniqueness
//
// An email is sent at most once for each key. While River stores a job, it skips a
// second job with the same key. By default River deletes a completed job after a
// day. After that a second job finds the record of the first job, and completes
// without sending. Call [Jobs.Forget] to delete old records.
//
// # Lookups
//
// Insert a [LookupArgs] to look up an email. [Options.OnLookup] gets the result in
// the transaction that completes the job. The client limits the rate of lookups.
// For several replicas, use a shared [client.LookupLimiter]. Otherwise the
// platform rejects some lookups, and the client retries them.
package riverjobs
