package control

import (
	"net/http"

	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/problem"
)

func (c *Control) deliveries(r *http.Request) (any, error) {
	q, err := listQueryOf(r)
	if err != nil {
		return nil, err
	}
	return q.list(func(yield func(row) bool) {
		for x, summary := range c.Deliveries.NewestDeliveries() {
			wanted := q.allowsAccount(x.AccountID) && q.allows("state", string(x.State)) &&
				q.allows("event", x.Event) && q.allows("webhook_id", x.WebhookID)
			text := func() []string {
				return []string{x.ID, x.EventID, x.Event, x.URL, string(x.State), string(x.Body)}
			}
			if !yield(row{x.ID, wanted, text, func() any { return summary() }}) {
				return
			}
		}
	}), nil
}

func (c *Control) delivery(r *http.Request) (any, error) {
	return c.deliveryRecord(r.PathValue("id"))
}

func (c *Control) deliveryRecord(id string) (*delivery.Record, error) {
	out := c.Deliveries.Record(id)
	if out == nil {
		return nil, problem.NotFound("delivery", id, "path", "id")
	}
	return out, nil
}

func (c *Control) serveDeliveryBody(w http.ResponseWriter, r *http.Request) {
	x, err := c.deliveryRecord(r.PathValue("id"))
	if err != nil {
		gateway.AnswerError(w, r, err)
		return
	}
	writePlain(w, x.Body)
}

func (c *Control) redeliver(r *http.Request) (any, error) {
	id := r.PathValue("id")
	if _, err := c.deliveryRecord(id); err != nil {
		return nil, err
	}
	if err := c.Deliveries.Redeliver(id); err != nil {
		return nil, refused(err, "path", "id")
	}
	return c.deliveryRecord(id)
}
