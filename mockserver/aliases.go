package mockserver

import (
	"time"

	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/record"
)

// What tests see.
type (
	Text          = record.Text
	Header        = record.Header
	Attempt       = record.Attempt
	DeliveryState = record.DeliveryState
)

// The states of deliveries.
const (
	DeliveryQueued    = record.DeliveryQueued
	DeliveryInFlight  = record.DeliveryInFlight
	DeliveryRetrying  = record.DeliveryRetrying
	DeliveryDelivered = record.DeliveryDelivered
	DeliveryFailed    = record.DeliveryFailed
	DeliveryDropped   = record.DeliveryDropped
)

// The plan of faults.
type FaultAction = fault.Action

// What can happen.
const (
	FaultStatus        = fault.Status
	FaultReset         = fault.Reset
	FaultHang          = fault.Hang
	FaultTruncate      = fault.Truncate
	FaultOversize      = fault.Oversize
	FaultNotJSON       = fault.NotJSON
	FaultRedirect      = fault.Redirect
	FaultInternalError = fault.InternalError
	FaultDrop          = fault.Drop
	FaultDuplicate     = fault.Duplicate
	FaultReorder       = fault.Reorder
	FaultDelay         = fault.Delay
)

// DefaultRetrySchedule returns the waits between the attempts of a delivery.
func DefaultRetrySchedule() []time.Duration { return delivery.DefaultRetrySchedule() }

// LookupLimit says how the limit of one lookup a second per user and account
// is counted. A lookup that is refused does not count.
type LookupLimit = platform.LookupLimit

// The ways of counting.
const (
	LookupGap      = platform.LookupGap
	LookupBucket   = platform.LookupBucket
	LookupCalendar = platform.LookupCalendar
)

// Fault is a rule of the fault plan: what it is about, which of those it hits,
// and what it does. A rule that says nothing about which one hits them all.
type Fault struct {
	// Operation is an operationId of the API's document, such as submitEmail.
	Operation string `json:"operation,omitzero"`
	// Method is a method of HTTP that an operation takes, in whatever case.
	Method string `json:"method,omitzero"`
	// Path is a path of which each segment that is * or in braces stands for any
	// one: /lists/*/contacts.
	Path string `json:"path,omitzero"`
	// Event is the event name of deliveries; * is any.
	Event string `json:"event,omitzero"`
	// WebhookID is the webhook of deliveries.
	WebhookID string `json:"webhook_id,omitzero"`

	// Nth hits the nth one alone, counted from 1.
	Nth int `json:"nth,omitzero"`
	// Every hits each one whose number is divisible by it.
	Every int `json:"every,omitzero"`
	// Probability hits by chance, from 0 to 1. The same seed and the same order
	// of requests give the same hits.
	Probability float64 `json:"probability,omitzero"`
	// Times ends the rule after so many hits; 0 is never.
	Times int `json:"times,omitzero"`

	// Action is what happens. It must be set.
	Action FaultAction `json:"action"`
	// AfterActing first carries the request out and then loses its answer, for
	// FaultStatus, FaultReset, FaultHang, FaultNotJSON and FaultRedirect.
	AfterActing bool `json:"after_acting,omitzero"`
	// Delay is waited before anything else; at most 24 h.
	Delay time.Duration `json:"-"`
	// Status is the answer's status, 200 to 599.
	Status int `json:"status,omitzero"`
	// RetryAfter is the header Retry-After, sent as it is.
	RetryAfter string `json:"retry_after,omitzero"`
	// Body is the answer's body, sent as it is. If empty, FaultStatus answers in
	// the API's error format.
	Body string `json:"body,omitzero"`
	// Location is where FaultRedirect points to; the same path at a host that
	// does not exist if empty.
	Location string `json:"location,omitzero"`
	// Size is the length of an oversized body in bytes: 64 MiB if 0, at most 1 GiB.
	Size int64 `json:"size,omitzero"`
}

// FaultRule is a rule of the plan and what became of it.
type FaultRule struct {
	// ID names the rule.
	ID string `json:"id"`
	Fault
	// Enabled is false for a rule that is switched off: it neither counts nor hits.
	Enabled bool `json:"enabled"`
	// Calls counts what the rule is about, Hits those that it hit.
	Calls int `json:"calls"`
	Hits  int `json:"hits"`
}
