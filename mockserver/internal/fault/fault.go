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

	"example.com/emailplatform/mockserver/record"
)

// Defaults and limits of faults.
const (
	defaultOversize = 64 << 20 // bytes
	maxOversize     = 1 << 30

	DefaultHold = time.Second    // how long Reorder holds a delivery back
	MaxDelay    = 24 * time.Hour // of any fault
)

// Wire is a fault as JSON has it: its delay in milliseconds.
type Wire struct {
	record.Fault
	DelayMS int64 `json:"delay_ms,omitzero" doc:"a wait before anything else, up to 24 hours"`
}

// subject is what a rule is about.
type subject int

const (
	requests subject = iota
	messages
	deliveries
)

// actions lists every action and what it happens to.
func actions() map[record.FaultAction]subject {
	return map[record.FaultAction]subject{
		record.FaultStatus: requests, record.FaultReset: requests, record.FaultHang: requests,
		record.FaultTruncate: requests, record.FaultOversize: requests, record.FaultNotJSON: requests,
		record.FaultRedirect: requests, record.FaultDelay: requests,
		record.FaultInternalError: messages,
		record.FaultDrop:          deliveries, record.FaultDuplicate: deliveries, record.FaultReorder: deliveries,
	}
}

func subjectOf(f record.Fault) subject {
	if f.Action == record.FaultDelay && (f.Event != "" || f.WebhookID != "") {
		return deliveries
	}
	return actions()[f.Action]
}

// Actions lists the names of all actions, sorted.
func Actions() []record.FaultAction { return slices.Sorted(maps.Keys(actions())) }

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

// check returns every mistake in a fault.
func check(f record.Fault) error {
	var errs []error
	wrong := func(is bool, field, rule string) {
		if is {
			errs = append(errs, &FieldError{field, rule})
		}
	}
	_, known := actions()[f.Action]
	subject := subjectOf(f)
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
