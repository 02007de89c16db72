package platform

import (
	"cmp"
	"strconv"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/delivery"
)

func (t *tx) webhook(id string) (*delivery.Webhook, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != id {
		return nil, apierror.NotFound("webhook", id, "path", "webhook_id")
	}
	return t.account.Webhooks.find(n, "webhook", "path", "webhook_id")
}

func (t *tx) createWebhook(r api.CreateWebhookRequestObject) (api.CreateWebhookResponseObject, error) {
	h, err := t.newHook(*r.Body)
	if err != nil {
		return nil, err
	}
	t.account.Webhooks.add(h.ID, h)
	t.p.Deliveries.Open(*h)
	return api.CreateWebhook201JSONResponse(hookWire(h)), nil
}

func (t *tx) newHook(in api.WebhookCreate) (*delivery.Webhook, error) {
	if _, err := contract.ParseURL(in.URL); err != nil {
		return nil, apierror.Invalid(err.Error(), "body", "url")
	}
	h := &delivery.Webhook{
		ID:        t.newID(),
		AccountID: t.account.ID,
		URL:       in.URL,
		RateLimit: in.RateLimit,
		Period:    string(in.RateLimitPeriod),
		Secret:    cmp.Or(t.fixed.Secret, newSecret()),
		Hash:      cmp.Or(t.fixed.Hash, t.p.Hash),
	}
	seen := map[string]bool{} // a request can contain a million names
	for _, name := range in.Events {
		if !seen[name] {
			seen[name] = true
			h.Events = append(h.Events, name)
		}
	}
	if h.RateLimit != 0 && h.Period == "" {
		h.Period = string(api.RateLimitPeriodHour)
	}
	return h, nil
}

// listWebhooks implements GET /webhooks. The result includes archived webhooks.
func (t *tx) listWebhooks(r api.ListWebhooksRequestObject) (api.ListWebhooksResponseObject, error) {
	data, pagination, err := pageOf(t.account.Webhooks.inOrder, r.Params.Page, r.Params.PerPage, r.Params.WithCount, hookSummary)
	return api.ListWebhooks200JSONResponse{Data: data, Pagination: pagination}, err
}

func (t *tx) getWebhook(r api.GetWebhookRequestObject) (api.GetWebhookResponseObject, error) {
	h, err := t.webhook(r.WebhookID)
	if err != nil {
		return nil, err
	}
	out := hookWire(h)
	out.HashFunction = string(h.Hash)
	return api.GetWebhook200JSONResponse(out), nil
}

func (t *tx) archiveWebhook(r api.ArchiveWebhookRequestObject) (api.ArchiveWebhookResponseObject, error) {
	return api.ArchiveWebhook204Response{}, t.archive(r.WebhookID, true)
}

func (t *tx) unarchiveWebhook(r api.UnarchiveWebhookRequestObject) (api.UnarchiveWebhookResponseObject, error) {
	return api.UnarchiveWebhook204Response{}, t.archive(r.WebhookID, false)
}

func (t *tx) archive(id string, archived bool) error {
	h, err := t.webhook(id)
	if err != nil {
		return err
	}
	if h.Archived == archived {
		return nil
	}
	t.account.Webhooks.edit(h.ID).Archived = archived
	t.p.Deliveries.Archive(h.ID, archived)
	return nil
}
