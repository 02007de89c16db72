package control

import (
	"encoding/json"
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/address"

	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/signature"
	"example.com/emailplatform/webhook"
)

// controlSend sends an event of the caller's own.
func (s *Control) controlSend(r *http.Request) (any, error) {
	in, err := controlBody[struct {
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
		if id, err = s.Deliveries.Send(in.WebhookID, in.Body); err != nil {
			return nil, problem.NotFound("webhook", in.WebhookID, "body", "webhook_id")
		}
	} else if id, err = s.SendEventTo(in.URL, webhook.Secret{Key: in.Secret, Hash: in.HashFunction}, in.Body); err != nil {
		return nil, problem.Invalid("want sha256 or sha512", "body", "hash_function")
	}
	return s.deliveryRecord(id)
}

// controlVerify judges a signature.
func controlVerify(r *http.Request) (any, error) {
	in, err := controlBody[struct {
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
