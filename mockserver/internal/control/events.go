package control

import (
	"encoding/json"
	"strings"

	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/samples"
	"example.com/emailplatform/mockserver/internal/signature"
	"example.com/emailplatform/mockserver/record"
	"example.com/emailplatform/webhook"
)

// eventRoutes are what fired, and events of the caller's own.
func (c *Control) eventRoutes() section {
	return section{
		title: "Events",
		routes: []route{
			{
				pattern: "GET events",
				does: "Events that fired, with their deliveries' ids; those that no webhook hears only with " +
					"`Config.RecordEvents`.",
				query: listed(
					ofAccount("the account in which they fired"),
					param{name: "event", means: "the event's name", values: eventNames},
					text("message_id", "the message that they are about"),
				),
				handler: answering(c.events),
				example: example{query: "event=Email.Bounced"},
			},
			{pattern: "GET events/{id}", does: "An event with its body.", handler: answering(c.event)},
			{
				pattern: "POST events",
				does: "Sends an event of your own, signed, and answers the delivery: to a webhook, or to a `url`, signed " +
					"with a `secret` and attempted once.",
				handler: taking(c.sendEvent),
				example: example{
					body: `{"url":"http://127.0.0.1:9000/hook","secret":"s3cr3t","body":{"event":"Email.Opened","data":{}}}`,
				},
			},
			{
				pattern: "GET samples",
				does:    "Every event in every shape, to edit and send.",
				handler: answering(listSamples),
			},
			{
				pattern: "POST verify",
				does: "Judges a signature: `reason` is empty for a right one, or else the mistake that gives this signature, " +
					"if it is a usual one.",
				handler: taking(verify),
				example: example{body: `{"body":"{}","secret":"s3cr3t","hash_function":"sha256","signature":"AAAA"}`},
			},
		},
	}
}

func (c *Control) events(r *request) (recordList[delivery.EventSummary], error) {
	q := listQueryOf(r)
	n, newest := c.Deliveries.NewestEvents()
	return list(q, n, func(yield func(row[delivery.EventSummary]) bool) {
		for _, e := range newest {
			wanted := q.allowsAccount(e.AccountID) && q.allows("event", e.Event) && q.allows("message_id", e.MessageID)
			text := func() []string { return []string{e.ID, e.EventID, e.MessageID, e.Recipient, e.Subject, string(e.Body)} }
			summary := func() delivery.EventSummary { return delivery.EventSummary{FiredEvent: *e} }
			if !yield(row[delivery.EventSummary]{e.ID, wanted, text, summary}) {
				return
			}
		}
	}), nil
}

func (c *Control) event(r *request) (*record.FiredEvent, error) {
	return c.eventRecord(r.PathValue("id"))
}

func (c *Control) eventRecord(id string) (*record.FiredEvent, error) {
	if found := c.Deliveries.Events(func(e *record.FiredEvent) bool { return e.ID == id }); len(found) > 0 {
		return &found[0], nil
	}
	return nil, problem.NotFound("event", id, "path", "id")
}

type sampleList struct {
	Data []record.Sample `json:"data" means:"ordered by event and variant"`
}

func listSamples(*request) (sampleList, error) {
	all, err := samples.All()
	return sampleList{all}, err
}

// eventBody is an event of the caller's own, and where it goes.
type eventBody struct {
	Body         json.RawMessage `json:"body" means:"what is delivered; it need not be an event"`
	WebhookID    string          `json:"webhook_id,omitzero" means:"the webhook, if it goes to one"`
	URL          string          `json:"url,omitzero" means:"where it goes otherwise, http or https"`
	Secret       string          `json:"secret,omitzero" means:"to sign with, for a URL"`
	HashFunction webhook.Hash    `json:"hash_function,omitzero" means:"to sign with, for a URL; that of the server if left out"`
}

// sendEvent sends an event of the caller's own.
func (c *Control) sendEvent(_ *request, in eventBody) (*delivery.Record, error) {
	switch {
	case (in.WebhookID == "") == (in.URL == ""):
		return nil, problem.Invalid("want either webhook_id, or url and secret", "body", "webhook_id")
	case in.URL != "" && !platform.IsWebURL(in.URL):
		return nil, problem.Invalid("want an absolute http or https URL", "body", "url")
	case in.URL != "" && strings.TrimSpace(in.Secret) == "":
		return nil, problem.Invalid("want the secret to sign with", "body", "secret")
	}
	var id string
	var err error
	if in.WebhookID != "" {
		if id, err = c.Deliveries.Send(in.WebhookID, in.Body); err != nil {
			return nil, problem.NotFound("webhook", in.WebhookID, "body", "webhook_id")
		}
	} else if id, err = c.SendEventTo(in.URL, webhook.Secret{Key: in.Secret, Hash: in.HashFunction}, in.Body); err != nil {
		return nil, problem.Invalid("want sha256 or sha512", "body", "hash_function")
	}
	return c.deliveryRecord(id)
}

type signatureBody struct {
	Body         string       `json:"body" means:"the exact bytes that were delivered"`
	Secret       string       `json:"secret,omitzero" means:"of the webhook"`
	HashFunction webhook.Hash `json:"hash_function,omitzero" means:"of the webhook; sha256 if left out"`
	Signature    string       `json:"signature,omitzero" means:"what came in the header X-Service-Signature"`
}

type verdict struct {
	Valid  bool   `json:"valid" means:"whether it is right"`
	Reason string `json:"reason" means:"why it is not, in a line"`
}

// verify judges a signature.
func verify(_ *request, in signatureBody) (verdict, error) {
	reason := signature.Diagnose(webhook.Secret{Key: in.Secret, Hash: in.HashFunction}, []byte(in.Body), in.Signature)
	return verdict{Valid: reason == "", Reason: reason}, nil
}
