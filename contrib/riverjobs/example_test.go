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

// A program that commits an order together with the job of its email. The tables of River, of
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
	jobs, err := riverjobs.New(pool, c, riverjobs.Options{})
	if err != nil {
		log.Fatal(err)
	}
	workers := river.NewWorkers()
	jobs.Register(workers)
	queue, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Workers: workers,
		Queues: map[string]river.QueueConfig{
			riverjobs.SendQueue:   {MaxWorkers: 8},
			riverjobs.LookupQueue: {MaxWorkers: 1},
		},
		RescueStuckJobsAfter: 2 * time.Minute, // when the jobs of a crashed process are released
	})
	if err != nil {
		log.Fatal(err)
	}
	// Until it ends, the program works on jobs between queue.Start(ctx) and queue.Stop(ctx).
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO orders (id) VALUES ('17')"); err != nil {
			return err
		}
		_, err := queue.InsertTx(ctx, tx, riverjobs.SendArgs{Key: "order-17", Submission: client.EmailSubmission{
			To:      "ada@example.org",
			Sender:  client.Sender{Name: "Shop", Email: "orders@shop.example"},
			Content: client.EmailContent{Type: client.EmailTypeTransactional, Subject: "Your order 17", Text: "Thank you."},
		}}, nil)
		return err
	})
	if err != nil {
		slog.Error(err.Error()) // a program would end here
	}
	fmt.Println("stopped")
	// Output: stopped
}
