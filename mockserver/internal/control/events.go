package control

import (
	"encoding/json"
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/address"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/record"
	"example.com/emailplatform/mockserver/internal/samples"
	"example.com/emailplatform/mockserver/internal/signature"
	"example.com/emailplatform/webhook"
)

func (c *Control) events(r *http.Request) (any, error) {
	q, err := listQueryOf(r)
	if err != nil {
		return nil, err
	}
	return q.list(func(yield func(row) bool) {
		for e := range c.Deliveries.NewestEvents() {
			wanted := q.allowsAccount(e.AccountID) && q.allows("event", e.Event) && q.allows("message_id", e.MessageID)
			text := func() []string { return []string{e.ID, e.EventID, e.MessageID, string(e.Body)} }
			if !yield(row{e.ID, wanted, text, func() any { return delivery.EventSummary{FiredEvent: *e} }}) {
				return
			}
		}
	}), nil
}

func (c *Control) event(r *http.Request) (any, error) {
	id := r.PathValue("id")
	if found := c.Deliveries.Events(func(e *record.FiredEvent) bool { return e.ID == id }); len(found) > 0 {
		return found[0], nil
	}
	return nil, problem.NotFound("event", id, "path", "id")
}

func listSamples(*http.Request) (any, error) {
	all, err := samples.All()
	return map[string]any{"data": all}, err
}

// sendEvent sends an event of the caller's own.
func (c *Control) sendEvent(r *http.Request) (any, error) {
	in, err := bodyOf[struct {
		Body         json.RawMessage `json:"body"`
		WebhookID    string          `json:"webhook_id"`
		URL          string          `json:"url"`
		Secret       string          `json:"secret"`
		HashFunction webhook.Hash    `json:"hash_function"`
	}](r)
	switch {
	case err != nil:
		return nil, err
	case len(in.Body) == 0:
		return nil, problem.New(http.StatusUnprocessableEntity, "missing", "required", "body", "body")
	case (in.WebhookID == "") == (in.URL == ""):
		return nil, problem.Invalid("want either webhook_id, or url and secret", "body", "webhook_id")
	case in.URL != "" && !address.HTTP(in.URL):
		return nil, problem.Invalid("want an absolute http or https URL", "body", "url")
	case in.URL != "" && strings.TrimSpace(in.Secret) == "":
		return nil, problem.Invalid("want the secret to sign with", "body", "secret")
	}
	var id string
	if in.WebhookID != "" {
		if id, err = c.Deliveries.Send(in.WebhookID, in.Body); err != nil {
			return nil, problem.NotFound("webhook", in.WebhookID, "body", "webhook_id")
		}
	} else if id, err = c.SendEventTo(in.URL, webhook.Secret{Key: in.Secret, Hash: in.HashFunction}, in.Body); err != nil {
		return nil, problem.Invalid("want sha256 or sha512", "body", "hash_function")
	}
	return c.deliveryRecord(id)
}

// verify judges a signature.
func verify(r *http.Request) (any, error) {
	in, err := bodyOf[struct {
		Body         string       `json:"body"`
		Secret       string       `json:"secret"`
		HashFunction webhook.Hash `json:"hash_function"`
		Signature    string       `json:"signature"`
	}](r)
	if err != nil {
		return nil, err
	}
	reason := signature.Diagnose(webhook.Secret{Key: in.Secret, Hash: in.HashFunction}, []byte(in.Body), in.Signature)
	return map[string]any{"valid": reason == "", "reason": reason}, nil
}
