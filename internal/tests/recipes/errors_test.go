package recipes_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/mockserver"
)

// resolution is a row of the table "Unknown outcomes" of errors.md.
type resolution struct {
	operation string
	call      func(ctx context.Context, c *client.Client) error
	resolve   func(ctx context.Context, c *client.Client) error
	count     func(ctx context.Context, c *client.Client, p *mockserver.Server) int // number of effects; must be 1
}

// failure returns the error of a call.
func failure[T any](_ T, err error) error { return err }

// count returns the number of items of a list.
func count[T any](items iter.Seq2[T, error]) (n int) {
	for _, err := range items {
		if err != nil {
			return -1
		}
		n++
	}
	return n
}

const listID = 1

var (
	list     = client.ListCreate{Name: "News"}
	template = client.TemplateCreate{Name: "News", Content: client.TemplateContent{Text: "News"}}
	contact  = client.ContactCreate{Email: "ada@example.org"}
	hook     = client.WebhookCreate{URL: "http://shop.test/hook", Events: []events.Name{events.NameEmailBounced}}
	campaign = client.CampaignCreate{
		Name: "May", ListID: listID, Sender: client.Sender{Email: "shop@example.com"},
		Content: client.MessageContent{Subject: "News", Text: "News"},
	}
)

// The order is the order of the table.
var resolutions = []resolution{{
	operation: "unsubscribeContact",
	call: func(ctx context.Context, c *client.Client) error {
		ada, err := c.Contacts.Find(ctx, listID, "bob@example.org")
		if err != nil {
			return err
		}
		return c.Contacts.Unsubscribe(ctx, listID, ada.ID)
	},
	count: func(ctx context.Context, c *client.Client, _ *mockserver.Server) int {
		return count(c.Contacts.All(ctx, listID, client.ListContactsParams{Filter: "status:unsubscribed"}))
	},
}, {
	operation: "createList",
	call:      func(ctx context.Context, c *client.Client) error { return failure(c.Lists.Create(ctx, list)) },
	resolve:   func(ctx context.Context, c *client.Client) error { return failure(c.Lists.Ensure(ctx, list)) },
	count: func(ctx context.Context, c *client.Client, _ *mockserver.Server) int {
		return count(c.Lists.All(ctx, client.ListListsParams{})) - 1
	},
}, {
	operation: "createTemplate",
	call:      func(ctx context.Context, c *client.Client) error { return failure(c.Templates.Create(ctx, template)) },
	resolve:   func(ctx context.Context, c *client.Client) error { return failure(c.Templates.Ensure(ctx, template)) },
	count: func(ctx context.Context, c *client.Client, _ *mockserver.Server) int {
		return count(c.Templates.All(ctx, client.ListTemplatesParams{}))
	},
}, {
	operation: "createContact",
	call: func(ctx context.Context, c *client.Client) error {
		return failure(c.Contacts.Create(ctx, listID, contact))
	},
	resolve: func(ctx context.Context, c *client.Client) error {
		_, err := c.Contacts.Create(ctx, listID, contact)
		if errors.Is(err, client.ErrContactExists) {
			_, err = c.Contacts.Find(ctx, listID, contact.Email)
		}
		return err
	},
	count: func(ctx context.Context, c *client.Client, _ *mockserver.Server) int {
		return count(c.Contacts.All(ctx, listID, client.ListContactsParams{})) - 1
	},
}, {
	operation: "createWebhook",
	call:      func(ctx context.Context, c *client.Client) error { return failure(c.Webhooks.Create(ctx, hook)) },
	resolve:   func(ctx context.Context, c *client.Client) error { return failure(c.Webhooks.Ensure(ctx, hook)) },
	count: func(ctx context.Context, c *client.Client, _ *mockserver.Server) int {
		return count(c.Webhooks.All(ctx, client.ListWebhooksParams{}))
	},
}, {
	operation: "createCampaign",
	call:      func(ctx context.Context, c *client.Client) error { return failure(c.Campaigns.Create(ctx, campaign)) },
	resolve: func(ctx context.Context, c *client.Client) error {
		_, err := c.Campaigns.Find(ctx, campaign.Name)
		if errors.Is(err, client.ErrNotFound) {
			_, err = c.Campaigns.Create(ctx, campaign)
		}
		return err
	},
	count: func(ctx context.Context, c *client.Client, _ *mockserver.Server) int {
		return count(c.Campaigns.All(ctx, client.ListCampaignsParams{}))
	},
}, {
	operation: "scheduleCampaign",
	call: func(ctx context.Context, c *client.Client) error {
		may, err := c.Campaigns.Find(ctx, campaign.Name)
		if errors.Is(err, client.ErrNotFound) {
			may, err = c.Campaigns.Create(ctx, campaign)
		}
		if err != nil {
			return err
		}
		_, err = c.Campaigns.Send(ctx, may.ID)
		return err
	},
	resolve: func(ctx context.Context, c *client.Client) error {
		may, err := c.Campaigns.Find(ctx, campaign.Name)
		if err == nil && may.Status == client.CampaignStatusIncomplete { // the request was not processed
			_, err = c.Campaigns.Send(ctx, may.ID)
		}
		return err
	},
	count: func(ctx context.Context, _ *client.Client, p *mockserver.Server) int {
		_ = p.Wait(ctx)
		return len(p.OutboxTo("bob@example.org"))
	},
}}

// TestUnknownOutcomes: the steps in the table "Unknown outcomes" of errors.md lead to exactly one effect of each
// call, after any fault.
func TestUnknownOutcomes(t *testing.T) {
	for _, row := range resolutions {
		faulttest.UnderFaults(t, []string{row.operation}, func(t *testing.T, p *mockserver.Server) func() {
			ctx := t.Context()
			c := faulttest.Client(t, p)
			readers, err := c.Lists.Create(ctx, client.ListCreate{Name: "Readers"})
			faulttest.Check(t, err)
			if readers.ID != listID {
				t.Fatalf("list %d", readers.ID)
			}
			faulttest.Check(t, c.Lists.AcceptPolicy(ctx, listID))
			_, err = c.Contacts.Create(ctx, listID, client.ContactCreate{Email: "bob@example.org"})
			faulttest.Check(t, err)
			return func() {
				step := row.call
				faulttest.Repeat(t, func() error {
					err := step(ctx, c)
					if errors.Is(err, client.ErrOutcomeUnknown) && row.resolve != nil {
						step = row.resolve
					}
					return err
				})
				time.Sleep(10 * time.Minute) // for requests that the platform processes late
				assert.Equal(t, 1, row.count(ctx, c, p))
			}
		})
	}
}
