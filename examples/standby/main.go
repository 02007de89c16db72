// Command webhook-receiver is an HTTP server that receives the platform's
// events.
//
//	WEBHOOK_SECRETS=secret go run ./examples/webhook-receiver -addr 127.0.0.1:8080
//
// WEBHOOK_SECRETS contains one or more secrets, separated by commas: the old
// and the new secret during a rotation, or the secrets of all webhooks that
// deliver to this address. Without it a demonstration runs: the mock server
// delivers three events, and the server shuts down.
//
// With -store the server only appends deliveries to a file, for example while the
// database is down for maintenance. -replay posts them to the receiver afterwards:
//
//	WEBHOOK_SECRETS=secret go run ./examples/webhook-receiver -store deliveries.jsonl
//	go run ./examples/webhook-receiver -replay deliveries.jsonl -to http://127.0.0.1:8080/hook
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

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on")
	storeIn := flag.String("store", "", "append deliveries to this `file` instead of handling them")
	replayFrom := flag.String("replay", "", "post the deliveries of this `file` to a receiver, and exit")
	to := flag.String("to", "http://127.0.0.1:8080/hook", "`URL` of the receiver, for -replay")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "webhook-receiver: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	secrets := os.Getenv("WEBHOOK_SECRETS")
	var err error
	switch {
	case *replayFrom != "":
		err = replayFile(ctx, *replayFrom, *to)
	case secrets == "":
		err = demonstrate(ctx)
	default:
		err = listenAndServe(ctx, *addr, strings.Split(secrets, ","), *storeIn)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "webhook-receiver:", err)
		os.Exit(1)
	}
}

func listenAndServe(ctx context.Context, addr string, secrets []string, storeIn string) error {
	verifier, err := verifierOf(secrets)
	if err != nil {
		return err
	}
	hook := webhook.NewHandler(verifier, handle, webhook.Options{})
	if storeIn != "" {
		file, err := os.OpenFile(storeIn, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer file.Close() //nolint:errcheck // each delivery was synced
		hook = store(verifier, file)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return serve(ctx, listener, hook)
}

func replayFile(ctx context.Context, name, to string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	n, err := replay(ctx, receiver(), file, to)
	if err == nil {
		slog.Info("replayed", "deliveries", n)
	}
	return err
}

// receiver returns a client for a receiver. It follows no redirect, because a
// redirected POST can become a GET, whose success does not mean that the event was
// handled.
func receiver() *http.Client {
	return &http.Client{
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func verifierOf(secrets []string) (*webhook.Verifier, error) {
	var keys []webhook.Secret
	for _, s := range secrets {
		key, err := webhook.ParseSecret(strings.TrimSpace(s), "")
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return webhook.NewVerifier(keys...)
}

// serve receives events until ctx ends, and completes the requests in progress.
func serve(ctx context.Context, listener net.Listener, hook http.Handler) error {
	mux := http.NewServeMux()
	mux.Handle("/hook", hook)
	server := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}

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
	log := slog.With("event", ev.Name, "id", ev.ID, "address", ev.Recipient())
	unknown, isUnknown := ev.Data.(*events.Unknown)
	bounce, hasReason := ev.Bounce()
	switch {
	case isUnknown:
		log.Warn("unknown event", "data", string(unknown.Raw))
		return unknown.Err // nil if only the name is unknown; otherwise the platform retries, so an update can read the event
	case hasReason:
		log.Info("bounced", "hard", bounce.Category.Hard())
	case ev.Name == events.NameEmailBounced:
		log.Info("email bounced; a lookup returns the reason", "email", ev.EmailID())
	case ev.Name == events.NameSuppressedEmailAdded:
		log.Info("address suppressed; send no more email")
	default:
		log.Info("received")
	}
	return nil
}

// demonstrate runs the server with the mock server until three events were
// delivered.
func demonstrate(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	platform := mockserver.Start(mockserver.Config{})
	defer platform.Close()
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token()})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	hook, err := c.Webhooks.Create(ctx, client.WebhookCreate{
		URL:    "http://" + listener.Addr().String() + "/hook",
		Events: []events.Name{events.NameEmailBounced, events.NameSuppressedEmailAdded, events.NameEmailOpened},
	})
	if err != nil {
		return err
	}
	verifier, err := verifierOf([]string{hook.Secret.Reveal()})
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- serve(ctx, listener, webhook.NewHandler(verifier, handle, webhook.Options{})) }()
	err = makeEvents(ctx, c, platform)
	stop()
	return errors.Join(err, <-served)
}

// makeEvents sends an email that is opened and an email that bounces, and suppresses an address.
func makeEvents(ctx context.Context, c *client.Client, platform *mockserver.Server) error {
	for _, address := range []string{"open@mock.test", "bounce+hb@mock.test"} {
		if _, err := c.Emails.Send(ctx, client.EmailSubmission{
			To:      address,
			Sender:  client.Sender{Email: "hello@shop.example"},
			Content: client.EmailContent{Subject: "Hello", Text: "Hello!"},
		}); err != nil {
			return err
		}
	}
	if _, err := c.SuppressedEmails.Add(ctx, "bob@example.org"); err != nil {
		return err
	}
	return platform.Wait(ctx)
}
