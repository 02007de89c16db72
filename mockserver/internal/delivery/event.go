package delivery

import (
	"encoding/json"
	"slices"

	"example.com/emailplatform/events"
)

// Event is an event of an account that is delivered to webhooks.
type Event struct {
	AccountID int64
	MessageID string // the message that it is about
	Recipient string // the address that it is about
	Subject   string // of the message
	Name      events.Name
	ID        string // the general envelope has none
	What      events.Event
	Body      []byte // made of What when nil
}

// encode returns the body of the deliveries, which is the same for every
// attempt.
func (e *Event) encode() {
	if e.Body != nil {
		return
	}
	body, err := json.Marshal(e.What)
	if err != nil { // it holds nothing that could fail
		panic("mockserver: event " + string(e.Name) + ": " + err.Error())
	}
	e.Body = body
}

// ownEvent returns the event for a body of a test.
func ownEvent(account int64, body []byte) *Event {
	var name struct {
		ID    string      `json:"id"`
		Event events.Name `json:"event"`
	}
	_ = json.Unmarshal(body, &name) // it may be anything
	out := &Event{AccountID: account, Name: name.Event, ID: name.ID, Body: slices.Clone(body)}
	if what, err := events.Parse(body); err == nil {
		out.Recipient = what.Recipient()
	}
	return out
}
