package control

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/engine"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/inprocess"
	"example.com/emailplatform/mockserver/internal/samples"
	"example.com/emailplatform/mockserver/internal/schema"
	"example.com/emailplatform/mockserver/internal/signature"
	"example.com/emailplatform/mockserver/model"
	"example.com/emailplatform/webhook"
)

// logRoutes returns the routes for events, deliveries and requests.
func (c *Control) logRoutes() []route {
	return []route{
		listRoute("GET events", c.events()),
		handle("GET events/{id}", byID(c.event)),
		handle("POST events", jsonBody(c.sendEvent)),
		handle("GET samples", noInput(listSamples)),
		handle("POST verify", jsonBody(verify)),
		listRoute("GET deliveries", c.deliveries()),
		handle("GET deliveries/{id}", byID(c.delivery)),
		handle("GET deliveries/{id}/body", rawResponse("text/plain", c.serveDeliveryBody)),
		handle("POST deliveries/{id}/redeliver", byID(c.redeliver)),
		listRoute("GET requests", c.requests()),
		handle("GET requests/{id}", byID(c.request)),
		handle("POST requests/{id}/resend", optional(noInput(c.resend))),
	}
}

func (c *Control) events() listing[*model.FiredEvent, delivery.EventSummary] {
	return listing[*model.FiredEvent, delivery.EventSummary]{
		find: everyOf(c.Deliveries.NewestEvents),
		id:   func(e *model.FiredEvent) string { return e.ID },
		text: func(to []byte, e *model.FiredEvent) []byte {
			return contract.AppendUnescaped(lines(to, e.ID, e.EventID, e.MessageID, e.Recipient, e.Subject), e.Body)
		},
		record: func(e *model.FiredEvent) delivery.EventSummary { return delivery.EventSummary{FiredEvent: *e} },
		filters: []filter[*model.FiredEvent]{
			whereAccount("the account of the events", func(e *model.FiredEvent) int64 { return e.AccountID }),
			where(eventName("the name of the event"), func(e *model.FiredEvent) string { return string(e.Event) }),
			where(text("message_id", "the id of the related message"), func(e *model.FiredEvent) string { return e.MessageID }),
		},
	}
}

func (c *Control) event(id string) (*model.FiredEvent, error) {
	events := c.Deliveries.Events(func(e *model.FiredEvent) bool { return e.ID == id })
	if len(events) == 0 {
		return nil, apierror.NotFound("event", id, "path", "id")
	}
	return &events[0], nil
}

type sampleList struct {
	Data []model.Sample `json:"data" doc:"the samples, ordered by event and variant"`
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
	HashFunction webhook.HashFunction `json:"hash_function,omitzero" doc:"the hash function for the signature, if url is set; by default the server's configured hash function"`
	AccountID    int64                `json:"account_id,omitzero" min:"1" doc:"the account of the delivery, if url is set; by default it has no account"`
}

func (c *Control) sendEvent(_ *request, in eventBody) (*delivery.Details, error) {
	if (in.WebhookID == "") == (in.URL == "") {
		return nil, apierror.Invalid("must contain either webhook_id, or url and secret", "body", "webhook_id")
	}
	if in.WebhookID != "" {
		if in.AccountID != 0 {
			return nil, apierror.Invalid("must not be set with webhook_id", "body", "account_id")
		}
		id, err := c.Deliveries.Send(in.WebhookID, in.Body)
		if err != nil {
			return nil, apierror.NotFound("webhook", in.WebhookID, "body", "webhook_id")
		}
		return c.delivery(id)
	}
	if _, err := contract.ParseURL(in.URL); err != nil {
		return nil, apierror.Invalid(err.Error(), "body", "url")
	}
	secret, err := webhook.ParseSecret(in.Secret, string(cmp.Or(in.HashFunction, c.Platform.Hash)))
	if err != nil {
		return nil, apierror.Invalid(strings.TrimPrefix(err.Error(), "webhook: "), "body", "secret")
	}
	id, err := c.SendEventTo(in.AccountID, in.URL, secret, in.Body)
	if errors.Is(err, engine.ErrNoAccount) {
		return nil, apierror.NotFound("account", in.AccountID, "body", "account_id")
	}
	if err != nil {
		return nil, err
	}
	return c.delivery(id)
}

type signatureBody struct {
	Body         string               `json:"body" doc:"the exact body of the delivery"`
	Secret       string               `json:"secret,omitzero" doc:"the secret of the webhook"`
	HashFunction webhook.HashFunction `json:"hash_function,omitzero" doc:"the hash function of the webhook; the default is sha256"`
	Signature    string               `json:"signature,omitzero" doc:"the signature in the header of the delivery"`
}

type signatureVerdict struct {
	Valid  bool   `json:"valid" doc:"whether the signature is valid"`
	Reason string `json:"reason" doc:"the reason in one line; empty if the signature is valid"`
}

