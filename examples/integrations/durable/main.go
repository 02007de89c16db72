// Command durable receives webhooks and handles them later. It stores each delivery as a job of River, a job
// queue that needs only PostgreSQL. It acknowledges the delivery when the job is committed, which takes
// milliseconds. Workers in this or other processes run the jobs, retry failed jobs, and keep jobs that failed
// permanently.
//
//	POSTGRES_URL=postgres://… WEBHOOK_SECRET=… go run -C examples/integrations/durable . -addr 127.0.0.1:8080
//
// You can start it in any number of processes. It creates its tables in the first schema of the search
// path.
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
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "durable: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *addr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "durable:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr string) error {
	url, secret := os.Getenv("POSTGRES_URL"), os.Getenv("WEBHOOK_SECRET")
	if url == "" || secret == "" {
		return errors.New("POSTGRES_URL and WEBHOOK_SECRET must be set")
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := migrate(ctx, pool); err != nil {
		return err
	}
	h, err := newReceiver(pool, secret, 0)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error)
	go func() { ended <- serve(ctx, l, h) }()
	go func() { ended <- work(ctx, pool, noteEvent) }()
	err = <-ended
	stop() // if one part ends, both end
	return errors.Join(err, <-ended)
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
