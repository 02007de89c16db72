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
	Duration  time.Duration `json:"duration_ns"`
	Method    string        `json:"method"`
	Path      string        `json:"path"`
	Query     string        `json:"query,omitzero"`
	Operation string        `json:"operation,omitzero"` // the operationId; empty if no operation takes such a request
	AccountID int64         `json:"account_id,omitzero"`
	Status    int           `json:"status"`          // as the client got it; 0 if the connection was lost
	Fault     string        `json:"fault,omitzero"`  // the id of the fault that hit it
	Body      Text          `json:"body,omitzero"`   // up to 64 KiB
	Answer    Text          `json:"answer,omitzero"` // of an error, up to 4 KiB
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

// Links returns the targets of the links in the message's HTML.
func (m Message) Links() []string { return record.Message(m).Links() }

// Delivery is one event on its way to one webhook.
type Delivery struct {
	ID          string        `json:"id"`
	EventID     string        `json:"event_id,omitzero"` // empty in the general envelope, which has none
	Event       string        `json:"event"`
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

// FiredEvent is an event that happened in an account.
type FiredEvent struct {
	ID        string    `json:"id"` // in this journal
	Time      time.Time `json:"time"`
	Event     string    `json:"event"`
	EventID   string    `json:"event_id,omitzero"` // of the event itself; the general envelope has none
	AccountID int64     `json:"account_id"`
	MessageID string    `json:"message_id,omitzero"` // the message that it is about, if it is about one
	Body      Text      `json:"body"`                // as it is delivered
	// Deliveries are the ids of its deliveries, one for each webhook that
	// subscribed to it.
	Deliveries []string `json:"deliveries"`
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
