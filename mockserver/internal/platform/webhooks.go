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

func (t *tx) webhook(id string) (*hook, error) {
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
		t.account.listen(h, 1)
		p.deliveries.Open(h.Webhook)
		return api.CreateWebhook201JSONResponse(h.wire()), nil
	})
}

func (p *Platform) newHook(in api.WebhookCreate) (*hook, error) {
	if !IsWebURL(in.URL) {
		return nil, problem.Invalid("want an absolute http or https URL", "body", "url")
	}
	if len(in.Events) == 0 {
		return nil, problem.Invalid("want one event or more", "body", "events")
	}
	h := &hook{delivery.Webhook{URL: in.URL, RateLimit: in.RateLimit, Period: string(in.RateLimitPeriod), Hash: p.options.Hash}}
	for i, name := range in.Events {
		if !name.Valid() {
			return nil, problem.Invalid("no such event", "body", "events", i)
		}
		if !slices.Contains(h.Events, string(name)) {
			h.Events = append(h.Events, string(name))
		}
	}
	if in.RateLimit < 0 {
		return nil, problem.Invalid("want 1 or more", "body", "rate_limit")
	}
	if in.RateLimitPeriod != "" && !in.RateLimitPeriod.Valid() {
		return nil, problem.Invalid("want second, minute, hour or day", "body", "rate_limit_period")
	}
	if h.RateLimit != 0 && h.Period == "" {
		h.Period = string(api.RateLimitPeriodHour)
	}
	h.Secret = newSecret()
	return h, nil
}

// ListWebhooks implements GET /webhooks, archived ones included.
func (p *Platform) ListWebhooks(
	ctx context.Context, r api.ListWebhooksRequestObject,
) (api.ListWebhooksResponseObject, error) {
	page, err := paging(r.Params.Page, r.Params.PerPage, r.Params.WithCount)
	if err != nil {
		return nil, err
	}
	return do(ctx, p, func(t *tx) (api.ListWebhooksResponseObject, error) {
		data, pagination := pageOf(page, t.account.Webhooks.all, (*hook).summary)
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
		out := h.wire()
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
	if archived {
		t.account.listen(h, -1)
	} else {
		t.account.listen(h, 1)
	}
	t.p.deliveries.Archive(h.ID, archived)
	return nil
}
