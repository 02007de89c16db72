// Command webhook-receiver is an HTTP server that receives the platform's
// events.
//
//	WEBHOOK_SECRETS=secret go run ./examples/webhook-receiver -addr 127.0.0.1:8080
//
// WEBHOOK_SECRETS contains one or more secrets, separated by commas: the old
// and the new secret during a rotation, or the secrets of all webhooks that
// deliver to this address. Without it a demonstration runs: the mock server
// delivers three events, and the server shuts down.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "the `address` to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	secrets := os.Getenv("WEBHOOK_SECRETS")
	var err error
	if secrets == "" {
		err = demonstrate(ctx)
	} else {
		err = listenAndServe(ctx, *addr, strings.Split(secrets, ","))
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "webhook-receiver:", err)
		os.Exit(1)
	}
}

func listenAndServe(ctx context.Context, addr string, secrets []string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return serve(ctx, listener, secrets)
}

// serve takes events until ctx ends. Events that are being handled then are
// finished first: the platform would deliver them again, but why make it.
func serve(ctx context.Context, listener net.Listener, secrets []string) error {
	var keys []webhook.Secret
	for _, s := range secrets {
		key, err := webhook.ParseSecret(strings.TrimSpace(s), "")
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	verifier, err := webhook.NewVerifier(keys...)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/hook", webhook.NewHandler(verifier, handle, webhook.Options{}))
	server := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second}

	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		slog.Info("shutting down")
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
		defer cancel()
		stopped <- server.Shutdown(grace)
	}()
	slog.Info("listening", "address", "http://"+listener.Addr().String()+"/hook")
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// handle is called once for every event. When it returns an error the platform
// delivers the event again later.
func handle(_ context.Context, ev *events.Event) error {
	log := slog.With("event", ev.Name, "id", ev.ID)
	switch data := ev.Data.(type) {
	case *events.CampaignBounce:
		log.Info("bounced", "address", data.Contact.Email, "hard", data.Bounce.Category.Hard(), "campaign", data.Campaign.Name)
	case *events.WorkflowBounce:
		log.Info("bounced", "address", data.Contact.Email, "hard", data.Bounce.Category.Hard())
	case *events.TransactionalBounce:
		log.Info("bounced", "address", data.Contact.Email, "hard", data.Bounce.Category.Hard())
	case *events.EmailAPIBounce:
		log.Info("bounced; look the email up to learn why", "email", data.Email.ID)
	case *events.SuppressedEmailAdded:
		log.Info("never write again to", "address", data.SuppressedEmail.Email)
	case *events.Unknown:
		log.Warn("this version does not know the event", "data", string(data.Raw))
	default:
		log.Info("received", "address", ev.Recipient())
	}
	return nil
}
