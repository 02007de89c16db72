package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// newExamplePlatform also returns the mock server, which can simulate recipients and
// network failures.
func newExamplePlatform(cfg client.Config) (*client.Client, *mockserver.Server) {
	platform := mockserver.New(mockserver.Config{})
	cfg.BaseURL, cfg.HTTPClient = platform.URL(), platform.HTTPClient()
	if cfg.TokenSource == nil {
		cfg.Token = platform.Token()
	}
	c, err := client.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	return c, platform
}

// Send returns ErrOutcomeUnknown if the response is lost, and does not send the email
// again. The platform has processed the second email here.
func ExampleEmails_Send() {
	c, platform := newExamplePlatform(client.Config{})
	defer platform.Close()
	for _, order := range []string{"A-16", "A-17"} {
		email, err := c.Emails.Send(context.Background(), client.EmailSubmission{
			To:               "ada@example.org",
			Sender:           client.Sender{Name: "Shop", Email: "shop@example.com"},
			Content:          client.EmailContent{Subject: "Order {{order}}", Text: "Thank you.", Type: client.EmailTypeTransactional},
			CustomAttributes: client.Attributes{{Name: "order", Value: order}},
		})
		switch {
		case err == nil:
			fmt.Println(order, email.Status)
		case errors.Is(err, client.ErrOutcomeUnknown):
			fmt.Println(order, "may have been sent: check before you send it again")
		default:
			fmt.Println(order, "was not sent:", err)
		}
		lost := mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultReset, AfterProcessing: true, Times: 1}
		if _, err := platform.Inject(lost); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(len(platform.Outbox()), "emails")
	// Output:
	// A-16 queued
	// A-17 may have been sent: check before you send it again
	// 2 emails
}

// GetAll looks up ids from a channel, one per second.
func ExampleEmails_GetAll() {
	c, platform := newExamplePlatform(client.Config{LookupLimiter: client.NoLookupLimit{}}) // for the example not to take seconds
	defer platform.Close()
	platform.SetLookupLimit(mockserver.LookupTokenBucket)
	ids := make(chan string, 100) // filled by the handler of a webhook
	for _, address := range []string{"bounce+hb@mock.test", "bounce+sb@mock.test"} {
		email, err := c.Emails.Send(context.Background(), client.EmailSubmission{
			To: address, Sender: client.Sender{Email: "shop@example.com"}, Content: client.EmailContent{Subject: "Hello", Text: "Hello!"},
		})
		if err != nil {
			log.Fatal(err)
		}
		ids <- email.ID
	}
	close(ids) // at the end of the program

	queue := func(yield func(string) bool) {
		for id := range ids {
			if !yield(id) {
				return
			}
		}
	}
	for email, err := range c.Emails.GetAll(context.Background(), queue) {
		if err != nil {
			fmt.Println(email.ID, "comes again later:", err)
			continue
		}
		fmt.Println(email.To, email.Bounce != nil && email.Bounce.Hard())
	}
	// Output:
	// bounce+hb@mock.test true
	// bounce+sb@mock.test false
}

// The header of the file names the columns. All columns except email, tags and interests
// are custom attributes.
func ExampleContactsFromCSV() {
	file := strings.NewReader("Email,Tags,City\nann@example.com,vip;new,Paris\n\"bob@example.com\",,\"Rome, Italy\"\n")
	for contact, err := range client.ContactsFromCSV(file, client.CSVOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(contact.Line, contact.Email, contact.Tags, contact.CustomAttributes)
	}
	// Output:
	// 2 ann@example.com [vip new] [{City Paris}]
	// 3 bob@example.com [] [{City Rome, Italy}]
}

