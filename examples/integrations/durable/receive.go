package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"example.com/emailplatform/contrib/pgstore"
	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// Delivery is the job of an event. It stores the whole signed body, because a later
// version of this program may decode more of it.
type Delivery struct {
	Key  string `json:"key"`
	Body []byte `json:"body"`
}

// Kind implements river.JobArgs.
func (Delivery) Kind() string { return "emailplatform_event" }

// migrate creates the tables for handled events, for River and for this program.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	m, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return err
	}
	// The lock prevents conflicts between processes that start at the same time.
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(7426951)"); err != nil {
		return err
	}
	defer func() { _, _ = conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(7426951)") }()
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, pgstore.Schema+`;
		CREATE TABLE IF NOT EXISTS event_log (key text NOT NULL, name text NOT NULL, recipient text NOT NULL)`)
	return err
}

// newReceiver returns a handler that stores the job of an event and its deduplication key
// in one transaction, and then acknowledges the event. So no event is lost, and each
// event causes exactly one job. Each job runs up to maxAttempts times, or 25 times if
// maxAttempts is 0. River's unique jobs cannot replace the deduplication key, because
// River deletes a job a day after its end. After that, it would accept a duplicate.
func newReceiver(pool *pgxpool.Pool, secret string, maxAttempts int) (http.Handler, error) {
	parsed, err := webhook.ParseSecret(secret, "")
	if err != nil {
		return nil, err
	}
	v, err := webhook.NewVerifier(parsed)
	if err != nil {
		return nil, err
	}
	jobs, err := river.NewClient(riverpgxv5.New(pool), &river.Config{MaxAttempts: maxAttempts}) // it only inserts
	if err != nil {
		return nil, err
	}
	return webhook.NewHandler(v, enqueue(jobs), webhook.Options{Once: pgstore.NewOnce(pool, pgstore.OnceOptions{})}), nil
}

func enqueue(jobs *river.Client[pgx.Tx]) func(context.Context, *events.Event) error {
	return func(ctx context.Context, _ *events.Event) error {
		tx, err := pgstore.Tx(ctx)
		if err != nil {
			return err
		}
		d, ok := webhook.FromContext(ctx)
		if !ok {
			return errors.New("no delivery in the context: enqueue must be the function of a webhook handler")
		}
		// The key is escaped, because PostgreSQL rejects JSON with NUL. A UUID stays the same.
		_, err = jobs.InsertTx(ctx, tx, Delivery{Key: url.PathEscape(d.Key), Body: d.Body}, nil)
		return err
	}
}
