package record

import (
	"time"

	"example.com/emailplatform/events"
)

// Fault is a rule for fault injection. It contains conditions for requests,
// messages or deliveries, and an action. Nth, Every and Probability select some of
// the matches. Without these fields, the rule selects all matches.
type Fault struct {
	AccountID int64       `json:"account_id,omitzero" min:"1" doc:"the account of the requests, messages or deliveries; all accounts if omitted"`
	Operation string      `json:"operation,omitzero" doc:"the operationId of the requests, such as submitEmail"`
	Method    string      `json:"method,omitzero" doc:"the HTTP method of the requests, in upper case"`
	Path      string      `json:"path,omitzero" pattern:"path" doc:"the path of the requests, such as /lists/{id}/contacts; * or a name in braces matches any segment"`
	Event     events.Name `json:"event,omitzero" doc:"the event name of the deliveries; * matches all events"`
	WebhookID string      `json:"webhook_id,omitzero" min:"1" doc:"the id of the webhook that receives the deliveries"`

	Nth   int `json:"nth,omitzero" min:"1" max:"2147483647" doc:"selects only the match with this number; 1 is the first match"`
	Every int `json:"every,omitzero" min:"1" max:"2147483647" doc:"the interval between selections; 3 selects every third match"`
	// The same seed and the same order of requests select the same matches.
	Probability float64 `json:"probability,omitzero" above:"0" max:"1" doc:"the probability that the rule selects a match; 1 selects all matches"`
	Times       int     `json:"times,omitzero" min:"0" max:"2147483647" doc:"the maximum number of selections; 0 means no limit"`

	Action FaultAction `json:"action" doc:"the effect of the rule"`
	// For FaultStatus, FaultReset, FaultHang, FaultNotJSON and FaultRedirect.
	AfterProcessing bool          `json:"after_processing,omitzero" doc:"whether to process the request or delivery before the action; only for status, reset, hang, not_json and redirect"`
	Delay           time.Duration `json:"-"` // a delay before the action, at most 24 h
	Status          int           `json:"status,omitzero" min:"200" max:"599" doc:"HTTP status of the response; the default depends on the action"`
	RetryAfter      string        `json:"retry_after,omitzero" pattern:"line" doc:"the Retry-After header of the response, sent unchanged"`
	// The default is the error format of the API, or an HTML page for FaultNotJSON.
	Body     string `json:"body,omitzero" doc:"the body of the response, sent unchanged; for internal_error, the end of the error message"`
	Location string `json:"location,omitzero" pattern:"line" doc:"the target of a redirect; the default is a host that does not exist"`
	Size     int64  `json:"size,omitzero" min:"0" max:"1073741824" doc:"the size of an oversize body in bytes, up to 1 GiB; 0 means 64 MiB"`
}

// FaultAction is the action of a fault rule.
type FaultAction string

// Actions for requests, or for attempts of deliveries if the rule has Event or
// WebhookID. A selected attempt fails without a request to the receiver, unless
// AfterProcessing is set. The server then retries the delivery on the schedule.
// The rule counts each attempt.
const (
	// FaultStatus responds with Status (503 if zero), RetryAfter and Body. RetryAfter
	// does not apply to attempts.
	FaultStatus FaultAction = "status"
	// FaultReset closes the connection without a response.
	FaultReset FaultAction = "reset"
	// FaultHang does not respond until the client or the attempt times out.
	FaultHang FaultAction = "hang"
)

// Actions for requests.
const (
	// FaultTruncate processes the request and sends half of the response body.
	FaultTruncate FaultAction = "truncate"
	// FaultOversize processes the request and responds with a JSON object of Size
	// bytes.
	FaultOversize FaultAction = "oversize"
	// FaultNotJSON responds with Status (200 if zero) and an HTML page, or Body.
	FaultNotJSON FaultAction = "not_json"
	// FaultRedirect responds with Status (307 if zero) and Location.
	FaultRedirect FaultAction = "redirect"
)

// FaultInternalError applies to messages of the Email API. The status in the
// response is "error", and Email.Error fires. The error text in the event ends
// with Body, or with a default text if Body is empty.
const FaultInternalError FaultAction = "internal_error"

// Actions for deliveries.
const (
	// FaultDrop makes no attempt and sets the state of the delivery to dropped.
	FaultDrop FaultAction = "drop"
	// FaultDuplicate delivers the same bytes again after the receiver has
	// accepted them.
	FaultDuplicate FaultAction = "duplicate"
	// FaultReorder delays the delivery until after the next delivery of the
	// webhook, or until Delay (1 s if zero) has passed.
	FaultReorder FaultAction = "reorder"
)

// FaultDelay delays a request by Delay, or a delivery if the rule has Event or
// WebhookID.
const FaultDelay FaultAction = "delay"

// FaultRule is a fault rule with its id and counts.
type FaultRule struct {
	ID string `json:"id" doc:"the id of the rule"`
	Fault
	Enabled bool `json:"enabled" doc:"whether the rule is enabled; the server ignores disabled rules"`
	Calls   int  `json:"calls" doc:"the number of requests, messages, deliveries or delivery attempts that matched the rule"`
	Hits    int  `json:"hits" doc:"the number of matches that the action was applied to"`
}
