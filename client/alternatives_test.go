package client_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// TestAlternatives runs the alternatives in docs/faq.md for features that the platform does not have.
func TestAlternatives(t *testing.T) {
	for name, try := range map[string]func(*testing.T, *client.Client, *mockserver.Server, int64){
		"segments": segments, "preferences": preferences, "second confirmation": secondConfirmation, "own tags": ownTags,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlatform(t)
				defer p.Close()
				list, err := p.clean.Lists.Create(t.Context(), client.ListCreate{Name: "Readers"})
				must(t)(list, err)
				fatal(t, p.clean.Lists.AcceptPolicy(t.Context(), list.ID))
				try(t, p.clean, p.Server, list.ID)
			})
		})
	}
}

// segments sends a campaign to the contacts with a tag through a list of their own, and copies an unsubscription
// back.
func segments(t *testing.T, c *client.Client, platform *mockserver.Server, listID int64) {
	ctx := t.Context()
	for _, contact := range []client.ContactCreate{{Email: "ada@example.org", Tags: []string{"jazz"}}, {Email: "bob@example.org"}} {
		must(t)(c.Contacts.Create(ctx, listID, contact))
	}
	segment, err := c.Lists.Create(ctx, client.ListCreate{Name: "Jazz, May"})
	must(t)(segment, err)
	fatal(t, c.Lists.AcceptPolicy(ctx, segment.ID))
	jazz := func(yield func(client.ImportContact, error) bool) {
		for contact, err := range c.Contacts.All(ctx, listID, client.ListContactsParams{Filter: "tag:jazz"}) {
			selected := err != nil || contact.Status == events.ContactStatusActive
			if selected && !yield(client.ImportContact{Email: contact.Email}, err) {
				return
			}
		}
	}
	must(t)(c.Contacts.Import(ctx, segment.ID, jazz, client.ImportOptions{}))
	campaign, err := c.Campaigns.Create(ctx, client.CampaignCreate{
		Name: "May", ListID: segment.ID, Sender: client.Sender{Email: "shop@example.com"}, Content: client.MessageContent{Subject: "Jazz", Text: "Jazz"},
	})
	must(t)(campaign, err)
	must(t)(c.Campaigns.Send(ctx, campaign.ID))
	fatal(t, platform.Drain(ctx))
	sent := platform.Outbox()
	if len(sent) != 1 || sent[0].To != "ada@example.org" {
		t.Fatalf("sent %v, want one email to ada", sent)
	}
	fatal(t, platform.Unsubscribe(sent[0].ID))
	ada, err := c.Contacts.Find(ctx, listID, "ada@example.org")
	if err != nil || ada.Status != events.ContactStatusActive {
		t.Errorf("ada is %q on the first list, %v; want active until the application copies it", ada.Status, err)
	}
	fatal(t, c.Contacts.Unsubscribe(ctx, listID, ada.ID))
}

func preferences(t *testing.T, c *client.Client, _ *mockserver.Server, listID int64) {
	ctx := t.Context()
	ada, err := c.Contacts.Create(ctx, listID, client.ContactCreate{Email: "ada@example.org", Interests: []string{"jazz"}})
	must(t)(ada, err)
	for _, value := range []string{"yes", "no"} {
		ada, err = c.Contacts.Update(ctx, listID, ada.ID, client.ContactUpdate{CustomAttributes: []client.CustomAttributeUpdate{
			{Name: "topic_jazz", Value: client.Value(value)},
		}})
		if err != nil || len(ada.CustomAttributes) != 1 || ada.CustomAttributes[0].Value != value {
			t.Errorf("got %+v, %v, want %s", ada.CustomAttributes, err, value)
		}
	}
}

// secondConfirmation sends the confirmation email again. Creating the contact again does not.
func secondConfirmation(t *testing.T, c *client.Client, platform *mockserver.Server, listID int64) {
	ctx := t.Context()
	signUp := client.ContactCreate{Email: "ada@example.org", DoubleOptIn: true}
	ada, err := c.Contacts.Create(ctx, listID, signUp)
	must(t)(ada, err)
	if _, err := c.Contacts.Create(ctx, listID, signUp); !errors.Is(err, client.ErrContactExists) || len(platform.Outbox()) != 1 {
		t.Errorf("created again: %v, %d emails", err, len(platform.Outbox()))
	}
	fatal(t, c.Contacts.Delete(ctx, listID, ada.ID))
	must(t)(c.Contacts.Create(ctx, listID, signUp))
	sent := platform.OutboxTo("ada@example.org")
	if len(sent) != 2 || !sent[1].Confirmation {
		t.Fatalf("%d emails, want 2", len(sent))
	}
	fatal(t, platform.Confirm(sent[1].ID))
	if ada, err = c.Contacts.Get(ctx, listID, ada.ID); err != nil || ada.Status != events.ContactStatusActive {
		t.Errorf("got %q, %v; want active", ada.Status, err)
	}
}

// ownTags finds the order of an event by the id that Send returned.
func ownTags(t *testing.T, c *client.Client, platform *mockserver.Server, _ int64) {
	ctx := t.Context()
	must(t)(c.Webhooks.Create(ctx, client.WebhookCreate{URL: "http://127.0.0.1:9/", Events: []events.Name{events.NameEmailOpened}}))
	email, err := c.Emails.Send(ctx, client.EmailSubmission{
		To: "ada@example.org", Sender: client.Sender{Email: "shop@example.com"},
		Content: client.EmailContent{Subject: "Your order A-17", Text: "Thank you.", Type: client.EmailTypeTransactional},
	})
	must(t)(email, err)
	fatal(t, platform.Open(email.ID))
	fatal(t, platform.Wait(ctx))
	if body := string(platform.Deliveries()[0].Body); !strings.Contains(body, email.ID) {
		t.Errorf("the event %s does not contain the id %s", body, email.ID)
	}
	if got, err := c.Emails.Get(ctx, email.ID); err != nil || got.Subject != "Your order A-17" {
		t.Errorf("looked up: %q, %v", got.Subject, err)
	}
}
