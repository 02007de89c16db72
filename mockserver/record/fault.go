package record

import (
	"time"

	"example.com/emailplatform/events"
)

// Fault is a rule for fault injection: which requests, messages or deliveries it
// applies to, which of those it matches, and what it does to them. A rule without
// Nth, Every and Probability matches all.
type Fault struct {
	AccountID int64       `json:"account_id,omitzero" min:"1" doc:"the account of the requests, messages or deliveries; all accounts if omitted"`
	Operation string      `json:"operation,omitzero" doc:"an operationId of the API, such as submitEmail"`
	Method    string      `json:"method,omitzero" doc:"an HTTP method that an operation has, in upper case"`
	Path      string      `json:"path,omitzero" pattern:"path" doc:"a path; a segment that is * or in braces matches any one, as in /lists/{id}/contacts"`
	Event     events.Name `json:"event,omitzero" doc:"the event name of deliveries; * matches all"`
	WebhookID string      `json:"webhook_id,omitzero" min:"1" doc:"the webhook of deliveries"`

	Nth   int `json:"nth,omitzero" min:"1" max:"2147483647" doc:"matches the nth only, counted from 1"`
	Every int `json:"every,omitzero" min:"1" max:"2147483647" doc:"matches each one whose number is divisible by it"`
	// The same seed and the same order of requests give the same matches.
	Probability float64 `json:"probability,omitzero" above:"0" max:"1" doc:"matches at random, up to 1, which is always"`
	Times       int     `json:"times,omitzero" min:"0" max:"2147483647" doc:"ends the rule after this many matches; 0 is never"`

	Action FaultAction `json:"action" doc:"what happens; required"`
	// For FaultStatus, FaultReset, FaultHang, FaultNotJSON and FaultRedirect.
	AfterProcessing bool          `json:"after_processing,omitzero" doc:"processes the request first and then loses its response"`
	Delay           time.Duration `json:"-"` // a wait before anything else, at most 24 h
	Status          int           `json:"status,omitzero" min:"200" max:"599" doc:"HTTP status of the response, 200 to 599"`
	RetryAfter      string        `json:"retry_after,omitzero" pattern:"line" doc:"the header Retry-After, sent unchanged"`
	// The default is the error format of the API, or an HTML page for FaultNotJSON.
	Body     string `json:"body,omitzero" doc:"the body of the response, or the end of the error of internal_error; sent unchanged"`
	Location string `json:"location,omitzero" pattern:"line" doc:"the target of a redirect; the default is a host that does not exist"`
	Size     int64  `json:"size,omitzero" min:"0" max:"1073741824" doc:"the length of an oversized body in bytes, up to 1 GiB; 0 is 64 MiB"`
}

// FaultAction is what a rule does to the request, message or delivery that it
// matches.
type FaultAction string

// Actions on requests.
const (
	// FaultStatus responds with Status (503 if zero), RetryAfter and Body.
	FaultStatus FaultAction = "status"
	// FaultReset closes the connection without a response.
	FaultReset FaultAction = "reset"
	// FaultHang never responds; it ends when the client gives up.
	FaultHang FaultAction = "hang"
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

// FaultInternalError is for messages of the Email API: the submission ends in the
// status error and the event Email.Error, whose error ends with Body or, if that is
// empty, with a default text.
const FaultInternalError FaultAction = "internal_error"

// Actions on deliveries.
const (
	// FaultDrop loses the delivery: no attempt is made, and its state is dropped.
	FaultDrop FaultAction = "drop"
	// FaultDuplicate delivers the same bytes again after they were accepted.
	FaultDuplicate FaultAction = "duplicate"
	// FaultReorder holds the delivery back until the webhook's next one is queued
	// and puts it after that one, or until Delay (1 s if zero) has passed.
	FaultReorder FaultAction = "reorder"
)

// FaultDelay waits for Delay and then goes on as usual: with a request, or with a
// delivery if the rule has Event or WebhookID.
const FaultDelay FaultAction = "delay"

// FaultRule is a fault rule with its id and counts.
type FaultRule struct {
	ID string `json:"id" doc:"the id of the rule"`
	Fault
	Enabled bool `json:"enabled" doc:"false for a rule that is switched off: it neither counts nor matches"`
	Calls   int  `json:"calls" doc:"how many it applied to"`
	Hits    int  `json:"hits" doc:"how many it matched"`
}
