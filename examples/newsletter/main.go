// Command newsletter is a newsletter service with double opt-in, imports, an
// export, campaigns and their results, order confirmations with package mailroom,
// and metrics.
//
//	EMAILPLATFORM_BASE_URL=… EMAILPLATFORM_TOKEN=… HOOK_URL=https://…/hook go run ./examples/newsletter
//
// Ctrl-C or SIGTERM ends the service after the requests in progress. Its outbox and its suppression
// list are in memory; to keep them in a database, use module contrib/sqlstore. Without the
// environment variables, it sends one issue with the mock server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mockserver"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on for subscribers and the platform")
	internal := flag.String("internal", "127.0.0.1:8081", "`address` to listen on for operators")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "newsletter: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *addr, *internal)
	stop()
	if err != nil {
		log.Fatal("newsletter: ", err)
	}
}

func run(ctx context.Context, addr, internal string) error {
	cfg := client.Config{BaseURL: os.Getenv("EMAILPLATFORM_BASE_URL"), Token: os.Getenv("EMAILPLATFORM_TOKEN")}
	if cfg.BaseURL == "" {
		return demonstrate(ctx)
	}
	s, err := open(ctx, cfg, os.Getenv("HOOK_URL"), mailroom.NewMemoryStore())
	if err != nil {
		return err
	}
	public, err := net.Listen("tcp", addr)
	private, internalErr := net.Listen("tcp", internal)
	if err := errors.Join(err, internalErr); err != nil {
		return err
	}
	return s.run(ctx, public, private)
}

// demonstrate confirms an order and sends one issue to one subscriber, who opens every email.
func demonstrate(ctx context.Context) error {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	cfg := client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()}
	s, err := open(ctx, cfg, "http://shop.test/hook", mailroom.NewMemoryStore())
	if err != nil {
		return err
	}
	defer s.room.Close() //nolint:errcheck // always nil
	platform.SetTarget("shop.test", s.public())
	contact := client.ContactCreate{Email: "open@" + mockserver.TestDomain}
	if err := s.confirm(ctx, "A-1", contact.Email); err != nil {
		return err
	}
	if err := platform.WaitFor(ctx, func() bool { return len(platform.Outbox()) > 0 }); err != nil { // the Room has connected
		return err
	}
	if _, err := s.platform.Contacts.Create(ctx, s.listID, contact); err != nil {
		return err
	}
	content := client.MessageContent{Subject: "News", HTML: "<p>New in May</p>"}
	issue, err := s.publish(ctx, client.CampaignCreate{Name: "May", Content: content})
	if err != nil {
		return err
	}
	if err := platform.Wait(ctx); err != nil {
		return err
	}
	result, err := s.result(ctx, issue.ID)
	fmt.Printf("Campaign %q\n", issue.Name)
	for _, event := range slices.Sorted(maps.Keys(result)) {
		fmt.Printf("  %s: %s\n", event, result[event])
	}
	return err
}
