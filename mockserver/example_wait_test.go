package mockserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// An application that sends in the background is waited for: nobody sleeps, and
// nobody asks again and again.
func ExampleServer_WaitFor() {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	go func() { // the application's worker
		c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token(), HTTPClient: srv.HTTPClient()})
		if err == nil {
			_, err = c.Emails.Send(context.Background(), client.EmailSubmission{
				Email:   "ada@example.org",
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

// Of all that was sent, a test looks at what one recipient got.
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
			Email:   to,
			Sender:  client.Sender{Email: "shop@example.com"},
			Content: client.EmailContent{Subject: "Hello", Text: "Hello."},
		}); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(len(srv.OutboxTo("Ada@example.org")), "of", len(srv.Outbox()))
	// Output: 2 of 3
}

// The application's own handler receives what is delivered to its host: no port,
// no listener.
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

// A client that reaches the server in process: what is tested opens no socket.
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
