package client

import (
	"context"
	"fmt"
	"iter"
)

// WebhookStatus is the status of a webhook. The platform may add statuses.
type WebhookStatus string

// The known values of [WebhookStatus].
const (
	WebhookStatusActive   WebhookStatus = "active"
	WebhookStatusArchived WebhookStatus = "archived"
)

// Format implements [fmt.Formatter]. Without this method, verbs such as %s
// would print the secret in a pointer to a Webhook.
func (w Webhook) Format(f fmt.State, verb rune) {
	type plain Webhook
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), plain(w))
}

// Webhooks manages webhooks, which deliver events to a URL. You can archive a
// webhook, but not delete it. (Specification: Webhooks.)
type Webhooks struct{ x exchange }

// Create subscribes a URL to events. The result contains the secret for signing
// the deliveries. If the result contains no secret, call Get.
func (s *Webhooks) Create(ctx context.Context, webhook WebhookCreate) (Webhook, error) {
	return do(ctx, s.x, createWebhookRequest(webhook), readWebhook)
}

// Get returns a webhook with its secret and hash function. A field is zero if
// the platform does not return it.
func (s *Webhooks) Get(ctx context.Context, webhookID string) (Webhook, error) {
	return do(ctx, s.x, getWebhookRequest(webhookID), readWebhook)
}

// Archive disables a webhook. It is idempotent.
func (s *Webhooks) Archive(ctx context.Context, webhookID string) error {
	return perform(ctx, s.x, archiveWebhookRequest(webhookID), nil)
}

// Unarchive enables an archived webhook. It is idempotent.
func (s *Webhooks) Unarchive(ctx context.Context, webhookID string) error {
	return perform(ctx, s.x, unarchiveWebhookRequest(webhookID), nil)
}

// List returns one page of webhooks, including archived webhooks. The result does
// not contain secrets.
func (s *Webhooks) List(ctx context.Context, params ListWebhooksParams) (WebhookPage, error) {
	return do(ctx, s.x, listWebhooksRequest(params), readWebhookPage)
}

// All iterates over all items, starting at params.Page. See Pagination in the
// package documentation.
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
