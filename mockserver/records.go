package mockserver

import (
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/record"
)

// Request is a request that the API got.
type Request struct {
	ID        string        `json:"id"` // as in the header X-Request-Id of the answer
	Time      time.Time     `json:"time"`
	Duration  time.Duration `json:"-"` // duration_ms of the control routes
	Method    string        `json:"method"`
	Path      string        `json:"path"`
	Query     string        `json:"query,omitzero"`
	Operation string        `json:"operation,omitzero"` // the operationId; empty if no operation takes such a request
	AccountID int64         `json:"account_id,omitzero"`
	Status    int           `json:"status"`          // as the client got it; 0 if the connection was lost
	Fault     string        `json:"fault,omitzero"`  // the id of the fault that hit it
	Body      Text          `json:"body,omitzero"`   // up to 64 KiB
	Answer    Text          `json:"answer,omitzero"` // of an error, up to 4 KiB
	// UnknownMembers and UnknownParameters are what the API's document does not
	// know, which the platform would leave unread: places in the body such as
	// lits_id or contacts[].emial, and names in the query. There are 20 at the most.
	UnknownMembers    []string `json:"unknown_members,omitzero"`
	UnknownParameters []string `json:"unknown_parameters,omitzero"`
}

// Requests returns the requests that the API has answered, the oldest first:
// the latest 10,000, and no more than 32 MiB of them.
func (s *Server) Requests() []Request {
	return each(s.env.API.Log.All(), func(r record.Request) Request { return Request(r) })
}

// Message is an email that was sent, as its recipient got it.
type Message struct {
	ID         string             `json:"id"`
	SentBy     events.SendingType `json:"sent_by"`
	AccountID  int64              `json:"account_id"`
	Time       time.Time          `json:"time"` // to the second
	FromName   string             `json:"from_name,omitzero"`
	FromEmail  string             `json:"from_email"`
	To         string             `json:"to"`
	Subject    string             `json:"subject"`
	HTML       string             `json:"html,omitzero"`
	Text       string             `json:"text,omitzero"`
	Headers    []Header           `json:"headers"`
	Type       string             `json:"type,omitzero"` // marketing or transactional, of the Email API
	TemplateID int64              `json:"template_id,omitzero"`
	ListID     int64              `json:"list_id,omitzero"`
	ContactID  int64              `json:"contact_id,omitzero"`
	CampaignID int64              `json:"campaign_id,omitzero"`
	WorkflowID int64              `json:"workflow_id,omitzero"`
	// Confirmation says that this is the confirmation email of a double opt-in.
	Confirmation bool `json:"confirmation,omitzero"`
	// What became of it.
	Status             string                `json:"status"` // delivered or bounced
	BounceCategory     events.BounceCategory `json:"bounce_category,omitzero"`
	Opens              int64                 `json:"opens"`
	Clicks             int64                 `json:"clicks"`
	Unsubscribed       bool                  `json:"unsubscribed"`
	GlobalUnsubscribed bool                  `json:"global_unsubscribed"`
	ReportedAsSpam     bool                  `json:"reported_as_spam"`
}

// Text is bytes that are text: JSON shows them as a string.
type Text = record.Text

// Header is a header field of a message.
type Header = struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Links returns the targets of the links in the message's HTML.
func (m Message) Links() []string { return record.Message(m).Links() }

// Outbox returns the messages that were sent, of all accounts and all sending
// types, the oldest first. Submissions that were refused are not among them.
func (s *Server) Outbox() []Message {
	return each(s.env.Platform.Outbox(), func(m record.Message) Message { return Message(m) })
}

// OutboxTo returns the messages of the outbox to an address, compared without
// case, the oldest first.
func (s *Server) OutboxTo(address string) []Message {
	return each(s.env.Platform.OutboxTo(address), func(m record.Message) Message { return Message(m) })
}

// DeleteMessage takes a message out of the outbox: [Server.Outbox] and the console
// show it no longer. The API goes on answering what became of the email, and its
// events and deliveries stay. It is an error if there is no such message.
func (s *Server) DeleteMessage(id string) error { return s.env.Platform.DeleteMessage(id) }

