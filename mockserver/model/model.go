// Package model declares the data types of the mock server: messages, requests, events,
// deliveries, fault rules, samples and access tokens. Package mockserver has an alias
// for each type, so tests need not import this package.
//
// The struct tags describe the JSON of the control routes. This JSON also
// contains durations, in the fields duration_ms and delay_ms.
package model

import (
	"encoding/json"
	"slices"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/markup"
)

// Request is a request to the API.
type Request struct {
	ID                string        `json:"id" doc:"the X-Request-Id header of the response"`
	Time              time.Time     `json:"time" doc:"the time of the request"`
	Duration          time.Duration `json:"-"` // 0 if the system's clock is too coarse
	Method            string        `json:"method" doc:"the HTTP method"`
	Path              string        `json:"path" doc:"the path, as sent"`
	Query             string        `json:"query,omitzero" doc:"the query string, as sent"`
	Operation         string        `json:"operation,omitzero" doc:"the operationId; omitted if no operation matches the request"`
	AccountID         int64         `json:"account_id,omitzero" doc:"the account of the access token; omitted if the token is unknown"`
	UserID            int64         `json:"user_id,omitzero" doc:"the user of the access token; omitted if the token is unknown"`
	ReadOnly          bool          `json:"read_only,omitzero" doc:"whether the access token is read-only"`
	Status            int           `json:"status" doc:"the HTTP status of the response; 0 if the connection was lost"`
	Fault             string        `json:"fault,omitzero" doc:"the id of the fault rule that was applied"`
	Body              Text          `json:"body,omitzero" doc:"the body of the request, up to 64 KiB"`
	Response          Text          `json:"response,omitzero" doc:"the body of an error response, up to 4 KiB"`
	UnknownFields     []string      `json:"unknown_fields,omitzero" doc:"fields of the body that the API does not define, such as contacts[].emial, and unknown events, such as events[]: Email.Bouncd; at most 20"`
	UnknownParameters []string      `json:"unknown_parameters,omitzero" doc:"query parameters that the API does not define; at most 20"`
}

// Message is a sent email, with the content that the recipient received.
type Message struct {
	ID                 string                `json:"id" doc:"the id of the message"`
	SentBy             events.SendingType    `json:"sent_by" doc:"the sending type of the message"`
	AccountID          int64                 `json:"account_id" doc:"the account that sent the message"`
	Time               time.Time             `json:"time" doc:"when the message was sent, in whole seconds"`
	FromName           string                `json:"from_name,omitzero" doc:"the sender's name"`
	FromEmail          string                `json:"from_email" doc:"the sender's address"`
	To                 string                `json:"to" doc:"the recipient's address"`
	Subject            string                `json:"subject" doc:"the subject of the message"`
	HTML               string                `json:"html,omitzero" doc:"the HTML part that the recipient receives"`
	Text               string                `json:"text,omitzero" doc:"the text part that the recipient receives"`
	Headers            []Header              `json:"headers" doc:"additional header fields"`
	Type               string                `json:"type,omitzero" doc:"marketing or transactional; only for the Email API"`
	TemplateID         int64                 `json:"template_id,omitzero" doc:"the id of the template"`
	ListID             int64                 `json:"list_id,omitzero" doc:"the id of the recipient's list"`
	ContactID          int64                 `json:"contact_id,omitzero" doc:"the id of the recipient's contact"`
	CampaignID         int64                 `json:"campaign_id,omitzero" doc:"the id of the campaign that sent the message"`
	WorkflowID         int64                 `json:"workflow_id,omitzero" doc:"the id of the workflow that sent the message"`
	Confirmation       bool                  `json:"confirmation,omitzero" doc:"true for the confirmation email of a double opt-in"`
	Confirmed          bool                  `json:"confirmed,omitzero" doc:"whether the recipient has followed the link in the confirmation email"`
	Status             string                `json:"status" doc:"delivered or bounced; rejected or error if the message was not sent"`
	BounceCategory     events.BounceCategory `json:"bounce_category,omitzero" doc:"the category of the bounce"`
	Opens              int64                 `json:"opens" doc:"the number of opens"`
	Clicks             int64                 `json:"clicks" doc:"the number of clicks on links"`
	Unsubscribed       bool                  `json:"unsubscribed" doc:"whether the recipient unsubscribed from the list"`
	GlobalUnsubscribed bool                  `json:"global_unsubscribed" doc:"whether the recipient unsubscribed from all email"`
	ReportedAsSpam     bool                  `json:"reported_as_spam" doc:"whether the recipient reported the message as spam"`
}

