// Package riverjobs sends and looks up emails with River, a job queue in
// PostgreSQL (github.com/riverqueue/river). An application inserts a job for each
// email in its own transaction. The workers never send an email again if the
// platform may have processed it, even after a crash.
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
// these tables, and need no other coordination.
//
// # The result of an email
//
// The result determines what happens to the job:
//
//	Result of Emails.Send                Job                  Email
//	accepted                             completed            sent once
//	client.ErrNotQueued                  canceled             not sent
//	no connection, no token, 401, 429    snoozed              sent later
//	403                                  snoozed for MaxPause sent later
//	another 4xx status                   canceled             not sent
//	client.ErrOutcomeUnknown             snoozed for an hour  unknown, see below
//	the process ends before the result   rescued by River     unknown, see below
//
// In River, a snooze does not count as an attempt. The errors of a canceled job
// describe why the email was not sent. If you retry a canceled job in River,
// the job sends the email. The job's output is an [Output], unless the email
// will be sent later.
//
// A worker commits the state "sending" before it sends the request. If a job
// starts in the state "sending", an earlier process ended during the request, so
// the outcome is unknown.
//
// # Unknown outcomes
//
// The workers do not resend an email with an unknown outcome. [Jobs.Unknown] lists
// emails with an unknown outcome, and [Jobs.Resolve] records the decision of an
// operator. Events often resolve an unknown outcome without an operator, so call
// [Jobs.Reconcile] for each event. If the event's email id is not in any record,
// the event may be about an email with an unknown outcome. Reconcile then inserts
// a job that looks up the email and compares its recipient, subject and time with
// these records. To make subjects unique, include the key in the subject, for
// example "Your order 17". If the recipient does nothing, the platform sends no
// event, and an operator must resolve the email.
//
// # Outages
//
// After an unknown outcome, a 401, a 429, a 503 or a failed connection, all
// replicas stop sending for [Options.Pause]. After the pause, or if no request has
// succeeded for 30 seconds, one job sends its email while the other jobs wait. If
// the request succeeds, the other jobs continue. If the request fails, the pause
// doubles, up to [Options.MaxPause]. [Options.Pause] describes how a Retry-After
// header changes the pause. If no email was sent in the 30 seconds before
// an outage, each pause causes at most one unknown outcome. If an outage begins
// while jobs are sending emails, up to MaxWorkers requests in each replica can
// also have unknown outcomes. Waiting jobs are snoozed for the rest of the pause.
//
// # Shutdown
//
// Stop the River client before the process ends. Stopping the client does not
// interrupt requests in progress. To complete the requests in progress, wait
// a few seconds longer than [Options.SendTimeout].
//
// # Uniqueness
//
// An email is sent at most once for each key. River skips a job if it already
// stores a job with the same key. By default, River deletes completed and canceled
// jobs, with their output, after a day. After a job has completed, a second job
// with the same key finds the email's record and does not send the email again.
// After a job has been canceled, a second job sends the email. Call [Jobs.Forget] to delete old
// records.
//
// # Lookups
//
// Insert a [LookupArgs] to look up an email. The worker calls [Options.OnLookup]
// with the result in the transaction that completes the job. The client limits the
// lookup rate. For several replicas, use a shared [client.LookupLimiter].
package riverjobs
