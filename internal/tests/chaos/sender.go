package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
)

// released is when the jobs of a killed sender are given to another: after the 2 s
// of its SendTimeout and what the jobs take beside it.
const released = 20 * time.Second

// sender is a replica that sends the emails of the queue. It ends at SIGTERM, after
// the emails in progress.
func sender(args []string) error {
	f := flag.NewFlagSet("sender", flag.ExitOnError)
	platform := f.String("platform", "", "URL of the platform")
	token := f.String("token", "", "of the platform")
	postgresURL := f.String("postgres", "", "URL of PostgreSQL")
	pause := f.Duration("pause", 0, "after an unknown outcome")
	_ = f.Parse(args)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	pool, err := pgxpool.New(ctx, *postgresURL)
	if err != nil {
		return err
	}
	defer pool.Close()
	silent := slog.New(slog.DiscardHandler)
	c, err := client.New(client.Config{BaseURL: *platform, Token: *token, Logger: silent})
	if err != nil {
		return err
	}
	jobs, err := riverjobs.New(pool, c, riverjobs.Options{SendTimeout: 2 * time.Second, Pause: *pause, Logger: silent})
	if err != nil {
		return err
	}
	queue, err := newSender(pool, jobs)
	if err != nil {
		return err
	}
	if err := queue.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	fmt.Println("started")
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return queue.Stop(last)
}

func newSender(pool *pgxpool.Pool, jobs *riverjobs.Jobs) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	jobs.Register(workers)
	return river.NewClient(riverpgxv5.New(pool), &river.Config{
		Workers:              workers,
		Queues:               map[string]river.QueueConfig{riverjobs.SendQueue: {MaxWorkers: 8}, riverjobs.LookupQueue: {MaxWorkers: 1}},
		JobTimeout:           10 * time.Second, // of jobs without a timeout of their own
		RescueStuckJobsAfter: released,
		FetchPollInterval:    200 * time.Millisecond,
		TestOnly:             true, // a leader starts to rescue at once
		Logger:               slog.New(slog.DiscardHandler),
	})
}