// Links returns the targets of the links in the message's HTML, and then the HTTP URLs
// in its text that are not among them.
func (m Message) Links() []string {
	links := slices.DeleteFunc(markup.Targets(m.HTML), func(target string) bool { return target == "" })
	known := map[string]bool{}
	for _, link := range links {
		known[link] = true
	}
	for _, link := range markup.URLs(m.Text) {
		if !known[link] {
			links = append(links, link)
		}
		known[link] = true
	}
	return links
}

// Header is a header field of a message.
type Header struct {
	Name  string `json:"name" doc:"the name of the header field"`
	Value string `json:"value" doc:"the value of the header field"`
}

// Finding is a probable problem in a message, such as a merge tag without a value.
type Finding struct {
	Check string `json:"check" doc:"the name of the check: empty_tag, block_tag, dead_link, dead_image, line_break, no_text, no_unsubscribe, no_unsubscribe_link, clipped, no_alt or not_supported"`
	Text  string `json:"text" doc:"a description of the problem"`
}

// Text is a byte slice that JSON encodes as a string.
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
	ID         string      `json:"id" doc:"the id of the event in the event log"`
	Time       time.Time   `json:"time" doc:"the time of the event"`
	Event      events.Name `json:"event" doc:"the name of the event"`
	EventID    string      `json:"event_id,omitzero" doc:"the id in the body of the event; omitted in the general envelope"`
	AccountID  int64       `json:"account_id" doc:"the account of the event"`
	MessageID  string      `json:"message_id,omitzero" doc:"the id of the related message"`
	Recipient  string      `json:"recipient,omitzero" doc:"the email address in the event"`
	Subject    string      `json:"subject,omitzero" doc:"the subject of the related message"`
	Body       Text        `json:"body" doc:"the body of the event, as delivered"`
	Deliveries []string    `json:"deliveries" doc:"the ids of the deliveries, one for each subscribed webhook"`
}

// Delivery is the record of an event that is sent to a webhook.
type Delivery struct {
	ID          string        `json:"id" doc:"the id of the delivery"`
	EventID     string        `json:"event_id,omitzero" doc:"the id in the body of the event; omitted in the general envelope"`
	Event       events.Name   `json:"event" doc:"the name of the event"`
	MessageID   string        `json:"message_id,omitzero" doc:"the id of the related message"`
	Recipient   string        `json:"recipient,omitzero" doc:"the email address in the event"`
	Subject     string        `json:"subject,omitzero" doc:"the subject of the related message"`
	AccountID   int64         `json:"account_id" doc:"the account of the webhook"`
	WebhookID   string        `json:"webhook_id" doc:"the id of the webhook; empty if the event was sent to a URL without a webhook"`
	URL         string        `json:"url" doc:"the target URL"`
	Body        Text          `json:"body" doc:"the body, which is the same in each attempt"`
	Signature   string        `json:"signature" doc:"the signature in the header of the delivery"`
	State       DeliveryState `json:"state" doc:"the state of the delivery"`
	Attempts    []Attempt     `json:"attempts" doc:"the attempts, oldest first"`
	CreatedAt   time.Time     `json:"created_at" doc:"the time of the event"`
	NextAttempt time.Time     `json:"next_attempt,omitzero" doc:"the time of the next attempt; omitted if no attempt is scheduled"`
	Fault       string        `json:"fault,omitzero" doc:"the id of the fault rule that was applied"`
}

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states of deliveries.
const (
	DeliveryQueued     DeliveryState = "queued"     // waiting for the webhook or its rate limit
	DeliveryDelivering DeliveryState = "delivering" // an attempt is in progress
	DeliveryRetrying   DeliveryState = "retrying"   // failed, and will be retried
	DeliveryDelivered  DeliveryState = "delivered"  // the receiver responded with 2xx
	DeliveryFailed     DeliveryState = "failed"     // failed, and will not be retried
	DeliveryDropped    DeliveryState = "dropped"    // dropped by a fault rule; no attempt was made
)

// Attempt is one attempt at a [Delivery], with the response or error.
type Attempt struct {
	Time     time.Time     `json:"time" doc:"the time of the attempt"`
	Duration time.Duration `json:"-"` // 0 if the system's clock is too coarse
	Status   int           `json:"status,omitzero" doc:"the HTTP status of the response; omitted if there was no response"`
	Response string        `json:"response,omitzero" doc:"the first 4 KiB of the response body"`
	Error    string        `json:"error,omitzero" doc:"the reason why there was no response"`
	Manual   bool          `json:"manual,omitzero" doc:"whether a redelivery caused the attempt"`
}