// With double opt-in the platform sends an email with a link, and the contact
// becomes active when its recipient follows the link.
func ExampleContacts_Create_doubleOptIn() {
	c, platform := newExamplePlatform(client.Config{})
	defer platform.Close()
	ctx := context.Background()
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Readers"})
	if err != nil {
		log.Fatal(err)
	}
	if err := c.Lists.AcceptPolicy(ctx, list.ID); err != nil { // once for each list
		log.Fatal(err)
	}
	ann, err := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: "ann@example.com", DoubleOptIn: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ann.Status)

	if err := platform.Confirm(platform.Outbox()[0].ID); err != nil { // as Ann does
		log.Fatal(err)
	}
	ann, err = c.Contacts.Get(ctx, list.ID, ann.ID)
	fmt.Println(ann.Status, err)
	// Output:
	// pending
	// active <nil>
}

// A scheduled campaign is sent to all contacts that are active at that time. If
// the outcome is unknown, Get returns the status.
func ExampleCampaigns_Schedule() {
	c, platform := newExamplePlatform(client.Config{})
	defer platform.Close()
	ctx := context.Background()
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Readers"})
	if err != nil {
		log.Fatal(err)
	}
	campaign, err := c.Campaigns.Create(ctx, client.CampaignCreate{
		Name: "May", ListID: list.ID, Sender: client.Sender{Email: "shop@example.com"},
		Content: client.MessageContent{Subject: "News", Text: "New in May"},
	})
	if err != nil {
		log.Fatal(err)
	}
	tomorrow := platform.Now().AddDate(0, 0, 1)
	_, err = c.Campaigns.Schedule(ctx, campaign.ID, tomorrow)
	fmt.Println(errors.Is(err, client.ErrPolicyNotAccepted))

	if err := c.Lists.AcceptPolicy(ctx, list.ID); err != nil {
		log.Fatal(err)
	}
	lost := mockserver.Fault{Operation: "scheduleCampaign", Action: mockserver.FaultReset, AfterProcessing: true, Times: 1}
	if _, err := platform.Inject(lost); err != nil {
		log.Fatal(err)
	}
	_, err = c.Campaigns.Schedule(ctx, campaign.ID, tomorrow)
	fmt.Println(errors.Is(err, client.ErrOutcomeUnknown))
	campaign, err = c.Campaigns.Get(ctx, campaign.ID)
	fmt.Println(campaign.Status, err)
	// Output:
	// true
	// true
	// scheduled <nil>
}

// The client calls the source before the first request and after a 401 response,
// here because the token was revoked.
func ExampleTokenSource() {
	tokens := []string{mockserver.DefaultToken, "second"}
	source := func(context.Context) (client.Token, error) { // a file, a vault, an environment variable
		token := tokens[0]
		tokens = slices.Delete(tokens, 0, 1)
		fmt.Println("fetched a token; remaining:", len(tokens))
		return client.Token{Value: token}, nil
	}
	c, platform := newExamplePlatform(client.Config{TokenSource: source})
	defer platform.Close()
	if err := platform.Seed(strings.NewReader(`{"tokens": [{"token": "second"}]}`)); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		list, err := c.Lists.Create(context.Background(), client.ListCreate{Name: "News"})
		fmt.Println(list.Name, err)
		if err := platform.RevokeToken(mockserver.DefaultToken); err != nil {
			break // it is revoked already
		}
	}
	// Output:
	// fetched a token; remaining: 1
	// News <nil>
	// fetched a token; remaining: 0
	// News <nil>
}

// The context sets the number of attempts of a single call.
func ExampleWithMaxAttempts() {
	c, platform := newExamplePlatform(client.Config{})
	defer platform.Close()
	if _, err := platform.Inject(mockserver.Fault{Action: mockserver.FaultStatus, Status: 503}); err != nil {
		log.Fatal(err)
	}
	for _, n := range []int{1, 2} {
		_, err := c.Tags.List(client.WithMaxAttempts(context.Background(), n), client.ListTagsParams{})
		if e, ok := errors.AsType[*client.Error](err); ok {
			fmt.Println(e.StatusCode, e.Attempts)
		}
	}
	// Output:
	// 503 1
	// 503 2
}
