// Package fault is the plan of what goes wrong, and makes it go wrong.
//
// A plan is asked at three doors whether one of its rules hits: [Plan.Request]
// by the gateway, [Plan.Message] by the platform, [Plan.Delivery] by deliveries.
// What hits a request is carried out here, by [Plan.Disturb]; what hits a message
// or a delivery is carried out where that is made.
package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Action is what a rule does to the request, message or delivery it hits.
// Package mockserver documents each.
type Action string

// What can happen to a request.
const (
	Status   Action = "status"
	Reset    Action = "reset"
	Hang     Action = "hang"
	Truncate Action = "truncate"
	Oversize Action = "oversize"
	NotJSON  Action = "not_json"
	Redirect Action = "redirect"
)

// What can happen to a message of the Email API.
const (
	InternalError Action = "internal_error"
)

// What can happen to a delivery.
const (
	Drop      Action = "drop"
	Duplicate Action = "duplicate"
	Reorder   Action = "reorder"
)

// What can happen to a request, or to a delivery if the rule says Event or
// WebhookID.
const (
	Delay Action = "delay"
)

// Defaults and limits of faults.
const (
	defaultOversize = 64 << 20 // bytes
	maxOversize     = 1 << 30

	DefaultHold = time.Second    // how long Reorder holds a delivery back
	MaxDelay    = 24 * time.Hour // of any fault
)

// Fault is a rule: what it is about, which of those it hits, and what it does.
// Package mockserver documents its fields.
type Fault struct {
	// What it is about.
	Operation string `json:"operation,omitzero"`
	Method    string `json:"method,omitzero"`
	Path      string `json:"path,omitzero"`
	Event     string `json:"event,omitzero"`
	WebhookID string `json:"webhook_id,omitzero"`

	// Which of those it hits.
	Nth         int     `json:"nth,omitzero"`
	Every       int     `json:"every,omitzero"`
	Probability float64 `json:"probability,omitzero"`
	Times       int     `json:"times,omitzero"`

	// What it does.
	Action      Action        `json:"action"`
	AfterActing bool          `json:"after_acting,omitzero"`
	Delay       time.Duration `json:"-"` // see [Wire]
	Status      int           `json:"status,omitzero"`
	RetryAfter  string        `json:"retry_after,omitzero"`
	Body        string        `json:"body,omitzero"`
	Location    string        `json:"location,omitzero"`
	Size        int64         `json:"size,omitzero"`
}

// Wire is a fault as JSON has it: its delay in milliseconds.
type Wire struct {
	Fault
	DelayMS int64 `json:"delay_ms,omitzero"`
}

// subject is what a rule is about.
type subject int

const (
	requests subject = iota
	messages
	deliveries
)

// actions lists every action and what it happens to.
func actions() map[Action]subject {
	return map[Action]subject{
		Status: requests, Reset: requests, Hang: requests, Truncate: requests,
		Oversize: requests, NotJSON: requests, Redirect: requests, Delay: requests,
		InternalError: messages,
		Drop:          deliveries, Duplicate: deliveries, Reorder: deliveries,
	}
}

func (f *Fault) subject() subject {
	if f.Action == Delay && (f.Event != "" || f.WebhookID != "") {
		return deliveries
	}
	return actions()[f.Action]
}

// Actions lists the names of all actions, sorted.
func Actions() []Action { return slices.Sorted(maps.Keys(actions())) }

// FieldError is a field of a fault that breaks a rule.
type FieldError struct{ Field, Rule string }

// Error implements error.
func (e *FieldError) Error() string { return "mockserver: fault: " + e.Field + ": " + e.Rule }

// mistakes are several errors in one line.
type mistakes []error

// Error implements error.
func (m mistakes) Error() string {
	lines := make([]string, len(m))
	for i, err := range m {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "; ")
}

// Unwrap serves [errors.As].
func (m mistakes) Unwrap() []error { return m }

// Join is [errors.Join] for an error of one line.
func Join(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	return mistakes(errs)
}

// check returns every mistake in the fault.
func (f *Fault) check() error {
	var errs []error
	wrong := func(is bool, field, rule string) {
		if is {
			errs = append(errs, &FieldError{field, rule})
		}
	}
	_, known := actions()[f.Action]
	subject := f.subject()
	ways := 0
	for _, given := range []bool{f.Nth != 0, f.Every != 0, f.Probability != 0} {
		if given {
			ways++
		}
	}
	wrong(!known, "action", fmt.Sprintf("%q is unknown", f.Action))
	wrong(ways > 1, "probability", "want one of nth, every and probability at most")
	wrong(f.Nth < 0, "nth", "want 1 or more")
	wrong(f.Every < 0, "every", "want 1 or more")
	wrong(f.Times < 0, "times", "want 0 or more")
	wrong(!(f.Probability >= 0 && f.Probability <= 1), "probability", "want 0 to 1")
	wrong(f.Delay < 0 || f.Delay > MaxDelay, "delay", "want 0 to 24 h")
	wrong(f.Status != 0 && (f.Status < 200 || f.Status > 599), "status", "want 200 to 599")
	wrong(f.Size < 0 || f.Size > maxOversize, "size", "want 0 to 1 GiB")
	wrong(f.Path != "" && f.Path[0] != '/', "path", "want a slash first")
	wrong(strings.ContainsAny(f.RetryAfter, "\r\n\x00"), "retry_after", "want one line")
	wrong(strings.ContainsAny(f.Location, "\r\n\x00"), "location", "want one line")
	if known && subject != requests {
		wrong(f.Operation != "", "operation", string(f.Action)+" is not about requests")
		wrong(f.Method != "", "method", string(f.Action)+" is not about requests")
		wrong(f.Path != "", "path", string(f.Action)+" is not about requests")
	}
	if known && subject != deliveries {
		wrong(f.Event != "", "event", string(f.Action)+" is not about deliveries")
		wrong(f.WebhookID != "", "webhook_id", string(f.Action)+" is not about deliveries")
	}
	return Join(errs...)
}
