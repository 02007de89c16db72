package platform

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/problem"
)

func (t *tx) webhook(id string) (*delivery.Webhook, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != id {
		return nil, problem.NotFound("webhook", id, "path", "webhook_id")
	}
	return t.account.Webhooks.find(n, "webhook", "path", "webhook_id")
}

// CreateWebhook implements POST /webhooks.
func (p *Platform) CreateWebhook(
	ctx context.Context, r api.CreateWebhookRequestObject,
) (api.CreateWebhookResponseObject, error) {
	h, err := p.newHook(*r.Body)
	if err != nil {
		return nil, err
	}
	return do(ctx, p, func(t *tx) (api.CreateWebhookResponseObject, error) {
		h.ID, h.AccountID = t.newID(), t.account.ID
		h.Secret, h.Hash = cmp.Or(t.fixed.Secret, h.Secret), cmp.Or(t.fixed.Hash, h.Hash)
		t.account.Webhooks.add(h.ID, h)
		p.deliveries.Open(*h)
		return api.CreateWebhook201JSONResponse(hookWire(h)), nil
	})
}

func (p *Platform) newHook(in api.WebhookCreate) (*delivery.Webhook, error) {
	if !IsWebURL(in.URL) {
		return nil, problem.Invalid("must be an absolute http or https URL", "body", "url")
	}
	h := &delivery.Webhook{
		URL: in.URL, RateLimit: in.RateLimit, Period: string(in.RateLimitPeriod), Secret: newSecret(), Hash: p.options.Hash,
	}
	for _, name := range in.Events {
		if !slices.Contains(h.Events, string(name)) {
			h.Events = append(h.Events, string(name))
		}
	}
	if h.RateLimit != 0 && h.Period == "" {
		h.Period = string(api.RateLimitPeriodHour)
	}
	return h, nil
}

// ListWebhooks implements GET /webhooks. The result includes archived webhooks.
func (p *Platform) ListWebhooks(
	ctx context.Context, r api.ListWebhooksRequestObject,
) (api.ListWebhooksResponseObject, error) {
	page, err := paging(r.Params.Page, r.Params.PerPage, r.Params.WithCount)
	if err != nil {
		return nil, err
	}
	return do(ctx, p, func(t *tx) (api.ListWebhooksResponseObject, error) {
		data, pagination := pageOf(page, t.account.Webhooks.len(), t.account.Webhooks.from, hookSummary)
		return api.ListWebhooks200JSONResponse{Data: data, Pagination: pagination}, nil
	})
}

// GetWebhook implements GET /webhooks/{webhook_id}.
func (p *Platform) GetWebhook(
	ctx context.Context, r api.GetWebhookRequestObject,
) (api.GetWebhookResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.GetWebhookResponseObject, error) {
		h, err := t.webhook(r.WebhookID)
		if err != nil {
			return nil, err
		}
		out := hookWire(h)
		out.HashFunction = string(h.Hash)
		return api.GetWebhook200JSONResponse(out), nil
	})
}

// ArchiveWebhook implements POST /webhooks/{webhook_id}/archive.
func (p *Platform) ArchiveWebhook(
	ctx context.Context, r api.ArchiveWebhookRequestObject,
) (api.ArchiveWebhookResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.ArchiveWebhookResponseObject, error) {
		return api.ArchiveWebhook204Response{}, t.archive(r.WebhookID, true)
	})
}

// UnarchiveWebhook implements POST /webhooks/{webhook_id}/unarchive.
func (p *Platform) UnarchiveWebhook(
	ctx context.Context, r api.UnarchiveWebhookRequestObject,
) (api.UnarchiveWebhookResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.UnarchiveWebhookResponseObject, error) {
		return api.UnarchiveWebhook204Response{}, t.archive(r.WebhookID, false)
	})
}

func (t *tx) archive(id string, archived bool) error {
	h, err := t.webhook(id)
	if err != nil {
		return err
	}
	if h.Archived == archived {
		return nil
	}
	h.Archived = archived
	t.p.deliveries.Archive(h.ID, archived)
	return nil
}
