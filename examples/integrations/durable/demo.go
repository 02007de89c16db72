package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

const (
	addresses      = 20
	attempts       = 3
	failingAddress = "eve@example.org" // whose event the handler cannot bear, at first
)

// trySoon retries immediately, for a short demonstration.
func trySoon(cfg *river.Config) { cfg.RetryPolicy = soon{} }

type soon struct{}

func (soon) NextRetry(*rivertype.JobRow) time.Time { return time.Now() }

// demonstrate runs everything with the mock server: twenty addresses are
// suppressed, workers handle the events, and one event becomes a dead letter
// until a bug is fixed.
func demonstrate(ctx context.Context, pool *pgxpool.Pool) error {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	if err := suppress(ctx, pool, platform); err != nil {
		return err
	}
	fmt.Printf("%d deliveries were acknowledged before a worker processed them\n", addresses)
	var fixed atomic.Bool
	jobs, err := newWorkers(pool, func(ctx context.Context, j job) error {
		if j.event.Recipient() == failingAddress && !fixed.Load() {
			return errors.New("a bug")
		}
		return noteEvent(ctx, j)
	}, trySoon)
	if err != nil {
		return err
	}
	if err := jobs.Start(ctx); err != nil {
		return err
	}
	if err := workedOff(ctx, pool); err != nil {
		return err
	}
	fixed.Store(true)
	return errors.Join(revive(ctx, pool, jobs), jobs.Stop(ctx))
}

// suppress suppresses the addresses and waits until the receiver has acknowledged all events.
func suppress(ctx context.Context, pool *pgxpool.Pool, platform *mockserver.Server) error {
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()})
	if err != nil {
		return err
	}
	hook, err := c.Webhooks.Create(ctx, client.WebhookCreate{URL: "http://shop.test/hook", Events: []events.Name{events.NameSuppressedEmailAdded}})
	if err != nil {
		return err
	}
	h, err := newReceiver(pool, hook.Secret.Reveal(), attempts)
	if err != nil {
		return err
	}
	platform.SetTarget("shop.test", h) // without a socket
	for i := range addresses {
		address := fmt.Sprintf("ada+%d@example.org", i)
		if i == addresses-1 {
			address = failingAddress
		}
		if _, err := c.SuppressedEmails.Add(ctx, address); err != nil {
			return err
		}
	}
	return platform.Wait(ctx)
}

// workedOff waits until no job is queued or running, and prints the number of processed events.
func workedOff(ctx context.Context, pool *pgxpool.Pool) error {
	if err := becomes(ctx, pool, 0, "river_job WHERE state IN ('available', 'running', 'retryable', 'scheduled')"); err != nil {
		return err
	}
	n, err := count(ctx, pool, "event_log")
	fmt.Printf("the workers processed %d events\n", n)
	return err
}

// revive retries the dead letters after the bug is fixed.
func revive(ctx context.Context, pool *pgxpool.Pool, jobs *river.Client[pgx.Tx]) error {
	discarded, err := jobs.JobList(ctx, river.NewJobListParams().States(rivertype.JobStateDiscarded))
	if err != nil {
		return err
	}
	for _, j := range discarded.Jobs {
		fmt.Printf("retrying a dead letter that failed %d times: %s\n", j.Attempt, j.Errors[len(j.Errors)-1].Error)
		if _, err := jobs.JobRetry(ctx, j.ID); err != nil {
			return err
		}
	}
	if err := becomes(ctx, pool, 0, "river_job WHERE state <> 'completed'"); err != nil {
		return err
	}
	fmt.Println("all jobs are completed")
	return nil
}

func count(ctx context.Context, pool *pgxpool.Pool, what string) (n int, err error) {
	err = pool.QueryRow(ctx, "SELECT count(*) FROM "+what).Scan(&n)
	return n, err
}

// becomes waits up to a minute until the table contains this number of rows.
func becomes(ctx context.Context, pool *pgxpool.Pool, want int, what string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if n, err := count(ctx, pool, what); n == want || err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}
