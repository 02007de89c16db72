package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// newExampleList returns a client of a mock server, and a list whose policy is accepted.
func newExampleList() (*client.Client, *mockserver.Server, client.List) {
	c, platform := newExamplePlatform(client.Config{})
	list, err := c.Lists.Create(context.Background(), client.ListCreate{Name: "Readers"})
	if err == nil {
		err = c.Lists.AcceptPolicy(context.Background(), list.ID)
	}
	if err != nil {
		log.Fatal(err)
	}
	return c, platform, list
}

// Schedule rejects the zero time, so an unset time does not send the campaign.
func ExampleCampaigns_Send() {
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
	_, err = c.Campaigns.Schedule(ctx, campaign.ID, time.Time{})
	fmt.Println(err)
	campaign, err = c.Campaigns.Send(ctx, campaign.ID)
	fmt.Println(campaign.Status, err)
	// Output:
	// scheduleCampaign: POST /campaigns/2/schedule: at must be after 1970-01-01T00:00:00Z
	// scheduled <nil>
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

// All requests 100 items per page, and one more page if the last one is full.
func ExampleContactsFromSlice() {
	c, platform, list := newExampleList()
	defer platform.Close()
	var contacts []client.ImportContact
	for i := range 200 {
		contacts = append(contacts, client.ImportContact{Email: fmt.Sprintf("reader%d@example.org", i)})
	}
	_, err := c.Contacts.Import(context.Background(), list.ID, client.ContactsFromSlice(contacts), client.ImportOptions{})
	before := len(platform.Requests())
	for _, err := range c.Contacts.All(context.Background(), list.ID, client.ListContactsParams{}) {
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(len(platform.Requests())-before, "requests", err)
	// Output: 3 requests <nil>
}

// A second webhook with the same settings has a new secret. The receiver accepts both
// secrets until the first webhook is archived.
func ExampleWebhookCreate_rotation() {
	c, platform := newExamplePlatform(client.Config{})
	defer platform.Close()
	hook := client.WebhookCreate{URL: "https://shop.test/hook", Events: []events.Name{events.NameEmailBounced}, RateLimit: 5, RateLimitPeriod: client.RateLimitPeriodMinute}
	var secrets []webhook.Secret
	for range 2 {
		created, err := c.Webhooks.Create(context.Background(), hook)
		if err != nil {
			log.Fatal(err)
		}
		secret, err := webhook.ParseSecret(created.Secret.Reveal(), created.HashFunction)
		if err != nil {
			log.Fatal(err)
		}
		secrets = append(secrets, secret)
		hook = client.WebhookCreate{URL: created.URL, Events: created.Events, RateLimit: created.RateLimit, RateLimitPeriod: created.RateLimitPeriod}
	}
	verifier, err := webhook.NewVerifier(secrets...)
	fmt.Println(verifier != nil, err)
	// Output: true <nil>
}

// An update sets some attributes, and null removes an attribute.
func ExampleContactUpdate() {
	c, platform, list := newExampleList()
	defer platform.Close()
	ctx := context.Background()
	attributes := client.Attributes{{Name: "city", Value: "Bern"}, {Name: "plan", Value: "free"}}
	ann, err := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: "ann@example.com", CustomAttributes: attributes})
	if err != nil {
		log.Fatal(err)
	}
	ann, err = c.Contacts.Update(ctx, list.ID, ann.ID, client.ContactUpdate{CustomAttributes: []client.CustomAttributeUpdate{
		{Name: "city", Value: client.Value("Basel")},
		{Name: "plan", Value: client.Null[string]()},
	}})
	fmt.Println(ann.CustomAttributes.Get("city"), len(ann.CustomAttributes), err)
	_, err = c.Contacts.Update(ctx, list.ID, ann.ID, client.ContactUpdate{CustomAttributes: []client.CustomAttributeUpdate{{Name: "city"}}})
	fmt.Println(err)
	// Output:
	// Basel 1 <nil>
	// updateContact: PATCH /lists/1/contacts/2: custom_attributes.0.value: is missing
}
