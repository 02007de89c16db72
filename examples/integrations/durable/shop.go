package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/events"
)

// shop confirms each order with one email. It also works on the events of its
// emails.
type shop struct {
	pool  *pgxpool.Pool
	jobs  *riverjobs.Jobs
	queue *river.Client[pgx.Tx]
}

func newShop(pool *pgxpool.Pool, c *client.Client, opts riverjobs.Options) (s *shop, err error) {
	opts.OnLookup = noteStatus
	s = &shop{pool: pool}
	if s.jobs, err = riverjobs.New(pool, c, opts); err != nil {
		return nil, err
	}
	s.queue, err = newWorkers(pool, s.handle, func(cfg *river.Config) {
		s.jobs.Register(cfg.Workers)
		cfg.Queues[riverjobs.SendQueue] = river.QueueConfig{MaxWorkers: 8}
		cfg.Queues[riverjobs.LookupQueue] = river.QueueConfig{MaxWorkers: 1}
	})
	return s, err
}

// order commits an order together with the job of its confirmation. A second call
// for the same order changes nothing.
func (s *shop) order(ctx context.Context, id, address string) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO orders (id) VALUES ($1) ON CONFLICT DO NOTHING", id); err != nil {
			return err
		}
		_, err := s.queue.InsertTx(ctx, tx, riverjobs.SendArgs{Key: id, Submission: client.EmailSubmission{
			To:      address,
			Sender:  client.Sender{Name: "Shop", Email: "orders@shop.example"},
			Content: client.EmailContent{Type: client.EmailTypeTransactional, Subject: subject(id), Text: "Thank you."},
		}}, nil)
		return err
	})
}

// subject contains the order, so a lookup can match an email with an unknown outcome to its order.
func subject(order string) string { return "Your order " + order }

// handle resolves unknown outcomes, and looks up the reasons of bounces.
func (s *shop) handle(ctx context.Context, j job) error {
	if err := s.jobs.Reconcile(ctx, j.tx, j.event); err != nil {
		return err
	}
	if j.event.Name == events.NameEmailBounced {
		_, err := s.queue.InsertTx(ctx, j.tx, riverjobs.LookupArgs{EmailID: j.event.EmailID()}, nil)
		return err
	}
	return nil
}

// noteStatus writes the result of a lookup, in the transaction of its job.
func noteStatus(ctx context.Context, tx pgx.Tx, email client.Email) error {
	_, err := tx.Exec(ctx, "UPDATE orders SET email_status = $1 WHERE 'Your order ' || id = $2", email.Status, email.Subject)
	return err
}

// run works until the context ends, and completes the emails in progress.
func (s *shop) run(ctx context.Context) error { return runQueue(ctx, s.queue) }
