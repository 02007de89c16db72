package control

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/samples"
	"example.com/emailplatform/mockserver/internal/signature"
	"example.com/emailplatform/mockserver/record"
	"example.com/emailplatform/webhook"
)

func (c *Control) eventRoutes() section {
	return section{
		title: "Events",
		routes: []route{
			handle("GET events", noInput(c.events),
				"Events, with the ids of their deliveries. The `mockserver` command records all events. In a Go test, the server "+
					"records events without a subscribed webhook only if `Config.RecordEvents` is set.").
				filters(
					ofAccount("the account of the events"),
					eventName("the name of the event"),
					text("message_id", "the id of the related message"),
				).
				try(example{query: "event=Email.Bounced"}),
			handle("GET events/{id}", byID(c.event), "An event with its body."),
			handle("POST events", jsonBody(c.sendEvent),
				"Sends an event with the given body, and returns the delivery. With `webhook_id`, the server delivers the event to "+
					"this webhook. With `url`, the server signs the event with `secret` and makes one attempt to deliver it.").
				try(example{body: `{"url":"http://127.0.0.1:9000/hook","secret":"s3cr3t","body":{"event":"Email.Opened","data":{}}}`}),
			handle("GET samples", noInput(listSamples), "A sample of each variant of each event. To send a sample, "+
				"change its body as needed and use `POST /_mock/events`."),
			handle("POST verify", jsonBody(verify),
				"Verifies the signature of a delivery. If the signature is invalid, `reason` describes the error or its "+
					"probable cause.").
				try(example{body: `{"body":"{}","secret":"s3cr3t","hash_function":"sha256","signature":"AAAA"}`}),
		},
	}
}

func (c *Control) events(r *request) (recordList[delivery.EventSummary], error) {
	q := listQueryOf(r)
	newest := c.Deliveries.NewestEvents()
	return list(q, len(newest), slices.Values(newest), view[*record.FiredEvent, delivery.EventSummary]{
		id: func(e *record.FiredEvent) string { return e.ID },
		allowed: func(e *record.FiredEvent) bool {
			return q.allowsAccount(e.AccountID) && q.allows("event", string(e.Event)) && q.allows("message_id", e.MessageID)
		},
		text: func(to []byte, e *record.FiredEvent) []byte {
			return append(lines(to, e.ID, e.EventID, e.MessageID, e.Recipient, e.Subject), e.Body...)
		},
		record: func(e *record.FiredEvent) delivery.EventSummary { return delivery.EventSummary{FiredEvent: *e} },
	}), nil
}

func (c *Control) event(id string) (*record.FiredEvent, error) {
	found := c.Deliveries.Events(func(e *record.FiredEvent) bool { return e.ID == id })
	if len(found) == 0 {
		return nil, problem.NotFound("event", id, "path", "id")
	}
	return &found[0], nil
}

type sampleList struct {
	Data []record.Sample `json:"data" doc:"the samples, ordered by event and variant"`
}

func listSamples(*request) (sampleList, error) {
	all, err := samples.All()
	return sampleList{all}, err
}

type eventBody struct {
	Body         json.RawMessage      `json:"body" doc:"the body of the event; any JSON"`
	WebhookID    string               `json:"webhook_id,omitzero" doc:"the id of the webhook; required unless url is set"`
	URL          string               `json:"url,omitzero" doc:"the http or https URL that receives the event; not valid with webhook_id"`
	Secret       string               `json:"secret,omitzero" doc:"the signing secret; required if url is set"`
	HashFunction webhook.HashFunction `json:"hash_function,omitzero" doc:"the hash function for the signature, if url is set; by default the configured hash function of the server"`
}

func (c *Control) sendEvent(_ *request, in eventBody) (*delivery.Record, error) {
	switch {
	case (in.WebhookID == "") == (in.URL == ""):
		return nil, problem.Invalid("must contain either webhook_id, or url and secret", "body", "webhook_id")
	case in.URL != "" && !platform.IsWebURL(in.URL):
		return nil, problem.Invalid("must be an absolute http or https URL", "body", "url")
	}
	if in.WebhookID != "" {
		id, err := c.Deliveries.Send(in.WebhookID, in.Body)
		if err != nil {
			return nil, problem.NotFound("webhook", in.WebhookID, "body", "webhook_id")
		}
		return c.delivery(id)
	}
	secret, err := webhook.ParseSecret(in.Secret, string(cmp.Or(in.HashFunction, c.Platform.Hash)))
	if err != nil {
		return nil, problem.Invalid(strings.TrimPrefix(err.Error(), "webhook: "), "body", "secret")
	}
	id, err := c.SendEventTo(in.URL, secret, in.Body)
	if err != nil {
		return nil, err
	}
	return c.delivery(id)
}

type signatureBody struct {
	Body         string               `json:"body" doc:"the exact body of the delivery"`
	Secret       string               `json:"secret,omitzero" doc:"the secret of the webhook"`
	HashFunction webhook.HashFunction `json:"hash_function,omitzero" doc:"the hash function of the webhook; the default is sha256"`
	Signature    string               `json:"signature,omitzero" doc:"the X-Service-Signature header of the delivery"`
}

type verdict struct {
	Valid  bool   `json:"valid" doc:"whether the signature is valid"`
	Reason string `json:"reason" doc:"the reason why the signature is invalid, in one line; empty if the signature is valid"`
}

func verify(_ *request, in signatureBody) (verdict, error) {
	secret, err := webhook.ParseSecret(in.Secret, string(in.HashFunction))
	if err != nil {
		return verdict{Reason: strings.TrimPrefix(err.Error(), "webhook: ")}, nil
	}
	reason := signature.Diagnose(secret, []byte(in.Body), in.Signature)
	return verdict{reason == "", reason}, nil
}
