package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// newExampleClient returns a client of a mock server. A real program sets the
// platform's URL and token.
func newExampleClient() (c *client.Client, stop func()) {
	srv := mockserver.Start(mockserver.Config{})
	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token()})
	if err != nil {
		log.Fatal(err)
	}
	return c, srv.Close
}

// Send submits an email, and Wait returns its final status.
func Example() {
	c, stop := newExampleClient()
	defer stop()
	ctx := context.Background()

	template, err := c.Templates.Create(ctx, client.TemplateCreate{
		Name:    "Order shipped",
		Content: client.TemplateContent{HTML: "<p>Hello {{first_name}}, your order is on its way.</p>"},
	})
	if err != nil {
		log.Fatal(err)
	}
	email, err := c.Emails.Send(ctx, client.EmailSubmission{
		To:               "ann@example.com",
		Sender:           client.Sender{Name: "Shop", Email: "shop@example.com"},
		Content:          client.EmailContent{Subject: "Your order", TemplateID: template.ID, Type: client.EmailTypeTransactional},
		CustomAttributes: client.Attributes{{Name: "first_name", Value: "Ann"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	seen, err := c.Emails.Wait(ctx, email.ID, client.Email.Settled)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(seen.To, seen.Status)
	// Output: ann@example.com delivered
}

// Without a filter, All yields each contact of the list in any status.
func ExampleContacts_All() {
	c, stop := newExampleClient()
	defer stop()
	ctx := context.Background()
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Customers"})
	if err != nil {
		log.Fatal(err)
	}
	for _, email := range []string{"cy@example.com", "bob@example.com", "ann@example.com"} {
		contact, err := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: email})
		if err == nil && email == "bob@example.com" {
			err = c.Contacts.Unsubscribe(ctx, list.ID, contact.ID)
		}
		if err != nil {
			log.Fatal(err)
		}
	}

	// Without a filter the iteration is complete even if recipients unsubscribe
	// while it runs.
	for contact, err := range c.Contacts.All(ctx, list.ID, client.ListContactsParams{}, client.Prefetch(3)) {
		if err != nil {
			log.Fatal(err)
		}
		if contact.Status == events.ContactStatusActive {
			fmt.Println(contact.Email)
		}
	}
	// Output:
	// cy@example.com
	// ann@example.com
}

// Import skips invalid rows and reports each of them.
func ExampleContacts_Import() {
	c, stop := newExampleClient()
	defer stop()
	ctx := context.Background()
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Customers"})
	if err != nil {
		log.Fatal(err)
	}

	file := strings.NewReader("email,first_name,tags\nann@example.com,Ann,vip;new\nann,Bob,\n,Cy,\n")
	contacts := client.ContactsFromCSV(file, client.CSVOptions{
		OnBadRow: func(e *client.CSVError) error {
			fmt.Println("left out:", e)
			return nil
		},
	})
	report, err := c.Contacts.Import(ctx, list.ID, contacts, client.ImportOptions{Concurrency: 4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Imported, "imported,", report.Rejected, "rejected")
	for _, r := range report.Rejections {
		fmt.Printf("line %d: %s: %s\n", r.Contact.Line, r.Contact.Email, r.Detail.Msg)
	}
	// Output:
	// left out: line 4: email: is empty
	// 1 imported, 1 rejected
	// line 3: ann: not an email address
}

// An import can add contacts as unsubscribed.
func ExampleContactsFromAddresses() {
	c, stop := newExampleClient()
	defer stop()
	ctx := context.Background()
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Customers"})
	if err != nil {
		log.Fatal(err)
	}

	customers := map[string]string{"ann@example.com": "Ann", "bob@example.com": "Bob"}
	addresses := client.ContactsFromAddresses(maps.Keys(customers)) // or slices.Values
	report, err := c.Contacts.Import(ctx, list.ID, addresses, client.ImportOptions{ImportTo: client.ImportToUnsubscribed})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Imported, "imported as unsubscribed")
	// Output: 2 imported as unsubscribed
}

// An Error contains the operation, the status and the details of a failure.
func ExampleError() {
	c, stop := newExampleClient()
	defer stop()

	_, err := c.Templates.Get(context.Background(), 4711)
	var e *client.Error
	if errors.Is(err, client.ErrNotFound) && errors.As(err, &e) {
		fmt.Println(e.Op, e.StatusCode, e.Details)
	}
	// Output: getTemplate 404 [path.template_id: no template 4711 (not_found)]
}

// An update changes only the fields that it sets.
func ExampleTemplateUpdate() {
	c, stop := newExampleClient()
	defer stop()
	ctx := context.Background()
	template, err := c.Templates.Create(ctx, client.TemplateCreate{
		Name: "Welcome", Content: client.TemplateContent{HTML: "<p>Hello</p>", Text: "Hello"},
	})
	if err != nil {
		log.Fatal(err)
	}

	// The name is set, the text is removed, and the HTML stays as it is.
	template, err = c.Templates.Update(ctx, template.ID, client.TemplateUpdate{
		Name:    new("Welcome (2026)"),
		Content: &client.TemplateContentUpdate{Text: client.Null[string]()},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %s %q\n", template.Name, template.Content.HTML, template.Content.Text)
	// Output: Welcome (2026) <p>Hello</p> ""
}

// counterVec has the methods of Prometheus's CounterVec that the example needs.
type counterVec map[string]float64

func (v counterVec) WithLabelValues(values ...string) counter {
	return counter{v, strings.Join(values, " ")}
}

type counter struct {
	vec  counterVec
	name string
}

func (c counter) Add(n float64) { c.vec[c.name] += n }
func (c counter) Inc()          { c.Add(1) }

// Observe counts calls by operation and status, and retries. With Prometheus, the
// vectors are for example
//
//	calls := promauto.NewCounterVec(prometheus.CounterOpts{Name: "platform_calls_total"}, []string{"op", "status"})
//
// No label contains the text of an error, because it can contain an address.
func ExampleConfig_observe() {
	calls, seconds, retries := counterVec{}, counterVec{}, counterVec{}
	observe := func(ctx context.Context, call client.Call) (context.Context, client.Observer) {
		return ctx, client.Observer{
			Retry: func(o client.Observation) { retries.WithLabelValues(call.Op, strconv.Itoa(o.StatusCode)).Inc() },
			End: func(o client.Observation) {
				status := strconv.Itoa(o.StatusCode) // 0: no response
				if errors.Is(o.Err, client.ErrOutcomeUnknown) {
					status = "unknown"
				}
				calls.WithLabelValues(call.Op, status).Inc()
				seconds.WithLabelValues(call.Op).Add(o.Duration.Seconds())
			},
		}
	}

	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token(), Observe: observe})
	if err != nil {
		log.Fatal(err)
	}
	busy := mockserver.Fault{Action: mockserver.FaultStatus, Status: 429, Operation: "listTags", Times: 1}
	if _, err := srv.Inject(busy); err != nil {
		log.Fatal(err)
	}
	_, _ = c.Templates.Get(context.Background(), 4711)
	_, _ = c.Tags.List(context.Background(), client.ListTagsParams{})
	fmt.Println("calls:", calls)
	fmt.Println("retries:", retries)
	// Output:
	// calls: map[getTemplate 404:1 listTags 200:1]
	// retries: map[listTags 429:1]
}

// The hook gets each response of the call.
func ExampleWithResponseHook() {
	c, stop := newExampleClient()
	defer stop()

	ctx := client.WithResponseHook(context.Background(), func(r client.Response) {
		fmt.Println(r.Op, r.StatusCode, r.Header.Get("Content-Type"))
	})
	if _, err := c.Lists.List(ctx, client.ListListsParams{}); err != nil {
		log.Fatal(err)
	}
	// Output: listLists 200 application/json
}

// Find returns the contact with an address, or ErrNotFound.
func ExampleContacts_Find() {
	c, stop := newExampleClient()
	defer stop()
	ctx := context.Background()
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Customers"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: "ann@example.com"}); err != nil {
		log.Fatal(err)
	}

	for _, email := range []string{"Ann@example.com", "bob@example.com"} {
		contact, err := c.Contacts.Find(ctx, list.ID, email)
		switch {
		case errors.Is(err, client.ErrNotFound):
			fmt.Println(email, "is not on the list")
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println(contact.Email, contact.Status)
		}
	}
	// Output:
	// ann@example.com active
	// bob@example.com is not on the list
}

// Ensure creates the webhook, and returns the same webhook again.
func ExampleWebhooks_Ensure() {
	c, stop := newExampleClient()
	defer stop()
	// At every start of the program: created the first time, found after that.
	for range 2 {
		hook, err := c.Webhooks.Ensure(context.Background(), client.WebhookCreate{
			URL:    "https://shop.example.com/hook",
			Events: []events.Name{events.NameEmailBounced, events.NameEmailReportedAsSpam},
		})
		if err != nil {
			log.Fatal(err)
		}
		// webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction) is what a receiver needs.
		fmt.Println(hook.URL, hook.Secret, hook.HashFunction)
	}
	for hook, err := range c.Webhooks.All(context.Background(), client.ListWebhooksParams{}) {
		fmt.Println(hook.Events, err)
	}
	// Output:
	// https://shop.example.com/hook [redacted] sha256
	// https://shop.example.com/hook [redacted] sha256
	// [Email.Bounced Email.ReportedAsSpam] <nil>
}

// Wait returns the campaign after it was sent.
func ExampleCampaigns_Wait() {
	c, stop := newExampleClient()
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Customers"})
	if err != nil {
		log.Fatal(err)
	}
	if err := c.Lists.AcceptPolicy(ctx, list.ID); err != nil {
		log.Fatal(err)
	}
	campaign, err := c.Campaigns.Create(ctx, client.CampaignCreate{
		Name: "May", ListID: list.ID, Sender: client.Sender{Email: "shop@example.com"},
		Content: client.MessageContent{Subject: "News", Text: "New in May"},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.Campaigns.Send(ctx, campaign.ID); err != nil {
		log.Fatal(err)
	}
	sent, err := c.Campaigns.Wait(ctx, campaign.ID, client.Campaign.Settled)
	fmt.Println(sent.Name, sent.Status, err)
	// Output: May delivered <nil>
}

// The client fetches the next token before the current one expires.
func ExampleTokenSource_expiring() {
	platform := mockserver.Start(mockserver.Config{})
	defer platform.Close()
	endpoint := func(context.Context) (token string, expiresIn int, err error) { // POST /oauth/token
		fmt.Println("fetching a token")
		return platform.Token(), 3600, nil
	}

	c, err := client.New(client.Config{
		BaseURL: platform.URL(),
		TokenSource: func(ctx context.Context) (client.Token, error) {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			token, expiresIn, err := endpoint(ctx)
			return client.Token{Value: token, Expiry: time.Now().Add(time.Duration(expiresIn) * time.Second)}, err
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"Customers", "Readers"} {
		list, err := c.Lists.Create(context.Background(), client.ListCreate{Name: name})
		fmt.Println(list.Name, err)
	}
	// Output:
	// fetching a token
	// Customers <nil>
	// Readers <nil>
}