// Delivery is one event on its way to one webhook.
type Delivery struct {
	ID          string        `json:"id"`
	EventID     string        `json:"event_id,omitzero"` // empty in the general envelope, which has none
	Event       string        `json:"event"`
	MessageID   string        `json:"message_id,omitzero"` // the message that the event is about, if it is about one
	Recipient   string        `json:"recipient,omitzero"`  // the address that it is about, if there is one
	Subject     string        `json:"subject,omitzero"`    // of the message
	AccountID   int64         `json:"account_id"`
	WebhookID   string        `json:"webhook_id"`
	URL         string        `json:"url"`
	Body        Text          `json:"body"`      // the same bytes in each attempt
	Signature   string        `json:"signature"` // the header X-Service-Signature
	State       DeliveryState `json:"state"`
	Attempts    []Attempt     `json:"attempts"`
	CreatedAt   time.Time     `json:"created_at"`
	NextAttempt time.Time     `json:"next_attempt,omitzero"` // set while it waits for a time
	Fault       string        `json:"fault,omitzero"`        // the id of the fault that hit it
}

// DeliveryState is where a delivery stands. It is a string.
type DeliveryState = record.DeliveryState

// The states of deliveries.
const (
	DeliveryQueued    DeliveryState = record.DeliveryQueued    // to be attempted as soon as the webhook and its rate limit allow
	DeliveryInFlight  DeliveryState = record.DeliveryInFlight  // being attempted now
	DeliveryRetrying  DeliveryState = record.DeliveryRetrying  // failed, and will be attempted again
	DeliveryDelivered DeliveryState = record.DeliveryDelivered // answered with 2xx
	DeliveryFailed    DeliveryState = record.DeliveryFailed    // given up
	DeliveryDropped   DeliveryState = record.DeliveryDropped   // lost by a fault; no attempt was made
)

// Attempt is one attempt to deliver an event.
type Attempt = struct {
	Time     time.Time     `json:"time"`
	Duration time.Duration `json:"-"`                 // duration_ms of the control routes
	Status   int           `json:"status,omitzero"`   // of the answer; 0 if there was none
	Response string        `json:"response,omitzero"` // the first 4 KiB of the answer's body
	Error    string        `json:"error,omitzero"`
	Manual   bool          `json:"manual,omitzero"` // asked for by Redeliver
}

// Deliveries returns what was delivered to webhooks or is to be, in the order
// in which the events fired.
func (s *Server) Deliveries() []Delivery {
	return each(s.env.Deliveries.Deliveries(), func(d record.Delivery) Delivery { return Delivery(d) })
}

// FiredEvent is an event that happened in an account.
type FiredEvent struct {
	ID        string    `json:"id"` // in this journal
	Time      time.Time `json:"time"`
	Event     string    `json:"event"`
	EventID   string    `json:"event_id,omitzero"` // of the event itself; the general envelope has none
	AccountID int64     `json:"account_id"`
	MessageID string    `json:"message_id,omitzero"` // the message that it is about, if it is about one
	Recipient string    `json:"recipient,omitzero"`  // the address that it is about, if there is one
	Subject   string    `json:"subject,omitzero"`    // of the message
	Body      Text      `json:"body"`                // as it is delivered
	// Deliveries are the ids of its deliveries, one for each webhook that
	// subscribed to it.
	Deliveries []string `json:"deliveries"`
}

// Events returns the events that fired, the oldest first: the latest 10,000.
// Those that no webhook hears are among them only with [Config.RecordEvents].
func (s *Server) Events() []FiredEvent {
	all := s.env.Deliveries.Events(func(*record.FiredEvent) bool { return true })
	return each(all, func(e record.FiredEvent) FiredEvent { return FiredEvent(e) })
}

// each converts a slice: the types of this package say the same as those inside,
// and the compiler sees to it that they have the same fields.
func each[In, Out any](in []In, convert func(In) Out) []Out {
	out := make([]Out, len(in))
	for i, v := range in {
		out[i] = convert(v)
	}
	return out
}
