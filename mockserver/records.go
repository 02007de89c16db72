package mockserver

import "example.com/emailplatform/mockserver/record"

// Types for the data of a server. Package record declares these types and
// documents their fields.
type (
	// Request is a request to the API.
	Request = record.Request
	// Message is a sent email, with the content that the recipient received.
	Message = record.Message
	// Header is a header field of a message.
	Header = record.Header
	// Text is a byte slice that JSON encodes as a string.
	Text = record.Text
	// FiredEvent is an event that happened in an account.
	FiredEvent = record.FiredEvent
	// Delivery is the record of an event that is sent to a webhook.
	Delivery = record.Delivery
	// DeliveryState is the state of a delivery.
	DeliveryState = record.DeliveryState
	// Attempt is one attempt of a [Delivery], with the response or error.
	Attempt = record.Attempt
)

// The states of deliveries.
const (
	DeliveryQueued    = record.DeliveryQueued    // waiting for the webhook or its rate limit
	DeliveryInFlight  = record.DeliveryInFlight  // being attempted now
	DeliveryRetrying  = record.DeliveryRetrying  // failed, and will be retried
	DeliveryDelivered = record.DeliveryDelivered // the receiver responded with 2xx
	DeliveryFailed    = record.DeliveryFailed    // failed, and will not be retried
	DeliveryDropped   = record.DeliveryDropped   // dropped by a fault rule; no attempt was made
)

// Requests returns the latest requests to the API, oldest first. It returns at
// most 10,000 requests with at most 32 MiB in total.
func (s *Server) Requests() []Request { return s.env.API.Log.All() }

// Outbox returns the sent messages of every sending type from all accounts,
// oldest first. It does not contain rejected emails.
func (s *Server) Outbox() []Message { return s.env.Platform.Outbox() }

// OutboxTo returns the messages in the outbox that were sent to an address,
// oldest first. Letter case is ignored.
func (s *Server) OutboxTo(address string) []Message { return s.env.Platform.OutboxTo(address) }

// DeleteMessage removes a message from the outbox. The API still returns the
// deleted email, and its events and deliveries remain. DeleteMessage returns an
// error if the message does not exist.
func (s *Server) DeleteMessage(id string) error { return s.env.Platform.DeleteMessage(id) }

// RestoreMessage restores a deleted message to its position in the outbox. It
// returns an error if no deleted message has this id.
func (s *Server) RestoreMessage(id string) error { return s.env.Platform.RestoreMessage(id) }

// Deliveries returns the past and pending deliveries to webhooks, in the order
// their events fired.
func (s *Server) Deliveries() []Delivery { return s.env.Deliveries.Deliveries() }

// Events returns the latest 10,000 events, oldest first. Events without a
// subscribed webhook are included only if [Config.RecordEvents] is set.
func (s *Server) Events() []FiredEvent {
	return s.env.Deliveries.Events(func(*FiredEvent) bool { return true })
}
