package pgstore_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/emailplatform/contrib/pgstore"
	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// countBounce inserts the row if the event arrives before the program has stored the
// id of the email.
const countBounce = `INSERT INTO recipients (email_id, bounces) VALUES ($1, 1)
		ON CONFLICT (email_id) DO UPDATE SET bounces = recipients.bounces + 1`

// A receiver that counts each bounce once, even if it crashes.
func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("POSTGRES_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, pgstore.Schema); err != nil {
		fmt.Fprintln(os.Stderr, err) // a program would end here
	}
	secret, err := webhook.ParseSecret("whsec_example", "sha256")
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /hook", webhook.NewHandler(verifier, func(ctx context.Context, e *events.Event) error {
		tx, err := pgstore.Tx(ctx)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, countBounce, e.EmailID())
		return err
	}, webhook.Options{Once: pgstore.NewOnce(pool, pgstore.OnceOptions{})}))
	fmt.Println("ready")
	// Output: ready
}
