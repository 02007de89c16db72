package client

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"example.com/emailplatform/internal/json/jsonscan"
)

// The known values of [Webhook.Status]. The set is open.
const (
	WebhookActive   = "active"
	WebhookArchived = "archived"
)

// AnyID is an id whose type the specification leaves open: it is read from a
// string or a number, and kept as text.
type AnyID = string

func readAnyID(c *jsonscan.Cursor) AnyID {
	if b := c.Peek(); b == '-' || '0' <= b && b <= '9' {
		return strings.Clone(c.Number())
	}
	return c.String()
}

// Format implements [fmt.Formatter]: without it, a verb that fits no struct,
// such as %s, prints the secret of a webhook behind a pointer.
func (w Webhook) Format(f fmt.State, verb rune) {
	type plain Webhook
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), plain(w))
}

// Webhooks push events to a URL. They cannot be deleted, only archived.
// (Specification: Webhooks.)
type Webhooks struct{ x exchange }

// Create subscribes a URL to events. What is returned holds the secret that
// deliveries are signed with; some platforms show it by Get alone, and it is then
// zero.
func (s *Webhooks) Create(ctx context.Context, webhook WebhookCreate) (Webhook, error) {
	return do(ctx, s.x, createWebhookRequest(webhook), readWebhook)
}

// Get returns a webhook with its secret and the name of its hash function, which
// are zero where the platform does not show them.
func (s *Webhooks) Get(ctx context.Context, webhookID string) (Webhook, error) {
	return do(ctx, s.x, getWebhookRequest(webhookID), readWebhook)
}

// Archive disables a webhook. Doing it again changes nothing and succeeds.
func (s *Webhooks) Archive(ctx context.Context, webhookID string) error {
	return perform(ctx, s.x, archiveWebhookRequest(webhookID), nil)
}

// Unarchive enables a webhook again. Doing it again changes nothing and
// succeeds.
func (s *Webhooks) Unarchive(ctx context.Context, webhookID string) error {
	return perform(ctx, s.x, unarchiveWebhookRequest(webhookID), nil)
}

// List returns one page of webhooks, archived ones included, without their
// secrets.
func (s *Webhooks) List(ctx context.Context, params ListWebhooksParams) (WebhookPage, error) {
	return do(ctx, s.x, listWebhooksRequest(params), readWebhookPage)
}

// All iterates over the items of List, from params.Page on. See Pagination in
// the package documentation.
func (s *Webhooks) All(
	ctx context.Context, params ListWebhooksParams, opts ...IterOption,
) iter.Seq2[WebhookSummary, error] {
	return paginate(ctx, s.x, readWebhookPage, params.Page, opts, func(page int64) request {
		params := params
		params.Page = page
		return listWebhooksRequest(params)
	})
}

func (p WebhookPage) items() ([]WebhookSummary, Pagination) { return p.Data, p.Pagination }