// Sample is an example of an event, from the OpenAPI document, with a new id and
// the current time.
type Sample struct {
	Event   events.Name     `json:"event" doc:"the name of the event"`
	Variant string          `json:"variant" doc:"the variant, such as campaign or email_api; default means that the event has only one variant"`
	Summary string          `json:"summary" doc:"a summary of the sample"`
	Body    json.RawMessage `json:"body" doc:"the body of the event, with a new id and the current time"`
}

// Token is an access token with its user and account. A request with the token acts as
// the user, and has access only to the account's resources.
type Token struct {
	// Value is the secret text that requests contain. The default is "dev-token".
	Value string
	// UserID and UserEmail identify the user in events. The defaults are 1 and
	// "user@example.com".
	UserID    int64
	UserEmail string
	// AccountID is the account. The default is 1.
	AccountID int64
	// ReadOnly means that write requests return 403.
	ReadOnly bool
	// ExpiresIn is the lifetime of the token. It begins when the server is created or a
	// seed adds the token, and restarts with each reset or clear. When it ends, requests with
	// the token receive 401. 0 means that the token does not expire, and a negative value
	// means that it has already expired.
	ExpiresIn time.Duration
}

// Fault is a rule for fault injection. It has an action, and conditions that match
// requests, messages or deliveries. By default, the rule applies the action to all matches.
// If Nth, Every, Probability or Times is set, it applies the action to some of the matches.
type Fault struct {
	AccountID int64       `json:"account_id,omitzero" min:"1" doc:"the account of the requests, messages or deliveries; all accounts if omitted"`
	Operation string      `json:"operation,omitzero" doc:"the operationId of the requests, such as submitEmail"`
	Method    string      `json:"method,omitzero" doc:"the HTTP method of the requests, in upper case"`
	Path      string      `json:"path,omitzero" pattern:"path" doc:"the path of the requests, such as /lists/{id}/contacts; * or a name in braces matches any segment"`
	Event     events.Name `json:"event,omitzero" doc:"the event name of the deliveries; * matches all events"`
	WebhookID string      `json:"webhook_id,omitzero" min:"1" doc:"the id of the webhook that receives the deliveries"`

	Nth   int `json:"nth,omitzero" min:"1" max:"2147483647" doc:"applies the rule only to the match with this number; 1 is the first match"`
	Every int `json:"every,omitzero" min:"1" max:"2147483647" doc:"applies the rule to every nth match"`
	// With the same seed and order of requests, the rule applies to the same matches.
	Probability float64 `json:"probability,omitzero" above:"0" max:"1" doc:"the probability that the rule applies to a match"`
	Times       int     `json:"times,omitzero" min:"0" max:"2147483647" doc:"how often the rule applies at most; 0 means no limit"`

	Action          FaultAction   `json:"action" doc:"the effect of the rule"`
	AfterProcessing bool          `json:"after_processing,omitzero" doc:"whether to process the request or delivery before the action"`
	Delay           time.Duration `json:"-"` // a delay before the action, at most 24 h
	Status          int           `json:"status,omitzero" min:"200" max:"599" doc:"the HTTP status of the response; the default depends on the action"`
	RetryAfter      string        `json:"retry_after,omitzero" pattern:"line" doc:"the Retry-After header of the response, sent unchanged"`
	// The default is the error format of the API, or an HTML page for FaultNotJSON.
	Body     string `json:"body,omitzero" doc:"the body of the response, sent unchanged; for internal_error, the end of the error message"`
	Location string `json:"location,omitzero" pattern:"line" doc:"the target of a redirect; the default is a host that does not exist"`
	Size     int64  `json:"size,omitzero" min:"0" max:"1073741824" doc:"the size of an oversize body in bytes; 0 means 64 MiB"`
}

// FaultAction is the action of a fault rule. If the rule has Event or WebhookID, the
// actions [FaultStatus], [FaultReset] and [FaultHang] apply to delivery attempts instead of
// requests:
//
//   - The receiver gets the request of the attempt only if AfterProcessing is set.
//   - The attempt fails, unless the action is FaultStatus with a 2xx Status. After a failed
//     attempt, the server retries the delivery on the retry schedule.
//   - The rule counts each attempt, so a rule with Times 1 applies to only one attempt.
type FaultAction string

// FaultRule is a fault rule with its id and counts.
type FaultRule struct {
	ID string `json:"id" doc:"the id of the rule"`
	Fault
	Enabled bool `json:"enabled" doc:"whether the rule is enabled"`
	Matched int  `json:"matched" doc:"the number of requests, messages, deliveries or delivery attempts that matched the rule"`
	Applied int  `json:"applied" doc:"how often the rule was applied"`
}
