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

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// An application's receiver is tested with a bounce that the test makes happen.
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
	_, _ = c.Contacts.Create(ctx, list.ListID, client.ContactCreate{Email: "ada@example.org"})
	_, _ = c.Webhooks.Create(ctx,
		client.WebhookCreate{URL: receiver.URL, Events: []events.Name{events.NameEmailBounced}})
	email, err := c.Emails.Send(ctx, client.EmailSubmission{
		Email:   "ada@example.org",
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
	if err := srv.Wait(ctx); err != nil { // until the receiver has answered
		fmt.Println(err)
	}
	fmt.Println(srv.Deliveries()[0].State)
	// Output:
	// sent: Hello
	// received: Email.Bounced ada@example.org
	// delivered
}

// Hours of retries pass at once in a bubble of testing/synctest, if nothing in
// it opens a socket: the server is made by New, the client goes through
// Transport, and the receiver is one of Targets.
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

// A message is submitted, but the answer is lost: whether it was sent is
// unknown to the client, and the platform knows.
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
		Email:   "ada@example.org",
		Sender:  client.Sender{Email: "shop@example.com"},
		Content: client.EmailContent{Subject: "Hello", Text: "Hello, Ada."},
	})
	fmt.Println("unknown:", errors.Is(err, client.ErrOutcomeUnknown))
	fmt.Println("sent:", len(srv.Outbox()))
	// Output:
	// unknown: true
	// sent: 1
}

// A state is kept and come back to.
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
