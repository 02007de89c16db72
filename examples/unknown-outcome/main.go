// Command unknown-outcome sends emails to a platform that loses responses, and
// finds out afterwards which emails were sent. It runs with the mock server.
//
// The file docs/errors.md explains unknown outcomes; outbox.go implements the
// pattern.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

func main() {
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "unknown-outcome: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// shop is an outbox and the platform that it uses.
type shop struct {
	*outbox
	platform *mockserver.Server
}

func open(ctx context.Context, platform *mockserver.Server) (*shop, error) {
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()})
	if err != nil {
		return nil, err
	}
	hook, err := c.Webhooks.Ensure(ctx, client.WebhookCreate{
		URL: "http://shop.test/hook",
		Events: []events.Name{
			events.NameEmailOpened, events.NameEmailClicked, events.NameEmailBounced,
			events.NameEmailRejected, events.NameEmailError,
		},
		RateLimit: 1, RateLimitPeriod: client.RateLimitPeriodSecond, // as many as may be looked up
	})
	if err != nil {
		return nil, err
	}
	secret, err := webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction)
	if err != nil {
		return nil, err
	}
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		return nil, err
	}
	o := newOutbox(c)
	platform.SetTarget("shop.test", webhook.NewHandler(verifier, func(ctx context.Context, ev *events.Event) error {
		return o.handle(ctx, ev)
	}, webhook.Options{}))
	return &shop{o, platform}, nil
}

// loseResponse makes the mock server process the next email and lose the
// response.
func (s *shop) loseResponse() error {
	_, err := s.platform.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultReset, AfterProcessing: true, Times: 1})
	return err
}

func run(ctx context.Context) error {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	s, err := open(ctx, platform)
	if err != nil {
		return err
	}
	if err := s.loseResponse(); err != nil {
		return err
	}
	err = s.confirm(ctx, "A-17", "ada@example.org")
	fmt.Println("unknown:", errors.Is(err, client.ErrOutcomeUnknown))
	fmt.Println("again:", s.confirm(ctx, "A-17", "ada@example.org"), "emails:", len(s.platform.Outbox()))
	fmt.Println("unknown outcomes:", s.unconfirmed(0))

	if err := s.platform.Open(s.platform.Outbox()[0].ID); err != nil { // as the recipient does
		return err
	}
	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := s.platform.Wait(wait); err != nil {
		return err
	}
	fmt.Println("unknown outcomes after the recipient opened the email:", s.unconfirmed(0))
	return nil
}