func verify(_ *request, in signatureBody) (signatureVerdict, error) {
	secret, err := webhook.ParseSecret(in.Secret, string(in.HashFunction))
	if err != nil {
		return signatureVerdict{Reason: strings.TrimPrefix(err.Error(), "webhook: ")}, nil
	}
	reason := signature.Diagnose(secret, []byte(in.Body), in.Signature)
	return signatureVerdict{reason == "", reason}, nil
}

func (c *Control) deliveries() listing[delivery.Stored, delivery.Summary] {
	return listing[delivery.Stored, delivery.Summary]{
		find: every(c.Deliveries.NewestDeliveries),
		id:   func(dlv delivery.Stored) string { return dlv.ID },
		text: func(to []byte, dlv delivery.Stored) []byte {
			to = lines(to, dlv.ID, dlv.EventID, string(dlv.Event), dlv.MessageID, dlv.Recipient, dlv.Subject, dlv.URL, string(dlv.State))
			return contract.AppendUnescaped(to, dlv.Body)
		},
		record: delivery.Stored.Summary,
		filters: []filter[delivery.Stored]{
			whereAccount("the account of the webhook", func(dlv delivery.Stored) int64 { return dlv.AccountID }),
			where(choice("state", "the state of the deliveries", schema.Texts(delivery.States())...), func(dlv delivery.Stored) string { return string(dlv.State) }),
			where(eventName("the name of an API event; use `search` for custom events"), func(dlv delivery.Stored) string { return string(dlv.Event) }),
			where(text("webhook_id", "the id of the webhook"), func(dlv delivery.Stored) string { return dlv.WebhookID }),
		},
	}
}

func (c *Control) delivery(id string) (*delivery.Details, error) {
	return found("delivery", id, c.Deliveries.Details(id))
}

func (c *Control) redeliver(id string) (*delivery.Details, error) {
	if _, err := c.delivery(id); err != nil {
		return nil, err
	}
	if err := c.Deliveries.Redeliver(id); err != nil {
		return nil, conflict(err, "path", "id")
	}
	return c.delivery(id)
}

func (c *Control) serveDeliveryBody(w http.ResponseWriter, r *request) error {
	dlv, err := c.delivery(r.PathValue("id"))
	if err == nil {
		writePlain(w, dlv.Body)
	}
	return err
}

func (c *Control) requests() listing[*model.Request, gateway.RequestSummary] {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
	status := text("status", "the HTTP status of the response, such as 404 or 4xx; 0 means that the connection was lost")
	schema.SetPattern(status.schema, "status")
	return listing[*model.Request, gateway.RequestSummary]{
		find: everyOf(func() []*model.Request { return c.Gateway.Log.Newest() }),
		id:   func(e *model.Request) string { return e.ID },
		text: func(to []byte, e *model.Request) []byte {
			return contract.AppendUnescaped(lines(to, e.ID, e.Method, e.Path, e.Query, e.Operation, strconv.Itoa(e.Status)), e.Body)
		},
		record: func(e *model.Request) gateway.RequestSummary { return gateway.SummaryOf(*e) },
		filters: []filter[*model.Request]{
			whereAccount("the account that sent the requests", func(e *model.Request) int64 { return e.AccountID }),
			where(choice("operation", "an `operationId` of the API", contract.OperationIDs()...), func(e *model.Request) string { return e.Operation }),
			where(choice("method", "the HTTP method", methods...), func(e *model.Request) string { return e.Method }),
			{status, func(want string, e *model.Request) bool {
				got := strconv.Itoa(e.Status)
				return want == got || strings.EqualFold(want, got[:1]+"xx")
			}},
		},
	}
}

func (c *Control) request(id string) (*gateway.RequestDetails, error) {
	return found("request", id, c.Gateway.Log.Details(id))
}

// resend sends a logged request again, and returns the record of the new request. The log
// does not contain tokens. Therefore, resend uses any token with the same user and the same
// permissions, or no token if there is none. If a fault rule closes the connection or delays
// the end of the response, resend does not find the record, so it returns nil.
func (c *Control) resend(r *request) (*gateway.RequestDetails, error) {
	old, err := c.request(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if len(old.Body) >= gateway.MaxLoggedBody {
		return nil, apierror.Conflict("invalid_state", "the log contains only the beginning of the body", "path", "id")
	}
	again, err := http.NewRequestWithContext(r.Context(), old.Method, "http://"+r.Host+old.Path+"?"+old.Query, bytes.NewReader(old.Body))
	if err != nil {
		return nil, conflict(err, "path", "id")
	}
	again.Header.Set("Content-Type", "application/json")
	if token, ok := c.Auth.WithRights(old.Request); ok {
		again.Header.Set("Authorization", "Bearer "+token.Value)
	}
	res, err := inprocess.Transport{Handler: c.Gateway}.RoundTrip(again)
	if err != nil {
		return nil, r.Context().Err()
	}
	return c.Gateway.Log.Details(res.Header.Get("X-Request-Id")), res.Body.Close()
}
