package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
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
	c, err := connect(ctx, pool, platform, events.NameSuppressedEmailAdded)
	if err != nil {
		return err
	}
	if err := suppress(ctx, c, platform); err != nil {
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

// connect returns a client of the mock server, which delivers events to a receiver.
func connect(ctx context.Context, pool *pgxpool.Pool, platform *mockserver.Server, names ...events.Name) (*client.Client, error) {
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()})
	if err != nil {
		return nil, err
	}
	hook, err := c.Webhooks.Create(ctx, client.WebhookCreate{URL: "http://shop.test/hook", Events: names})
	if err != nil {
		return nil, err
	}
	h, err := newReceiver(pool, hook.Secret.Reveal(), attempts)
	if err != nil {
		return nil, err
	}
	platform.SetTarget("shop.test", h) // without a socket
	return c, nil
}

// suppress suppresses the addresses and waits until all events are delivered.
func suppress(ctx context.Context, c *client.Client, platform *mockserver.Server) error {
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

const orders = 10

// demonstrateShop confirms ten orders with the mock server, which loses the first
// response. The recipient opens that email, so its outcome becomes known. Another
// email bounces, and a lookup returns the reason.
func demonstrateShop(ctx context.Context, pool *pgxpool.Pool) error {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	c, err := connect(ctx, pool, platform, events.NameEmailOpened, events.NameEmailBounced)
	if err != nil {
		return err
	}
	s, err := newShop(pool, c, riverjobs.Options{Pause: time.Second, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	_, err = platform.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultReset, AfterProcessing: true, Times: 1})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stopped := make(chan error, 1)
	go func() { stopped <- s.run(ctx) }()
	err = s.demonstrate(ctx, platform)
	stop()
	return errors.Join(err, <-stopped)
}

func (s *shop) demonstrate(ctx context.Context, platform *mockserver.Server) error {
	for i := range orders + 1 {
		n := i % orders // the first order comes again, as after a reload of the page
		if err := s.order(ctx, fmt.Sprint("A-", n), fmt.Sprintf("ada+%d@example.org", n)); err != nil {
			return err
		}
	}
	if err := becomes(ctx, s.pool, orders, "emailplatform_sends WHERE state IN ('sent', 'unknown')"); err != nil {
		return err
	}
	unknown, err := s.jobs.Unknown(ctx)
	if err != nil {
		return err
	}
	if len(unknown) != 1 {
		return fmt.Errorf("%d unknown outcomes, want 1", len(unknown))
	}
	fmt.Printf("%d orders: %d emails were sent; the outcome of %s is unknown\n", orders, orders-len(unknown), unknown[0].Key)
	lost, bounced := platform.OutboxTo(unknown[0].To)[0], platform.Outbox()[orders-1]
	if err := errors.Join(platform.Open(lost.ID), platform.Bounce(bounced.ID, events.BounceCategoryHard)); err != nil {
		return err
	}
	if err := becomes(ctx, s.pool, orders, "emailplatform_sends WHERE state = 'sent'"); err != nil {
		return err
	}
	if err := becomes(ctx, s.pool, 1, "orders WHERE email_status = 'bounced'"); err != nil {
		return err
	}
	if n := len(platform.Outbox()); n != orders {
		return fmt.Errorf("%d emails for %d orders", n, orders)
	}
	fmt.Printf("the recipient opened the email, so it was sent; each of the %d emails was sent once, and 1 bounced\n", orders)
	return nil
}
