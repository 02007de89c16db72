// Command standby stores the deliveries of a webhook in a file, for example while the
// database of the receiver is down for maintenance. Afterwards, -replay posts them to
// the receiver:
//
//	WEBHOOK_SECRETS=secret go run ./examples/standby -store deliveries.jsonl
//	go run ./examples/standby -replay deliveries.jsonl -to http://127.0.0.1:8080/hook
//
// Without flags, the command stores and replays deliveries of the mock server. To
// verify other deliveries, set WEBHOOK_SECRETS to the comma-separated secrets of all
// active webhooks with the URL of this command. During a rotation, these are the old
// and the new secret. After Ctrl-C or SIGTERM, the command ends when it has handled the
// requests in progress.
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
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on, for -store")
	storeIn := flag.String("store", "", "append deliveries to this `file`")
	replayFrom := flag.String("replay", "", "post the deliveries of this `file` to a receiver, and exit")
	to := flag.String("to", "http://127.0.0.1:8080/hook", "`URL` of the receiver, for -replay")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "standby: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	switch {
	case *replayFrom != "":
		err = replayFile(ctx, *replayFrom, *to)
	case *storeIn != "":
		err = listenAndServe(ctx, *addr, strings.Split(os.Getenv("WEBHOOK_SECRETS"), ","), *storeIn)
	default:
		err = demonstrate(ctx)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "standby:", err)
		os.Exit(1)
	}
}

func listenAndServe(ctx context.Context, addr string, secrets []string, storeIn string) error {
	verifier, err := verifierOf(secrets)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(storeIn, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // each delivery was synced
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return serve(ctx, listener, store(verifier, file))
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

// demonstrate stores an event of the mock server, and replays it to a receiver.
func demonstrate(ctx context.Context) error {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()})
	if err != nil {
		return err
	}
	hook, err := c.Webhooks.Create(ctx, client.WebhookCreate{
		URL: "http://shop.test/hook", Events: []events.Name{events.NameSuppressedEmailAdded},
	})
	if err != nil {
		return err
	}
	verifier, err := verifierOf([]string{hook.Secret.Reveal()})
	if err != nil {
		return err
	}
	file, err := os.CreateTemp("", "deliveries-*.jsonl")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // a temporary file
	platform.SetTarget("shop.test", store(verifier, file))
	_, err = c.SuppressedEmails.Add(ctx, "bob@example.org")
	if err := errors.Join(err, platform.Wait(ctx), file.Close()); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- serve(ctx, listener, webhook.NewHandler(verifier, handle, webhook.Options{})) }()
	err = replayFile(ctx, file.Name(), "http://"+listener.Addr().String()+"/hook")
	stop()
	return errors.Join(err, <-served)
}

// handle is the function of the receiver that gets the stored deliveries.
func handle(_ context.Context, ev *events.Event) error {
	slog.Info("received", "event", ev.Name, "address", ev.Recipient())
	return nil
}
