package mockserver

import (
	"fmt"

	"example.com/emailplatform/mockserver/internal/samples"
	"example.com/emailplatform/mockserver/model"
)

// Types for the data of a server. Package model declares these types and
// documents their fields.
type (
	// Request is a request to the API.
	Request = model.Request
	// Message is a sent email, with the content that the recipient received.
	Message = model.Message
	// Finding is a probable problem in a message, such as a merge tag without a value.
	Finding = model.Finding
	// Header is a header field of a message.
	Header = model.Header
	// Text is a byte slice that JSON encodes as a string.
	Text = model.Text
	// FiredEvent is an event that happened in an account.
	FiredEvent = model.FiredEvent
	// Delivery records the delivery of an event to a webhook.
	Delivery = model.Delivery
	// DeliveryState is the state of a delivery.
	DeliveryState = model.DeliveryState
	// Attempt is one attempt at a [Delivery], with the response or error.
	Attempt = model.Attempt
)

// The states of deliveries.
const (
	DeliveryQueued     = model.DeliveryQueued     // waiting for the webhook or its rate limit
	DeliveryDelivering = model.DeliveryDelivering // an attempt is in progress
	DeliveryRetrying   = model.DeliveryRetrying   // failed, and will be retried
	DeliveryDelivered  = model.DeliveryDelivered  // the receiver responded with 2xx
	DeliveryFailed     = model.DeliveryFailed     // failed, and will not be retried
	DeliveryDropped    = model.DeliveryDropped    // dropped by a fault rule; no attempt was made
)

// Requests returns the latest requests to the API, oldest first. It returns at
// most 10,000 requests with at most 32 MiB in total.
func (s *Server) Requests() []Request { return s.engine.Gateway.Log.All() }

// Outbox returns the sent messages of every sending type from all accounts,
// oldest first. It does not contain rejected emails.
func (s *Server) Outbox() []Message { return s.engine.Platform.Outbox() }

// OutboxTo returns the messages in the outbox that were sent to an address,
// oldest first. Letter case is ignored.
func (s *Server) OutboxTo(address string) []Message { return s.engine.Platform.OutboxTo(address) }

// Checks returns the probable problems in a message. It returns an error if the message
// does not exist or was deleted.
func (s *Server) Checks(messageID string) ([]Finding, error) {
	found, ok := s.engine.Platform.Checks(messageID)
	if !ok {
		return nil, prefixed("check the message", fmt.Errorf("message %q does not exist", messageID))
	}
	return found, nil
}

// DeleteMessage removes a message from the outbox. The API still returns the deleted
// email, and its events and deliveries remain. If the message does not exist,
// DeleteMessage returns an error.
func (s *Server) DeleteMessage(messageID string) error {
	return prefixed("delete the message", s.engine.Platform.DeleteMessage(messageID))
}

// RestoreMessage restores a deleted message to its original position in the
// outbox. It returns an error if no deleted message has this id.
func (s *Server) RestoreMessage(messageID string) error {
	return prefixed("restore the message", s.engine.Platform.RestoreMessage(messageID))
}

// Deliveries returns the past and pending deliveries to webhooks, oldest event
// first.
func (s *Server) Deliveries() []Delivery { return s.engine.Deliveries.Deliveries() }

// Events returns the latest 10,000 events, oldest first. Events without a
// subscribed webhook are included only if [Config.RecordEvents] is set.
func (s *Server) Events() []FiredEvent {
	return s.engine.Deliveries.Events(func(*FiredEvent) bool { return true })
}

// Sample is an example of an event. For the fields, see [model.Sample].
type Sample = model.Sample

// Samples returns an example of every event and payload in the specification,
// ordered by event and variant. To test a receiver, send the samples with
// [Server.SendEvent].
func Samples() ([]Sample, error) {
	all, err := samples.All()
	return all, prefixed("list the samples", err)
}
