package delivery

import (
	"encoding/json"
	"slices"

	"example.com/emailplatform/events"
)

// Event is an event of an account that is delivered to webhooks.
type Event struct {
	AccountID int64
	MessageID string // id of the message of the event
	Recipient string // recipient of that message
	Subject   string // subject of that message
	Name      events.Name
	ID        string // the general envelope has none
	What      events.Event
	Body      []byte // if nil, encode creates it from What
}

// encode returns the body of the deliveries, which is the same for every
// attempt.
func (e *Event) encode() {
	if e.Body != nil {
		return
	}
	body, err := json.Marshal(e.What)
	if err != nil { // events can always be encoded
		panic("mockserver: event " + string(e.Name) + ": " + err.Error())
	}
	e.Body = body
}

// ownEvent returns an event with a body that a test provides.
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
