package main

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/pgstore"
	"example.com/emailplatform/events"
	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// TestBubble runs a handler that uses PostgreSQL on virtual time, so the platform can retry a delivery for
// hours.
func TestBubble(t *testing.T) {
	newDatabase(t)
	synctest.Test(t, func(t *testing.T) {
		pool, err := pgxpool.New(t.Context(), os.Getenv("POSTGRES_URL")) // in the bubble, so its goroutines are too
		check(t, err)
		t.Cleanup(pool.Close) // runs after platform.Close
		_, err = pool.Exec(t.Context(), pgstore.Schema+"; CREATE TABLE received (at timestamptz)")
		check(t, err)
		platform := mockserver.New(mockserver.Config{})
		t.Cleanup(platform.Close) // ends deliveries first, so no handler uses a closed pool
		c := faulttest.Client(t, platform)
		hook, err := c.Webhooks.Ensure(t.Context(), client.WebhookCreate{
			URL: "http://shop.test/hook", Events: []events.Name{events.NameEmailOpened},
		})
		check(t, err)
		secret, err := webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction)
		check(t, err)
		verifier, err := webhook.NewVerifier(secret)
		check(t, err)
		platform.SetTarget("shop.test", webhook.NewHandler(verifier, func(ctx context.Context, _ *events.Event) error {
			tx, err := pgstore.Tx(ctx)
			if err != nil {
				return err
			}
			// now() of the database is not the virtual time of the bubble.
			_, err = tx.Exec(ctx, "INSERT INTO received VALUES ($1)", time.Now())
			return err
		}, webhook.Options{Once: pgstore.NewOnce(pool, pgstore.OnceOptions{})}))
		faulttest.Inject(t, platform, mockserver.Fault{Event: "*", Action: mockserver.FaultStatus, Times: 7})
		email, err := c.Emails.Send(t.Context(), client.EmailSubmission{
			To: "ada@example.org", Sender: client.Sender{Email: "shop@example.com"}, Content: client.EmailContent{Subject: "S", Text: "T"},
		})
		check(t, err)
		opened := time.Now()
		check(t, platform.Open(email.ID))
		check(t, platform.Drain(t.Context()))
		var handled time.Time
		check(t, pool.QueryRow(t.Context(), "SELECT at FROM received").Scan(&handled))
		if after := handled.Sub(opened).Round(time.Minute); after != 7*time.Hour+13*time.Minute {
			t.Errorf("handled after %v, want 7h13m", after)
		}
	})
}
