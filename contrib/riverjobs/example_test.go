package riverjobs_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
)

// A shop that confirms each order with one email. The tables of River, of
// riverjobs.Schema and of the shop exist.
func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("POSTGRES_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	c, err := client.New(client.Config{BaseURL: "https://api.example.com", Token: "token"})
	if err != nil {
		log.Fatal(err)
	}
	queue, err := newQueue(pool, c)
	if err != nil {
		log.Fatal(err)
	}
	if err := run(ctx, pool, queue); err != nil {
		slog.Error(err.Error()) // a program would end here
	}
	fmt.Println("stopped")
	// Output: stopped
}

// newQueue returns the client of River, which inserts and works.
func newQueue(pool *pgxpool.Pool, c *client.Client) (*river.Client[pgx.Tx], error) {
	jobs, err := riverjobs.New(pool, c, riverjobs.Options{})
	if err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	jobs.Register(workers)
	return river.NewClient(riverpgxv5.New(pool), &river.Config{
		Workers: workers,
		Queues: map[string]river.QueueConfig{
			riverjobs.SendQueue:   {MaxWorkers: 8},
			riverjobs.LookupQueue: {MaxWorkers: 1},
		},
		RescueStuckJobsAfter: 2 * time.Minute, // when the jobs of a crashed process are released
		Logger:               slog.Default(),
	})
}

// run places one order, and stops after the emails in progress are completed.
func run(ctx context.Context, pool *pgxpool.Pool, queue *river.Client[pgx.Tx]) error {
	if err := queue.Start(ctx); err != nil {
		return err
	}
	err := placeOrder(ctx, pool, queue, "17", "ada@example.org")
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second) // more than SendTimeout
	defer cancel()
	if err := queue.Stop(stop); err != nil {
		return err
	}
	return err
}

// placeOrder commits an order together with the job of its email.
func placeOrder(ctx context.Context, pool *pgxpool.Pool, queue *river.Client[pgx.Tx], order, address string) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO orders (id) VALUES ($1)", order); err != nil {
			return err
		}
		_, err := queue.InsertTx(ctx, tx, riverjobs.SendArgs{
			Key: "order-" + order,
			Submission: client.EmailSubmission{
				To:     address,
				Sender: client.Sender{Name: "Shop", Email: "orders@shop.example"},
				Content: client.EmailContent{
					Type: client.EmailTypeTransactional, Subject: "Your order " + order, Text: "Thank you.",
				},
			},
		}, nil)
		return err
	})
}
