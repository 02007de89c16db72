// Command jetstream receives webhooks into a NATS JetStream stream, and
// processes them in workers that write to PostgreSQL.
//
//	NATS_URL=nats://… WEBHOOK_SECRET=… go run -C examples/integrations/jetstream . -addr 127.0.0.1:8080 receive
//	NATS_URL=nats://… POSTGRES_URL=postgres://… go run -C examples/integrations/jetstream . work   # any number of workers
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go/jetstream"

	"example.com/emailplatform/contrib/pgstore"
	"example.com/emailplatform/events"
	"example.com/emailplatform/examples/integrations/jetstream/inbox"
	"example.com/emailplatform/webhook"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` that receive listens on")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "Usage: jetstream [-addr address] receive|work")
		flag.PrintDefaults()
	}
	flag.Parse()
	mode := strings.Join(flag.Args(), " ")
	if modes()[mode] == nil {
		fmt.Fprintf(os.Stderr, "jetstream: the mode must be receive or work, got %q\n", mode)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, mode, *addr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "jetstream:", err)
		os.Exit(1)
	}
}

// modes returns the functions of the program.
func modes() map[string]func(ctx context.Context, js jetstream.JetStream, addr string) error {
	return map[string]func(context.Context, jetstream.JetStream, string) error{"receive": receive, "work": work}
}

func run(ctx context.Context, mode, addr string) error {
	url := os.Getenv("NATS_URL")
	if url == "" {
		return errors.New("NATS_URL is not set")
	}
	js, err := inbox.Open(ctx, url)
	if err != nil {
		return fmt.Errorf("NATS_URL: %w", err)
	}
	defer js.Conn().Close()
	return modes()[mode](ctx, js, addr)
}

// receive serves the webhook until the context ends.
func receive(ctx context.Context, js jetstream.JetStream, addr string) error {
	secret, err := webhook.ParseSecret(os.Getenv("WEBHOOK_SECRET"), "")
	if err != nil {
		return fmt.Errorf("WEBHOOK_SECRET: %w", err)
	}
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return serve(ctx, l, inbox.NewReceiver(js, verifier, webhook.Options{}))
}

// serve completes the requests in progress before it returns.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return srv.Shutdown(last)
}

// schema contains a lock, because PostgreSQL rejects concurrent creation of a table.
const schema = "SELECT pg_advisory_xact_lock(7426952); CREATE TABLE IF NOT EXISTS received (id text, name text);" + pgstore.Schema

func work(ctx context.Context, js jetstream.JetStream, _ string) error {
	url := os.Getenv("POSTGRES_URL")
	if url == "" {
		return errors.New("POSTGRES_URL is not set")
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, schema); err != nil {
		return err
	}
	return inbox.Worker{Once: pgstore.NewOnce(pool, pgstore.OnceOptions{}), Handle: record}.Run(ctx, js)
}

// record writes the event in the transaction that stores the event's key.
func record(ctx context.Context, e *events.Event) error {
	tx, err := pgstore.Tx(ctx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO received (id, name) VALUES ($1, $2)", e.ID, e.Name)
	return err
}
