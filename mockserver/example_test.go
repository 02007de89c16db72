package mockserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// This example simulates a bounce, which the mock server reports to the application's webhook receiver.
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
	if err := srv.Wait(ctx); err != nil { // wait for the response of the receiver
		fmt.Println(err)
	}
	fmt.Println(srv.Deliveries()[0].State)
	// Output:
	// sent: Hello
	// received: Email.Bounced ada@example.org
	// delivered
}

// New, Transport and SetTarget open no socket, so the test can run in a testing/synctest bubble. There, hours of
// retries pass without waiting.
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

// This fault rule causes a lost response: the platform accepts the email, so it is in the outbox, but the client
// does not know the outcome.
func ExampleServer_Inject() {
	ctx := context.Background()
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token(), HTTPClient: srv.HTTPClient()})
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
	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token(), HTTPClient: srv.HTTPClient()})
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

// WaitFor waits for background work of the application, without polling.
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

// The server passes deliveries for the host of a target to its handler, without a socket.
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
