// Package riverjobs runs package mailroom with River, a job queue in PostgreSQL
// (github.com/riverqueue/river). A job sends an email, looks up an email, or calls OnNotice.
// River decides when the job runs, and which process runs it. After a failure or a crash, River
// retries the job. Even then, as in package mailroom, no email is sent again if the platform may
// have processed it.
//
//	store, err := riverjobs.NewStore(pool, "")
//	…
//	room, err := mailroom.New(c, store, mailroom.Options{External: true, OnNotice: onNotice}) // c is a *client.Client
//	…
//	workers := river.NewWorkers()
//	riverjobs.Register(workers, room)
//	queue, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
//		Workers: workers,
//		Queues: map[string]river.QueueConfig{
//			riverjobs.SendQueue:   {MaxWorkers: 8},
//			riverjobs.LookupQueue: {MaxWorkers: 1},
//			riverjobs.NoticeQueue: {MaxWorkers: 4},
//		},
//		RescueStuckJobsAfter: 5 * time.Minute, // when other processes get the jobs of a crashed process
//	})
//	…
//	room.Start()
//	err = queue.Start(ctx)
//	…
//	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
//		return room.Enqueue(store.With(ctx, tx), "order-17", client.EmailSubmission{…})
//	})
//
// The package needs River's tables and the table that [Store.Create] creates. Package sqlstore uses
// the same table, so an application can replace sqlstore with this package and keep its emails and
// notices.
//
// # Jobs
//
// An item of the Store is, for example, an email to send. Each item with work to do has a job
// in River. The Store inserts the job in the transaction that stores the item, so after a
// rollback or a crash, neither exists without the other. These rules apply to a job:
//
//   - If the work must wait, for example because the platform is down, River snoozes the
//     job. This does not count as an attempt, so River does not discard the job.
//   - If the work of the item was done in the meantime, the job does nothing.
//   - If an operator cancels or deletes the job in River, the Room inserts another job for
//     the item after 15 to 30 minutes.
//
// After a failed request, the jobs of all processes stop sending for a pause. Then one job sends one
// email as a test. If this request succeeds, all jobs continue. Package mailroom gives the reason
// under "Sending".
//
// A job does not return the outcome of an email. Instead, [mailroom.Options].OnNotice receives the
// outcome, and [mailroom.Room.Unknown] lists the unknown outcomes.
//
// # Shutdown
//
// To stop a process, stop the River client, and then close the Room. Both steps wait for the requests in progress. A
// request to send takes at most SendTimeout and a few seconds. A lookup takes at most two minutes. To end it
// earlier, use StopAndCancel of the River client.
//
// # Lookups
//
// The client limits the lookup rate of one process. For several processes, use a shared
// LookupLimiter, such as the one in module redisstore.
package riverjobs
