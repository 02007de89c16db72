package control

import (
	"net/http"

	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/problem"
)

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
				"Queues a delivery in any state for another attempt. Returns 409 while an attempt is in progress."),
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
	out := c.Deliveries.Record(id)
	if out == nil {
		return nil, problem.NotFound("delivery", id, "path", "id")
	}
	return out, nil
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
