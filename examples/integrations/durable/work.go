package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/emailplatform/events"
)

// job contains the event of a job and the transaction that completes the job.
// PostgreSQL commits the writes of the handler together with the completion, so these
// writes happen once. Other effects can occur again after a crash; use job.key to
// deduplicate them.
type job struct {
	tx    pgx.Tx
	key   string
	event *events.Event
}

type handler func(context.Context, job) error

// noteEvent handles an event: it writes a row.
func noteEvent(ctx context.Context, j job) error {
	_, err := j.tx.Exec(ctx, "INSERT INTO event_log (key, name, recipient) VALUES ($1, $2, $3)",
		j.key, j.event.Name, j.event.Recipient())
	return err
}

// worker runs the jobs.
type worker struct {
	river.WorkerDefaults[Delivery]
	pool   *pgxpool.Pool
	handle handler
}

// Work implements river.Worker. After an error, River retries the job after 1 s, 16 s,
// 81 s and so on. By default, it runs the job up to 25 times, in about three weeks.
// Then River marks the job as discarded, and keeps it for a week as a dead letter.
func (w *worker) Work(ctx context.Context, j *river.Job[Delivery]) error {
	event, err := events.Parse(j.Args.Body)
	if err != nil {
		return river.JobCancel(err) // a retry would not make it an event
	}
	return pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		if err := w.handle(ctx, job{tx, j.Args.Key, event}); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, j)
		return err
	})
}

const (
	// jobTimeout is longer than the longest job.
	jobTimeout = 10 * time.Second
	// rescueAfter is the time until the jobs of a crashed worker are released; the default
	// is an hour. It must be longer than jobTimeout, because otherwise another worker can
	// start a job that is still running.
	rescueAfter = 20 * time.Second
	stopTimeout = 15 * time.Second // more than jobTimeout
)

// newWorkers returns a River client that runs up to 16 jobs concurrently.
func newWorkers(pool *pgxpool.Pool, handle handler, change ...func(*river.Config)) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{pool: pool, handle: handle})
	cfg := &river.Config{
		Queues:               map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 16}},
		Workers:              workers,
		JobTimeout:           jobTimeout,
		RescueStuckJobsAfter: rescueAfter,
		Logger:               slog.New(slog.DiscardHandler), // River logs each job; use your logger
	}
	for _, c := range change {
		c(cfg)
	}
	return river.NewClient(riverpgxv5.New(pool), cfg)
}

// work runs jobs until the context ends, and completes the jobs in progress.
func work(ctx context.Context, pool *pgxpool.Pool, handle handler, change ...func(*river.Config)) error {
	jobs, err := newWorkers(pool, handle, change...)
	if err != nil {
		return err
	}
	if err := jobs.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return jobs.Stop(last)
}
