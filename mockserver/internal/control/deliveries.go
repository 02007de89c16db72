package control

import (
	"net/http"

	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/record"
)

// deliveryRoutes are how events reach webhooks.
func (c *Control) deliveryRoutes() section {
	return section{
		title: "Deliveries",
		routes: []route{
			{
				pattern: "GET deliveries",
				does:    "What was delivered to webhooks or is to be, with every attempt.",
				query: listed(
					ofAccount("the account of the webhook"),
					choice("state", "where they stand", named(deliveryStates())...),
					param{name: "event", means: "a name of an event of the API; others are found by `search`", values: eventNames},
					text("webhook_id", "the webhook"),
				),
				handler: answering(c.deliveries),
				example: example{query: "state=failed&event=Email.Bounced"},
			},
			{
				pattern: "GET deliveries/{id}",
				does:    "A delivery with its body and signature, and the webhook's secret and hash function.",
				handler: answering(c.delivery),
			},
			{
				pattern: "GET deliveries/{id}/body",
				does:    "The exact bytes that are delivered.",
				handler: serving("text/plain", c.serveDeliveryBody),
			},
			{
				pattern: "POST deliveries/{id}/redeliver",
				does:    "Puts a delivery into its queue once more, whatever became of it; 409 while it is being attempted.",
				handler: answering(c.redeliver),
			},
		},
	}
}

// deliveryStates are where a delivery can stand.
func deliveryStates() []record.DeliveryState {
	return []record.DeliveryState{
		record.DeliveryQueued, record.DeliveryInFlight, record.DeliveryRetrying, record.DeliveryDelivered,
		record.DeliveryFailed, record.DeliveryDropped,
	}
}

func (c *Control) deliveries(r *request) (recordList[delivery.Summary], error) {
	q := listQueryOf(r)
	n, newest := c.Deliveries.NewestDeliveries()
	return list(q, n, func(yield func(row[delivery.Summary]) bool) {
		for x, summary := range newest {
			wanted := q.allowsAccount(x.AccountID) && q.allows("state", string(x.State)) &&
				q.allows("event", x.Event) && q.allows("webhook_id", x.WebhookID)
			text := func() []string {
				return []string{x.ID, x.EventID, x.Event, x.MessageID, x.Recipient, x.Subject, x.URL, string(x.State), string(x.Body)}
			}
			if !yield(row[delivery.Summary]{x.ID, wanted, text, summary}) {
				return
			}
		}
	}), nil
}

func (c *Control) delivery(r *request) (*delivery.Record, error) {
	return c.deliveryRecord(r.PathValue("id"))
}

func (c *Control) deliveryRecord(id string) (*delivery.Record, error) {
	out := c.Deliveries.Record(id)
	if out == nil {
		return nil, problem.NotFound("delivery", id, "path", "id")
	}
	return out, nil
}

func (c *Control) serveDeliveryBody(w http.ResponseWriter, r *request) {
	x, err := c.deliveryRecord(r.PathValue("id"))
	if err != nil {
		gateway.WriteError(w, r.Request, err)
		return
	}
	writePlain(w, x.Body)
}

func (c *Control) redeliver(r *request) (*delivery.Record, error) {
	id := r.PathValue("id")
	if _, err := c.deliveryRecord(id); err != nil {
		return nil, err
	}
	if err := c.Deliveries.Redeliver(id); err != nil {
		return nil, refused(err, "path", "id")
	}
	return c.deliveryRecord(id)
}
