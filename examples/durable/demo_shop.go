package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

const orders = 10

// demonstrateShop confirms ten orders with the mock server, which loses the first
// response. The recipient opens that email, so its outcome becomes known. Another
// email bounces, and a lookup finds out.
func demonstrateShop(ctx context.Context, pool *pgxpool.Pool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	platform := mockserver.Start(mockserver.Config{})
	defer platform.Close()
	served, err := deliverTo(ctx, pool, platform, events.NameEmailOpened, events.NameEmailBounced)
	if err != nil {
		return err
	}
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token()})
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
	stopped := make(chan error, 1)
	go func() { stopped <- s.run(ctx) }()
	err = s.demonstrate(ctx, platform)
	stop()
	return errors.Join(err, <-stopped, <-served)
}

func (s *shop) demonstrate(ctx context.Context, platform *mockserver.Server) error {
	for i := range orders + 1 {
		n := i % orders // the first order comes again, as after a reload of the page
		if err := s.order(ctx, fmt.Sprint("A-", n), fmt.Sprintf("ada+%d@example.org", n)); err != nil {
			return err
		}
	}
	if err := s.becomes(ctx, orders, "emailplatform_sends WHERE state IN ('sent', 'unknown')"); err != nil {
		return err
	}
	unknown, err := s.jobs.Unknown(ctx)
	if err != nil {
		return err
	}
	if len(unknown) != 1 {
		return fmt.Errorf("%d unknown outcomes, want 1", len(unknown))
	}
	fmt.Printf("%d orders: %d emails are sent, the outcome of %s is unknown\n", orders, orders-len(unknown), unknown[0].Key)
	lost, bounced := platform.OutboxTo(unknown[0].To)[0], platform.Outbox()[orders-1]
	if err := errors.Join(platform.Open(lost.ID), platform.Bounce(bounced.ID, events.BounceCategoryHard)); err != nil {
		return err
	}
	if err := s.becomes(ctx, orders, "emailplatform_sends WHERE state = 'sent'"); err != nil {
		return err
	}
	if err := s.becomes(ctx, 1, "orders WHERE email_status = 'bounced'"); err != nil {
		return err
	}
	if n := len(platform.Outbox()); n != orders {
		return fmt.Errorf("%d emails about %d orders", n, orders)
	}
	fmt.Printf("the recipient opened it, so %d emails are sent, each once; 1 of them bounced\n", orders)
	return nil
}

// becomes waits until there are that many rows.
func (s *shop) becomes(ctx context.Context, want int, what string) error {
	return until(ctx, func() (bool, error) {
		n, err := count(ctx, s.pool, what)
		return n == want, err
	})
}
