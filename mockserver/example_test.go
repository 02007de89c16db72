package mockserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// A test bounces an email, and the receiver of the application gets the event.
func Example() {
	ctx := context.Background()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if ev, err := events.Parse(body); err == nil {
			fmt.Println("received:", ev.Name, ev.Recipient())
		}
	}))
	defer receiver.Close()

	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token()})
	if err != nil {
		fmt.Println(err)
		return
	}
	list, _ := c.Lists.Create(ctx, client.ListCreate{Name: "Customers"})
	_, _ = c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: "ada@example.org"})
	_, _ = c.Webhooks.Create(ctx,
		client.WebhookCreate{URL: receiver.URL, Events: []events.Name{events.NameEmailBounced}})
	email, err := c.Emails.Send(ctx, client.EmailSubmission{
		To:      "ada@example.org",
		Sender:  client.Sender{Email: "shop@example.com"},
		Content: client.EmailContent{Subject: "Hello", Text: "Hello, Ada."},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("sent:", srv.Outbox()[0].Subject)

	if err := srv.Bounce(email.ID, mockserver.HardBounce); err != nil {
		fmt.Println(err)
	}
	if err := srv.Wait(ctx); err != nil { // for the response of the receiver
		fmt.Println(err)
	}
	fmt.Println(srv.Deliveries()[0].State)
	// Output:
	// sent: Hello
	// received: Email.Bounced ada@example.org
	// delivered
}

// In a bubble of testing/synctest, hours of retries take no time if no socket is open:
// use New, Transport and SetTarget.
func ExampleServer_Transport() {
	srv := mockserver.New(mockserver.Config{
		Targets: map[string]http.Handler{"app.test": http.NotFoundHandler()},
	})
	defer srv.Close()
	c, err := client.New(client.Config{
		BaseURL:    srv.URL(),
		Token:      srv.Token(),
		HTTPClient: &http.Client{Transport: srv.Transport()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := c.Lists.Create(context.Background(), client.ListCreate{Name: "Customers"})
	fmt.Println(list.Name, err)
	// Output: Customers <nil>
}

// A fault rule loses the response of a submission. The outcome is unknown to the client,
// and the email is in the outbox.
func ExampleServer_Inject() {
	ctx := context.Background()
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	c, err := client.New(client.Config{
		BaseURL:    srv.URL(),
		Token:      srv.Token(),
		HTTPClient: &http.Client{Transport: srv.Transport()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = srv.Inject(mockserver.Fault{
		Operation:       "submitEmail",
		Nth:             1,
		Action:          mockserver.FaultReset,
		AfterProcessing: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Emails.Send(ctx, client.EmailSubmission{
		To:      "ada@example.org",
		Sender:  client.Sender{Email: "shop@example.com"},
		Content: client.EmailContent{Subject: "Hello", Text: "Hello, Ada."},
	})
	fmt.Println("unknown:", errors.Is(err, client.ErrOutcomeUnknown))
	fmt.Println("sent:", len(srv.Outbox()))
	// Output:
	// unknown: true
	// sent: 1
}

// Restore returns to the state of a snapshot.
func ExampleServer_Snapshot() {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	if err := srv.Seed(
		strings.NewReader(`{"lists":[{"name":"News","contacts":[{"email":"ada@example.org"}]}]}`)); err != nil {
		fmt.Println(err)
	}
	var state bytes.Buffer
	if err := srv.Snapshot(&state); err != nil {
		fmt.Println(err)
	}
	srv.Reset()
	if err := srv.Restore(&state); err != nil {
		fmt.Println(err)
	}
	c, err := client.New(client.Config{
		BaseURL:    srv.URL(),
		Token:      srv.Token(),
		HTTPClient: &http.Client{Transport: srv.Transport()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	lists, err := c.Lists.List(context.Background(), client.ListListsParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lists.Data[0].Name)
	// Output: News
}

// WaitFor waits for work of the application in the background, without polling.
func ExampleServer_WaitFor() {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	go func() { // the application's worker
		c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token(), HTTPClient: srv.HTTPClient()})
		if err == nil {
			_, err = c.Emails.Send(context.Background(), client.EmailSubmission{
				To:      "ada@example.org",
				Sender:  client.Sender{Email: "shop@example.com"},
				Content: client.EmailContent{Subject: "Your order", Text: "It is on its way."},
			})
		}
		if err != nil {
			fmt.Println(err)
		}
	}()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var mails []mockserver.Message
	err := srv.WaitFor(ctx, func() bool {
		mails = srv.OutboxTo("ada@example.org")
		return len(mails) > 0
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mails[0].Subject)
	// Output: Your order
}

// OutboxTo returns the messages to one address in any letter case.
func ExampleServer_OutboxTo() {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token(), HTTPClient: srv.HTTPClient()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, to := range []string{"ada@example.org", "bob@example.org", "ada@example.org"} {
		if _, err := c.Emails.Send(context.Background(), client.EmailSubmission{
			To:      to,
			Sender:  client.Sender{Email: "shop@example.com"},
			Content: client.EmailContent{Subject: "Hello", Text: "Hello."},
		}); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(len(srv.OutboxTo("Ada@example.org")), "of", len(srv.Outbox()))
	// Output: 2 of 3
}

// Deliveries to the host of a target are passed to its handler without a socket.
func ExampleServer_SetTarget() {
	ctx := context.Background()
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	srv.SetTarget("app.test", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if ev, err := events.Parse(body); err == nil {
			fmt.Println("received at", r.URL.Path+":", ev.Name)
		}
	}))

	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token(), HTTPClient: srv.HTTPClient()})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Webhooks.Create(ctx, client.WebhookCreate{
		URL:    "https://app.test/hook",
		Events: []events.Name{events.NameSuppressedEmailAdded},
	})
	if err != nil {
		fmt.Println(err)
	}
	if _, err := c.SuppressedEmails.Add(ctx, "ada@example.org"); err != nil {
		fmt.Println(err)
	}
	if err := srv.Wait(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: received at /hook: SuppressedEmail.Added
}

// HTTPClient sends requests to the server without a socket.
func ExampleServer_HTTPClient() {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	res, err := srv.HTTPClient().Get(srv.URL() + "/_mock/health")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	fmt.Printf("%s%v\n", body, err)
	// Output:
	// {"status":"ok"}
	// <nil>
}

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
	// true mockserver: email "unknown" does not exist
}
