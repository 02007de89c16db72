package mockserver_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// An application imports contacts, sends an email and receives its bounce. The receiver
// fails twice, so the platform delivers the event again.
func Example_bounce() {
	ctx := context.Background()
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token(), HTTPClient: srv.HTTPClient(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	hook, err := c.Webhooks.Ensure(ctx, client.WebhookCreate{URL: "https://shop.test/hook", Events: []events.Name{events.NameEmailBounced}})
	if err != nil {
		log.Fatal(err)
	}
	secret, err := webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction)
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		log.Fatal(err)
	}
	attempts := 0
	srv.SetTarget("shop.test", webhook.NewHandler(verifier, func(_ context.Context, ev *events.Event) error {
		if attempts++; attempts <= 2 {
			return errors.New("the database is down")
		}
		fmt.Println(ev.Name, ev.Recipient(), ev.ListID())
		return nil
	}, webhook.Options{Logger: slog.New(slog.DiscardHandler)}))

	list, _ := c.Lists.Create(ctx, client.ListCreate{Name: "News"})
	file := strings.NewReader("email,city\nada@example.org,Bern\nbob,Bonn\n")
	report, err := c.Contacts.Import(ctx, list.ID, client.ContactsFromCSV(file, client.CSVOptions{}), client.ImportOptions{})
	fmt.Println(report.Imported, "imported,", report.Rejected, "rejected", err)
	email, err := c.Emails.Send(ctx, client.EmailSubmission{
		To: "ada@example.org", Sender: client.Sender{Email: "shop@example.com"},
		Content: client.EmailContent{Subject: "Hello", Text: "Hello!"},
	})
	if err := errors.Join(err, srv.Bounce(email.ID, mockserver.HardBounce), srv.Advance(ctx, time.Hour)); err != nil {
		log.Fatal(err)
	}
	seen, err := c.Emails.Wait(ctx, email.ID, client.Email.Settled)
	fmt.Println(seen.Status, seen.Bounce.Hard(), err)
	for contact, err := range c.Contacts.All(ctx, list.ID, client.ListContactsParams{Filter: "status:bounced"}) {
		fmt.Println(contact.Email, contact.CustomAttributes.Get("city"), err)
	}
	// Output:
	// 1 imported, 1 rejected <nil>
	// Email.Bounced ada@example.org 2
	// bounced true <nil>
	// ada@example.org Bern <nil>
}

// Inject returns the ids of its rules.
func ExampleServer_RemoveFault() {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	rules, err := srv.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultReset, AfterProcessing: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(srv.RemoveFault(rules[0].ID), len(srv.Faults()))
	_, err = srv.Inject(mockserver.Fault{Operation: "submitMail", Action: mockserver.FaultReset})
	fmt.Println(err != nil, srv.Bounce("unknown", mockserver.HardBounce))
	// Output:
	// <nil> 0
	// true mockserver: no email "unknown"
}
