// Package record declares the data that goes into and comes out of a mock server:
// messages, requests, events and deliveries, fault rules, samples of events, and
// access tokens. Package mockserver has the same types under the same names, which
// is how tests write them; they are declared here so that all parts of the mock
// server can share them.
//
// The JSON of these types is that of the control routes, which show durations
// beside it: duration_ms, delay_ms.
package record

import (
	"encoding/json"
	"slices"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/markup"
)

// Request is a request to the API.
type Request struct {
	ID        string        `json:"id"` // the header X-Request-Id of the response
	Time      time.Time     `json:"time"`
	Duration  time.Duration `json:"-"` // 0 if the system's clock is too coarse
	Method    string        `json:"method"`
	Path      string        `json:"path"`
	Query     string        `json:"query,omitzero"`
	Operation string        `json:"operation,omitzero"` // the operationId; empty if no operation matches
	AccountID int64         `json:"account_id,omitzero"`
	Status    int           `json:"status"`          // of the response, as the client got it; 0 if the connection was lost
	Fault     string        `json:"fault,omitzero"`  // the id of the fault rule that was applied
	Body      Text          `json:"body,omitzero"`   // up to 64 KiB
	Answer    Text          `json:"answer,omitzero"` // the body of an error response, up to 4 KiB
	// UnknownMembers and UnknownParameters are what the OpenAPI document does not
	// define, and the platform would ignore: places in the body such as lits_id or
	// contacts[].emial, and names in the query. At most 20 are kept.
	UnknownMembers    []string `json:"unknown_members,omitzero"`
	UnknownParameters []string `json:"unknown_parameters,omitzero"`
}

// Message is an email that was sent, as its recipient received it.
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
	// Confirmation is true for the confirmation email of a double opt-in.
	Confirmation       bool                  `json:"confirmation,omitzero"`
	Status             string                `json:"status"` // delivered or bounced
	BounceCategory     events.BounceCategory `json:"bounce_category,omitzero"`
	Opens              int64                 `json:"opens"`
	Clicks             int64                 `json:"clicks"`
	Unsubscribed       bool                  `json:"unsubscribed"`
	GlobalUnsubscribed bool                  `json:"global_unsubscribed"`
	ReportedAsSpam     bool                  `json:"reported_as_spam"`
}

// Links returns the targets of the links in the message's HTML.
func (m Message) Links() []string {
	return slices.DeleteFunc(markup.Targets(m.HTML), func(target string) bool { return target == "" })
}

// Header is a header field of a message.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Text is bytes of text. JSON shows them as a string.
type Text []byte

// MarshalText implements [encoding.TextMarshaler].
func (t Text) MarshalText() ([]byte, error) { return t, nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (t *Text) UnmarshalText(b []byte) error {
	*t = slices.Clone(b)
	return nil
}

// FiredEvent is an event that happened in an account.
type FiredEvent struct {
	ID        string    `json:"id"` // in the log of events
	Time      time.Time `json:"time"`
	Event     string    `json:"event"`
	EventID   string    `json:"event_id,omitzero"` // of the event itself; the general envelope has none
	AccountID int64     `json:"account_id"`
	MessageID string    `json:"message_id,omitzero"` // the message that the event is about, if any
	Recipient string    `json:"recipient,omitzero"`  // the address that the event is about, if any
	Subject   string    `json:"subject,omitzero"`    // of the message
	Body      Text      `json:"body"`                // as it is delivered
	// Deliveries are the ids of its deliveries, one for each webhook that
	// subscribed to it.
	Deliveries []string `json:"deliveries"`
}

// Delivery is the delivery of an event to a webhook.
type Delivery struct {
	ID          string        `json:"id"`
	EventID     string        `json:"event_id,omitzero"` // empty in the general envelope, which has none
	Event       string        `json:"event"`
	MessageID   string        `json:"message_id,omitzero"` // the message that the event is about, if any
	Recipient   string        `json:"recipient,omitzero"`  // the address that the event is about, if any
	Subject     string        `json:"subject,omitzero"`    // of the message
	AccountID   int64         `json:"account_id"`
	WebhookID   string        `json:"webhook_id"`
	URL         string        `json:"url"`
	Body        Text          `json:"body"`      // the same bytes in each attempt
	Signature   string        `json:"signature"` // the header X-Service-Signature
	State       DeliveryState `json:"state"`
	Attempts    []Attempt     `json:"attempts"`
	CreatedAt   time.Time     `json:"created_at"`
	NextAttempt time.Time     `json:"next_attempt,omitzero"` // set while the delivery waits for this time
	Fault       string        `json:"fault,omitzero"`        // the id of the fault rule that was applied
}

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states of deliveries.
const (
	DeliveryQueued    DeliveryState = "queued"     // to be attempted as soon as the webhook and its rate limit allow
	DeliveryInFlight  DeliveryState = "delivering" // being attempted now
	DeliveryRetrying  DeliveryState = "retrying"   // failed, and will be retried
	DeliveryDelivered DeliveryState = "delivered"  // the receiver responded with 2xx
	DeliveryFailed    DeliveryState = "failed"     // failed, and will not be retried
	DeliveryDropped   DeliveryState = "dropped"    // lost by a fault; no attempt was made
)

// Attempt is one attempt to deliver an event.
type Attempt struct {
	Time     time.Time     `json:"time"`
	Duration time.Duration `json:"-"`                 // 0 if the system's clock is too coarse
	Status   int           `json:"status,omitzero"`   // of the response; 0 if there was none
	Response string        `json:"response,omitzero"` // the first 4 KiB of the response body
	Error    string        `json:"error,omitzero"`
	Manual   bool          `json:"manual,omitzero"` // requested by Redeliver
}

// Sample is an example of an event, from the OpenAPI document, with a new id and
// the current time.
type Sample struct {
	// Event is the name of the event, such as Email.Bounced.
	Event string `json:"event"`
	// Variant distinguishes the samples of one event: campaign, workflow_trigger,
	// email_api and so on, or default.
	Variant string `json:"variant"`
	// Summary is a short description of what happened.
	Summary string `json:"summary"`
	// Body is what is delivered, as compact JSON.
	Body json.RawMessage `json:"body"`
}

// Token is an access token with its user and account. Requests with it act for
// the user and see the account's resources only.
type Token struct {
	// Token is the secret text that requests carry; "dev-token" if empty.
	Token string
	// UserID and UserEmail name the user in events. The defaults are 1 and
	// "user@example.com".
	UserID    int64
	UserEmail string
	// AccountID is the account; 1 if zero.
	AccountID int64
	// ReadOnly rejects every request that changes something with 403.
	ReadOnly bool
	// ExpiresIn is how long the token is valid: from the creation of the server or
	// the seed that added the token, and again from each reset or clear. After that,
	// requests get 401. 0 is forever; a negative token has expired.
	ExpiresIn time.Duration
}
