// Command durable receives webhooks and handles them later, using only
// PostgreSQL. It acknowledges a delivery within milliseconds, when it is
// committed as a job of River. Workers in this or other processes run the jobs,
// retry failed jobs, and keep jobs that failed permanently.
//
//	POSTGRES_URL=postgres://… go run -C examples/integrations/durable .          # a demonstration that ends
//	POSTGRES_URL=… WEBHOOK_SECRET=… go run -C examples/integrations/durable . receive -addr 127.0.0.1:8080
//	POSTGRES_URL=… go run -C examples/integrations/durable . work                # any number of workers
//	POSTGRES_URL=… EMAILPLATFORM_BASE_URL=… EMAILPLATFORM_TOKEN=… go run -C examples/integrations/durable . shop   # workers that send, too
//
// The shop sends emails as jobs: see shop.go.
//
// Its tables are created in the first schema of the search path. To run the
// demonstration with a temporary PostgreSQL:
//
//	go run -C internal/tests/chaos ./cmd/withservers go run -C ../../../examples/integrations/durable .
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
)

func main() {
	mode, addr := arguments(os.Args[1:])
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, mode, addr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "durable:", err)
		os.Exit(1)
	}
}

// arguments returns the mode, and the address of the mode receive.
func arguments(args []string) (mode, addr string) {
	mode = "demo"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		mode, args = args[0], args[1:]
	}
	f := flag.NewFlagSet("durable [demo|receive|work|shop]", flag.ExitOnError)
	f.StringVar(&addr, "addr", "127.0.0.1:8080", "`address` that receive listens on")
	_ = f.Parse(args)
	if f.NArg() > 0 || !slices.Contains([]string{"demo", "receive", "work", "shop"}, mode) {
		fmt.Fprintf(os.Stderr, "durable: unexpected argument %q; see -h\n", cmp.Or(f.Arg(0), mode))
		os.Exit(2)
	}
	return mode, addr
}

func run(ctx context.Context, mode, addr string) error {
	url := os.Getenv("POSTGRES_URL")
	if url == "" {
		return errors.New("POSTGRES_URL is not set")
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := migrate(ctx, pool); err != nil {
		return err
	}
	switch mode {
	case "receive":
		return receive(ctx, pool, addr)
	case "work":
		return work(ctx, pool, noteEvent)
	case "shop":
		return runShop(ctx, pool)
	}
	if err := demonstrate(ctx, pool); err != nil {
		return err
	}
	return demonstrateShop(ctx, pool)
}

// runShop sends emails and works on their events until the context ends.
func runShop(ctx context.Context, pool *pgxpool.Pool) error {
	c, err := client.New(client.Config{BaseURL: os.Getenv("EMAILPLATFORM_BASE_URL"), Token: os.Getenv("EMAILPLATFORM_TOKEN")})
	if err != nil {
		return err
	}
	s, err := newShop(pool, c, riverjobs.Options{})
	if err != nil {
		return err
	}
	return s.run(ctx)
}

// receive serves the webhook until the context ends.
func receive(ctx context.Context, pool *pgxpool.Pool, addr string) error {
	h, err := newReceiver(pool, os.Getenv("WEBHOOK_SECRET"), 0)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return serve(ctx, l, h)
}

// serve completes the requests in progress before it returns.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute}
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		ended <- srv.Shutdown(last)
	})
	err := srv.Serve(l)
	if !stop() {
		return <-ended
	}
	return err
}
