package record

import "time"

// Fault is a rule for fault injection: which requests, messages or deliveries it
// applies to, which of those it matches, and what it does to them. A rule without
// Nth, Every and Probability matches all.
type Fault struct {
	// Operation is an operationId of the OpenAPI document, such as submitEmail.
	Operation string `json:"operation,omitzero"`
	// Method is an HTTP method that an operation has; case does not matter.
	Method string `json:"method,omitzero"`
	// Path is a path. A segment that is * or in braces matches any one segment:
	// /lists/*/contacts.
	Path string `json:"path,omitzero"`
	// Event is the event name of deliveries; * matches all.
	Event string `json:"event,omitzero"`
	// WebhookID is the webhook of deliveries.
	WebhookID string `json:"webhook_id,omitzero"`

	// Nth matches the nth only, counted from 1.
	Nth int `json:"nth,omitzero"`
	// Every matches each one whose number is divisible by it.
	Every int `json:"every,omitzero"`
	// Probability matches at random, from 0 to 1. The same seed and the same order
	// of requests give the same matches.
	Probability float64 `json:"probability,omitzero"`
	// Times ends the rule after this many matches; 0 is never.
	Times int `json:"times,omitzero"`

	// Action is what happens. It is required.
	Action FaultAction `json:"action"`
	// AfterActing processes the request first and then loses its response, for
	// FaultStatus, FaultReset, FaultHang, FaultNotJSON and FaultRedirect.
	AfterActing bool `json:"after_acting,omitzero"`
	// Delay is a wait before anything else; at most 24 h.
	Delay time.Duration `json:"-"`
	// Status is the HTTP status of the response, 200 to 599.
	Status int `json:"status,omitzero"`
	// RetryAfter is the header Retry-After, sent unchanged.
	RetryAfter string `json:"retry_after,omitzero"`
	// Body is the body of the response, sent unchanged. If it is empty, FaultStatus
	// responds in the error format of the API.
	Body string `json:"body,omitzero"`
	// Location is the target of FaultRedirect. If it is empty, the target is the same
	// path at a host that does not exist.
	Location string `json:"location,omitzero"`
	// Size is the length of an oversized body in bytes: 64 MiB if 0, at most 1 GiB.
	Size int64 `json:"size,omitzero"`
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

// FaultRule is a rule of the fault plan, with its counts.
type FaultRule struct {
	// ID identifies the rule.
	ID string `json:"id"`
	Fault
	// Enabled is false for a rule that is switched off: it neither counts nor matches.
	Enabled bool `json:"enabled"`
	// Calls counts what the rule applies to, Hits what it matched.
	Calls int `json:"calls"`
	Hits  int `json:"hits"`
}
