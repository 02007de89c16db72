package mockserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/webhook"
)

// SendEvent delivers a body of your own to a webhook, signed with its secret,
// in its turn and with its retries like any other delivery. An archived
// webhook gets it once it is unarchived.
// The body need not be an event, nor JSON. It returns the id of the delivery.
func (s *Server) SendEvent(webhookID string, body []byte) (deliveryID string, err error) {
	d := s.platform.deliver
	d.mu.Lock()
	defer d.mu.Unlock()
	id, err := strconv.ParseInt(webhookID, 10, 64)
	q := d.queues[id]
	if err != nil || q == nil || q.once {
		return "", fmt.Errorf("mockserver: no webhook %q", webhookID)
	}
	return d.pushLocked(q, ownEvent(q.hook.AccountID, body)).ID, nil
}

// SendEventTo delivers a body of your own to a URL without a webhook, signed
// with the secret. It is attempted once. The same rules say which addresses
// may be reached as for webhooks.
func (s *Server) SendEventTo(to string, secret webhook.Secret, body []byte) (deliveryID string, err error) {
	if !absoluteHTTP(to) {
		return "", errors.New("mockserver: url: want an absolute http or https URL")
	}
	if secret.Hash == "" {
		secret.Hash = s.cfg.HashFunction
	}
	if _, err := webhook.NewVerifier(secret); err != nil { // it says what may sign
		return "", errors.New("mockserver: secret: want a key, and sha256 or sha512")
	}
	d := s.platform.deliver
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pushLocked(d.targetLocked(to, secret), ownEvent(0, body)).ID, nil
}

// ownEvent is what a test made up.
func ownEvent(account int64, body []byte) *event {
	var name struct {
		ID    string `json:"id"`
		Event string `json:"event"`
	}
	_ = json.Unmarshal(body, &name) // it may be anything
	return &event{account: account, name: name.Event, id: name.ID, body: slices.Clone(body)}
}

// targetLocked returns the queue to a URL that is no webhook's. Its id is one
// that no webhook has.
func (d *deliverer) targetLocked(to string, secret webhook.Secret) *queue {
	for _, q := range d.queues {
		if q.once && q.hook.URL == to && q.hook.Secret == secret.Key && q.hook.Hash == secret.Hash {
			return q
		}
	}
	d.lastTarget--
	q := &queue{hook: hook{ID: d.lastTarget, URL: to, Secret: secret.Key, Hash: secret.Hash}, once: true}
	d.queues[q.hook.ID] = q
	d.order = append(d.order, q)
	return q
}

// controlSend sends an event of the caller's own.
func (s *Server) controlSend(r *http.Request) (any, error) {
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
		return nil, fail(http.StatusUnprocessableEntity, "missing", "required", "body", "body")
	case (in.WebhookID == "") == (in.URL == ""):
		return nil, invalid("want either webhook_id, or url and secret", "body", "webhook_id")
	case in.URL != "" && !absoluteHTTP(in.URL):
		return nil, invalid("want an absolute http or https URL", "body", "url")
	case in.URL != "" && strings.TrimSpace(in.Secret) == "":
		return nil, invalid("want the secret to sign with", "body", "secret")
	}
	var id string
	if in.WebhookID != "" {
		if id, err = s.SendEvent(in.WebhookID, in.Body); err != nil {
			return nil, notFound("webhook", in.WebhookID, "body", "webhook_id")
		}
	} else if id, err = s.SendEventTo(in.URL, webhook.Secret{Key: in.Secret, Hash: in.HashFunction}, in.Body); err != nil {
		return nil, invalid("want sha256 or sha512", "body", "hash_function")
	}
	return s.deliveryRecord(id)
}
