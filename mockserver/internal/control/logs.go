package control

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/gateway"
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
			handle("GET events/{id}", byID(c.event), "Returns an event with its body."),
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
	events := c.Deliveries.Events(func(e *record.FiredEvent) bool { return e.ID == id })
	if len(events) == 0 {
		return nil, problem.NotFound("event", id, "path", "id")
	}
	return &events[0], nil
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

func (c *Control) deliveryRoutes() section {
	return section{
		title: "Deliveries",
		routes: []route{
			handle("GET deliveries", noInput(c.deliveries),
				"Past and pending deliveries to webhooks, with all attempts.").
				filters(
					ofAccount("the account of the webhook"),
					choice("state", "the state of the deliveries", named(delivery.States())...),
					eventName("the name of an API event; use `search` for custom events"),
					text("webhook_id", "the id of the webhook"),
				).
				try(example{query: "state=failed&event=Email.Bounced"}),
			handle("GET deliveries/{id}", byID(c.delivery),
				"A delivery with its body and signature, and the secret and the hash function of the webhook."),
			handle("GET deliveries/{id}/body", rawResponse("text/plain", func(w http.ResponseWriter, r *request) error {
				x, err := c.delivery(r.PathValue("id"))
				if err == nil {
					writePlain(w, x.Body)
				}
				return err
			}),
				"The exact bytes of the delivery's body."),
			handle("POST deliveries/{id}/redeliver", byID(c.redeliver),
				"Queues a delivery in any state for another attempt. Returns 409 if an attempt is in progress."),
		},
	}
}

func (c *Control) deliveries(r *request) (recordList[delivery.Summary], error) {
	q := listQueryOf(r)
	n, newest := c.Deliveries.NewestDeliveries()
	return list(q, n, newest, view[delivery.Stored, delivery.Summary]{
		id: func(x delivery.Stored) string { return x.ID },
		allowed: func(x delivery.Stored) bool {
			return q.allowsAccount(x.AccountID) && q.allows("state", string(x.State)) && q.allows("event", string(x.Event)) &&
				q.allows("webhook_id", x.WebhookID)
		},
		text: func(to []byte, x delivery.Stored) []byte {
			to = lines(to, x.ID, x.EventID, string(x.Event), x.MessageID, x.Recipient, x.Subject, x.URL, string(x.State))
			return append(to, x.Body...)
		},
		record: delivery.Stored.Summary,
	}), nil
}

func (c *Control) delivery(id string) (*delivery.Record, error) {
	return found("delivery", id, c.Deliveries.Record(id))
}

func (c *Control) redeliver(id string) (*delivery.Record, error) {
	if _, err := c.delivery(id); err != nil {
		return nil, err
	}
	if err := c.Deliveries.Redeliver(id); err != nil {
		return nil, conflict(err, "path", "id")
	}
	return c.delivery(id)
}

func (c *Control) requestRoutes() section {
	return section{
		title: "Requests",
		intro: "The request log contains the latest 10,000 requests to the API, up to 32 MiB in total.",
		routes: []route{
			handle("GET requests", noInput(c.requests),
				"Requests to the API, with the status of each response.").
				filters(
					ofAccount("the account that sent the requests"),
					choice("operation", "an `operationId` of the API", contract.IDs()...),
					choice("method", "the HTTP method", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"),
					param{
						name: "status", doc: "the HTTP status of the response, such as 404 or 4xx; 0 means that the " +
							"connection was lost",
						pattern: regexp.MustCompile(`^([1-5]([0-9]{2}|[xX]{2})|0)$`), shape: "a status such as 404, a class such as 4xx, or 0",
					},
				).
				try(example{query: "operation=submitEmail&status=4xx"}),
			handle("GET requests/{id}", byID(c.request),
				"A request with its body. If the response is an error, the record also contains the response body. If no "+
					"operation matches the request, the record contains the most similar operation."),
		},
	}
}

func (c *Control) requests(r *request) (recordList[gateway.Summary], error) {
	q := listQueryOf(r)
	newest := c.API.Log.Newest()
	return list(q, len(newest), slices.Values(newest), view[*record.Request, gateway.Summary]{
		id: func(e *record.Request) string { return e.ID },
		allowed: func(e *record.Request) bool {
			return q.allowsAccount(e.AccountID) && q.allows("operation", e.Operation) && q.allows("method", e.Method) &&
				q.allowsStatus(e.Status)
		},
		text: func(to []byte, e *record.Request) []byte {
			return append(lines(to, e.ID, e.Method, e.Path, e.Query, e.Operation, strconv.Itoa(e.Status)), e.Body...)
		},
		record: func(e *record.Request) gateway.Summary { return gateway.SummaryOf(*e) },
	}), nil
}

func (c *Control) request(id string) (*gateway.Record, error) {
	return found("request", id, c.API.Log.Record(id))
}
