// Package riverjobs sends and looks up emails as jobs of River, a job queue in
// PostgreSQL (github.com/riverqueue/river). An application inserts the job of an
// email in its own transaction. The workers never send an email again if the
// platform may have processed it, even after a crash, and they stop sending during
// an outage.
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
// The package needs the tables of River and of [Schema]. All replicas share them,
// so they need no other coordination.
//
// # The result of an email
//
// The result decides what happens to the job:
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
// A snoozed job does not use up an attempt of River. The errors of a canceled job
// contain the reason. If you retry the job in River, it sends the email. Each
// result except "sent later" is in the output of the job, an [Output].
//
// A worker commits the state "sending" before the request. If it finds that state
// at the start of a job, another process ended during the request, and the outcome
// is unknown.
//
// # Unknown outcomes
//
// An email whose outcome is unknown is not sent again. [Jobs.Unknown] lists these
// emails, and [Jobs.Resolve] records what an operator found out. [Jobs.Reconcile]
// resolves an email without an operator: if an event has an unknown email id, a job
// looks up the id, and compares the recipient, the subject and the time. So make
// the key part of the subject, as in "Your order 17". If the recipient does
// nothing, there is no event, and an operator must decide.
//
// # Outages
//
// After an unknown outcome, a 401, a 429, a 503 or a failed connection, no replica
// sends from the queue for [Options.Pause]. Then one job sends. If it succeeds, all
// other jobs continue. If it fails, the pause doubles, up to [Options.MaxPause].
// After 30 seconds without a successful request, one job also runs before the
// others, so an outage that begins while the queue is empty costs one unknown
// outcome for each pause. An outage that begins while jobs send also costs the
// requests in progress, at most MaxWorkers of each replica. Waiting jobs are
// snoozed for the rest of the pause.
//
// # Shutdown
//
// Stop the River client before the process ends, and wait for it. Stopping does not
// interrupt requests, which have their own deadline, [Options.SendTimeout]. Wait
// some seconds longer than this.
//
// # Uniqueness
//
// The email of a key is sent once. While River keeps a job, it skips a second job
// with the same key. By default it deletes a completed job after a day. After that
// a second job finds the record of the first one and completes without sending.
// Call [Jobs.Forget] to delete old records.
//
// # Lookups
//
// Insert a [LookupArgs] to look up an email. [Options.OnLookup] gets the result in
// the transaction that completes the job. The client limits the rate to one lookup
// per second, with its [client.LookupLimiter]. Use a shared limiter for several
// replicas. Without one, the platform rejects some lookups, and the client retries
// them.
package riverjobs
