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
	"example.com/emailplatform/mailroom"
)

// A program that commits an order together with its email. It assumes that the tables of River, of Store.Create and of
// the shop exist.
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
	store, err := riverjobs.NewStore(pool, "")
	if err != nil {
		log.Fatal(err)
	}
	room, err := mailroom.New(c, store, mailroom.Options{
		URL:      "https://shop.example.com/hook",
		External: true,
		OnNotice: func(ctx context.Context, n mailroom.Notice) error {
			_, err := store.Tx(ctx).Exec(ctx, "UPDATE orders SET email = $2 WHERE id = $1", n.Key, n.Reason)
			return err
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	workers := river.NewWorkers()
	riverjobs.Register(workers, room)
	queue, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Workers: workers,
		Queues: map[string]river.QueueConfig{
			riverjobs.SendQueue:   {MaxWorkers: 8},
			riverjobs.LookupQueue: {MaxWorkers: 1},
			riverjobs.NoticeQueue: {MaxWorkers: 4},
		},
		RescueStuckJobsAfter: 5 * time.Minute, // when other processes get the jobs of a crashed process
	})
	if err != nil {
		log.Fatal(err)
	}
	// The program uses room as the handler of the webhook. To start, it calls room.Start() and queue.Start(ctx); to
	// stop, it calls queue.Stop(ctx) and room.Close().
	_ = queue
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO orders (id) VALUES ('17')"); err != nil {
			return err
		}
		return room.Enqueue(store.With(ctx, tx), "17", client.EmailSubmission{
			To:      "ada@example.org",
			Sender:  client.Sender{Name: "Shop", Email: "orders@shop.example"},
			Content: client.EmailContent{Type: client.EmailTypeTransactional, Subject: "Your order 17", Text: "Thank you."},
		})
	})
	if err != nil {
		slog.Error(err.Error()) // a program would end here
	}
	fmt.Println("stopped")
	// Output: stopped
}
