package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// newExample returns a client and the mock server that it uses. The mock server can simulate recipients and network
// failures. A real program configures the platform's URL and token instead.
func newExample(cfg client.Config) (*client.Client, *mockserver.Server) {
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

// newExampleList returns a client of a mock server, the server, and a list with an accepted policy.
func newExampleList() (*client.Client, *mockserver.Server, client.List) {
	c, platform := newExample(client.Config{})
	list, err := c.Lists.Create(context.Background(), client.ListCreate{Name: "Readers"})
	if err == nil {
		err = c.Lists.AcceptPolicy(context.Background(), list.ID)
	}
	if err != nil {
		log.Fatal(err)
	}
	return c, platform, list
}

// Send submits an email, and Wait returns its final status.
func Example() {
	c, platform := newExample(client.Config{})
	defer platform.Close()
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
	c, platform, list := newExampleList()
	defer platform.Close()
	ctx := context.Background()
	for _, email := range []string{"cy@example.com", "bob@example.com", "ann@example.com"} {
		contact, err := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: email})
		if err == nil && email == "bob@example.com" {
			err = c.Contacts.Unsubscribe(ctx, list.ID, contact.ID)
		}
		if err != nil {
			log.Fatal(err)
		}
	}

	// Without a filter, the iteration is complete even if recipients unsubscribe in the meantime.
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
	c, platform, list := newExampleList()
	defer platform.Close()
	ctx := context.Background()

	file := strings.NewReader("email,first_name,tags\nann@example.com,Ann,vip;new\nann,Bob,\n,Cy,\n")
	contacts := client.ContactsFromCSV(file, client.CSVOptions{
		OnBadRow: func(e *client.CSVError) error {
			fmt.Println("filtered:", e)
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
	// filtered: line 4: email: must not be empty
	// 1 imported, 1 rejected
	// line 3: ann: not an email address
}

// An import can add contacts as unsubscribed.
func ExampleContactsFromAddresses() {
	c, platform, list := newExampleList()
	defer platform.Close()
	ctx := context.Background()

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
	c, platform := newExample(client.Config{})
	defer platform.Close()

	_, err := c.Templates.Get(context.Background(), 4711)
	var e *client.Error
	if errors.Is(err, client.ErrNotFound) && errors.As(err, &e) {
		fmt.Println(e.Op, e.StatusCode, e.Details)
	}
	// Output: getTemplate 404 [path.template_id: template 4711 does not exist (not_found)]
}

// An update changes only the fields that it sets.
func ExampleTemplateUpdate() {
	c, platform := newExample(client.Config{})
	defer platform.Close()
	ctx := context.Background()
	template, err := c.Templates.Create(ctx, client.TemplateCreate{
		Name: "Welcome", Content: client.TemplateContent{HTML: "<p>Hello</p>", Text: "Hello"},
	})
	if err != nil {
		log.Fatal(err)
	}

	// The update sets the name, removes the text and does not change the HTML.
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

// Observe counts calls by operation and status. It also counts retries. A program with Prometheus can increment a
// counter such as
//
//	calls := promauto.NewCounterVec(prometheus.CounterOpts{Name: "platform_calls_total"}, []string{"op", "status"})
//
// No label contains the text of an error, because this text can contain an address.
func ExampleConfig_observe() {
	calls, retries := map[string]int{}, map[string]int{}
	observe := func(ctx context.Context, call client.Call) (context.Context, client.Observer) {
		return ctx, client.Observer{
			Retry: func(o client.Observation) { retries[fmt.Sprint(call.Op, " ", o.StatusCode)]++ },
			End: func(o client.Observation) {
				status := strconv.Itoa(o.StatusCode) // 0: no response
				if o.Outcome() == client.OutcomeUnknown {
					status = "unknown"
				}
				calls[call.Op+" "+status]++
			},
		}
	}

	c, platform := newExample(client.Config{Observe: observe})
	defer platform.Close()
	busy := mockserver.Fault{Action: mockserver.FaultStatus, Status: 429, Operation: "listTags", Times: 1}
	if _, err := platform.Inject(busy); err != nil {
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
	c, platform := newExample(client.Config{})
	defer platform.Close()

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
	c, platform, list := newExampleList()
	defer platform.Close()
	ctx := context.Background()
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

// Ensure creates the webhook. A second call returns the same webhook.
func ExampleWebhooks_Ensure() {
	c, platform := newExample(client.Config{})
	defer platform.Close()
	// A program can call Ensure at each start.
	for range 2 {
		hook, err := c.Webhooks.Ensure(context.Background(), client.WebhookCreate{
			URL:    "https://shop.example.com/hook",
			Events: []events.Name{events.NameEmailBounced, events.NameEmailReportedAsSpam},
		})
		if err != nil {
			log.Fatal(err)
		}
		// A receiver calls webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction).
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
	c, platform, list := newExampleList()
	defer platform.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
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
	endpoint := func(context.Context) (token string, expiresIn int, err error) { // POST /oauth/token
		fmt.Println("fetching a token")
		return mockserver.DefaultToken, 3600, nil
	}

	c, platform := newExample(client.Config{
		TokenSource: func(ctx context.Context) (client.Token, error) {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			token, expiresIn, err := endpoint(ctx)
			return client.Token{Value: token, Expiry: time.Now().Add(time.Duration(expiresIn) * time.Second)}, err
		},
	})
	defer platform.Close()
	for _, name := range []string{"Customers", "Readers"} {
		list, err := c.Lists.Create(context.Background(), client.ListCreate{Name: name})
		fmt.Println(list.Name, err)
	}
	// Output:
	// fetching a token
	// Customers <nil>
	// Readers <nil>
}

// If the response is lost, Send returns ErrOutcomeUnknown and does not send the email again, because the platform may
// have processed it, as with the second email here.
func ExampleEmails_Send() {
	c, platform := newExample(client.Config{})
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

// GetAll looks up emails by their ids. By default, it looks up one per second.
func ExampleEmails_GetAll() {
	c, platform := newExample(client.Config{LookupLimiter: client.NoLookupLimit{}}) // no wait in this example
	defer platform.Close()
	platform.SetLookupLimit(mockserver.LookupTokenBucket)
	var ids []string // for example from the handler of a webhook
	for _, address := range []string{"bounce+hb@mock.test", "bounce+sb@mock.test"} {
		email, err := c.Emails.Send(context.Background(), client.EmailSubmission{
			To: address, Sender: client.Sender{Email: "shop@example.com"}, Content: client.EmailContent{Subject: "Hello", Text: "Hello!"},
		})
		if err != nil {
			log.Fatal(err)
		}
		ids = append(ids, email.ID)
	}

	for email, err := range c.Emails.GetAll(context.Background(), slices.Values(ids)) {
		if err != nil {
			fmt.Println("look up again later:", email.ID, err)
			continue
		}
		fmt.Println(email.To, email.Bounce != nil && email.Bounce.Hard())
	}
	// Output:
	// bounce+hb@mock.test true
	// bounce+sb@mock.test false
}

// With double opt-in, the platform sends an email with a link. The contact becomes active when its recipient follows the
// link.
func ExampleContacts_Create_doubleOptIn() {
	c, platform, list := newExampleList()
	defer platform.Close()
	ctx := context.Background()
	ann, err := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: "ann@example.com", DoubleOptIn: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ann.Status)
	if err := platform.Confirm(platform.Outbox()[0].ID); err != nil { // simulates that Ann follows the link
		log.Fatal(err)
	}
	ann, err = c.Contacts.Get(ctx, list.ID, ann.ID)
	fmt.Println(ann.Status, err)
	// Output:
	// pending
	// active <nil>
}

// A scheduled campaign is sent to all contacts that are active at that time.
func ExampleCampaigns_Schedule() {
	c, platform, list := newExampleList()
	defer platform.Close()
	ctx := context.Background()
	campaign, err := c.Campaigns.Create(ctx, client.CampaignCreate{
		Name: "May", ListID: list.ID, Sender: client.Sender{Email: "shop@example.com"},
		Content: client.MessageContent{Subject: "News", Text: "New in May"},
	})
	if err != nil {
		log.Fatal(err)
	}
	campaign, err = c.Campaigns.Schedule(ctx, campaign.ID, platform.Now().AddDate(0, 0, 1))
	fmt.Println(campaign.Status, err)
	// Output: scheduled <nil>
}

// The context sets the number of attempts of a single call.
func ExampleWithMaxAttempts() {
	c, platform := newExample(client.Config{})
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

// Create adds a contact that has unsubscribed only if Resubscribe is set.
func ExampleContactCreate_resubscribe() {
	c, platform, list := newExampleList()
	defer platform.Close()
	ctx := context.Background()
	ann, err := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: "ann@example.com"})
	err = errors.Join(err, c.Contacts.Unsubscribe(ctx, list.ID, ann.ID))
	_, again := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: ann.Email})
	fmt.Println(errors.Is(again, client.ErrContactExists), err)
	ann, err = c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: ann.Email, Resubscribe: true})
	fmt.Println(ann.Status, err)
	// Output:
	// true <nil>
	// active <nil>
}

// Rotate creates a second webhook with a new secret. Until the first webhook is archived, the receiver must accept
// both secrets.
func ExampleWebhooks_Rotate() {
	c, platform := newExample(client.Config{})
	defer platform.Close()
	ctx := context.Background()
	hook, err := c.Webhooks.Create(ctx, client.WebhookCreate{URL: "https://shop.test/hook", Events: []events.Name{events.NameEmailBounced}})
	if err != nil {
		log.Fatal(err)
	}
	if _, _, err := c.Webhooks.Rotate(ctx, hook.ID); err != nil {
		log.Fatal(err)
	}
	active, err := c.Webhooks.Active(ctx, hook.URL)
	if err != nil {
		log.Fatal(err)
	}
	var secrets []webhook.Secret
	for _, hook := range active {
		secret, err := webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction)
		if err != nil {
			log.Fatal(err)
		}
		secrets = append(secrets, secret)
	}
	verifier, err := webhook.NewVerifier(secrets...)
	fmt.Println(len(secrets), verifier != nil, err)
	// Output: 2 true <nil>
}
