package delivery

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// Event is an event in an account, for delivery to webhooks.
type Event struct {
	AccountID int64
	MessageID string // id of the message that the event refers to
	Recipient string // recipient of that message
	Subject   string // subject of that message
	Name      events.Name
	ID        string // empty in the general envelope
	What      events.Event
	Body      []byte // set by encode, or the body that a test provides
}

// encode sets the body for all deliveries of the event.
func (e *Event) encode() {
	body, err := json.Marshal(e.What)
	if err != nil { // encoding an event never fails
		panic("mockserver: event " + string(e.Name) + ": " + err.Error())
	}
	e.Body = body
}

// ownEvent returns an event with the given body.
func ownEvent(account int64, body []byte) *Event {
	var name struct {
		ID    string      `json:"id"`
		Event events.Name `json:"event"`
	}
	_ = json.Unmarshal(body, &name) // the body may be invalid
	out := &Event{AccountID: account, Name: name.Event, ID: name.ID, Body: slices.Clone(body)}
	if what, err := events.Parse(body); err == nil {
		out.Recipient = what.Recipient()
	}
	return out
}

// Send queues a delivery of the given body to a webhook, and returns the id of the
// delivery. It returns an error if the webhook does not exist.
func (d *Engine) Send(webhookID string, body []byte) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, _ := strconv.ParseInt(webhookID, 10, 64) // no webhook has the id 0
	q := d.queues[id]
	if q == nil || q.once {
		return "", fmt.Errorf("mockserver: no webhook %q", webhookID)
	}
	return d.pushLocked(q, ownEvent(q.hook.AccountID, body)), nil
}

// SendTo attempts once to deliver a body to a URL without a webhook.
func (d *Engine) SendTo(url string, secret webhook.Secret, body []byte) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pushLocked(d.targetLocked(url, secret), ownEvent(0, body))
}

// targetLocked returns the queue for a URL without a webhook. The queue's id is
// negative, so no webhook has it.
func (d *Engine) targetLocked(to string, secret webhook.Secret) *queue {
	for _, q := range d.queues {
		if q.once && q.hook.URL == to && q.hook.Secret == secret.Reveal() && q.hook.Hash == secret.HashFunction() {
			return q
		}
	}
	d.lastTarget--
	q := newQueue(Webhook{ID: d.lastTarget, URL: to, Secret: secret.Reveal(), Hash: secret.HashFunction()}, d.history)
	q.once = true
	d.addLocked(q)
	return q
}
