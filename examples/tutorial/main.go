// Command tutorial is the finished program of docs/tutorial.md: a shop that
// confirms orders by email.
//
//	EMAILPLATFORM_BASE_URL=… EMAILPLATFORM_TOKEN=… HOOK_URL=https://…/hook go run ./examples/tutorial
//	curl -d order=A-17 -d email=ada@example.org http://127.0.0.1:8080/orders
//
// Ctrl-C ends it after the requests in progress. Without the variables it
// confirms an order with the mock server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "tutorial: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *addr)
	stop()
	if err != nil {
		log.Fatal("tutorial: ", err)
	}
}

func run(ctx context.Context, addr string) error {
	cfg := client.Config{BaseURL: os.Getenv("EMAILPLATFORM_BASE_URL"), Token: os.Getenv("EMAILPLATFORM_TOKEN")}
	if cfg.BaseURL == "" {
		return demonstrate(ctx)
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	s := &shop{platform: c}
	hook, err := s.subscribe(ctx, os.Getenv("HOOK_URL"))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/hook", hook)
	mux.HandleFunc("POST /orders", s.order)
	return serve(ctx, &http.Server{Addr: addr, Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute})
}

// order confirms the order in a form. Even if the customer closes the connection, the email is sent.
func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 20*time.Second)
	defer cancel()
	switch err := s.confirm(ctx, r.FormValue("order"), r.FormValue("email")); {
	case errors.Is(err, errUndeliverable):
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	case err != nil:
		log.Print(err)
		http.Error(w, "the order was not confirmed", http.StatusBadGateway)
	}
}

// serve runs until ctx ends, and then completes the requests in progress.
func serve(ctx context.Context, server *http.Server) error {
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 25*time.Second)
		defer cancel()
		stopped <- server.Shutdown(grace)
	})
	if err := server.ListenAndServe(); stop() {
		return err
	}
	return <-stopped
}

// demonstrate confirms an order with the mock server.
func demonstrate(ctx context.Context) error {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()})
	if err != nil {
		return err
	}
	s := &shop{platform: c}
	if err := s.confirm(ctx, "A-17", "ada@example.org"); err != nil {
		return err
	}
	fmt.Println(platform.Outbox()[0].Subject)
	return nil
}
