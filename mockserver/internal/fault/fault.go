// Package fault implements fault injection.
//
// The gateway calls [Plan.Request] to select a rule, and [Plan.Disturb] to apply it. The
// platform and the delivery engine call [Plan.Message] and [Plan.Delivery], and apply
// the rules themselves.
package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/record"
)

// Defaults and limits of faults.
const (
	defaultOversize = 64 << 20 // bytes
	maxOversize     = 1 << 30

	DefaultHold = time.Second    // default maximum delay of a delivery by FaultReorder
	MaxDelay    = 24 * time.Hour // maximum delay of a fault
)

// Wire is the JSON form of a fault, with its delay in milliseconds.
type Wire struct {
	record.Fault
	DelayMS int64 `json:"delay_ms,omitzero" min:"0" max:"86400000" doc:"a delay before the action, up to 24 hours"`
}

// FieldErrors contains an error for each invalid field of a fault.
type FieldErrors []FieldError

// FieldError describes an invalid field of a fault and the rule that it violates.
type FieldError struct{ Field, Rule string }

// Error implements error. It returns all errors in one line.
func (e FieldErrors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = "mockserver: fault: " + f.Field + ": " + f.Rule
	}
	return strings.Join(lines, "; ")
}

// check returns an error for each invalid field of a fault.
func check(f record.Fault) (errs FieldErrors) {
	reject := func(invalid bool, field, rule string) {
		if invalid {
			errs = append(errs, FieldError{field, rule})
		}
	}
	_, known := actions()[f.Action]
	to := aimOf(f)
	exclusive := slices.DeleteFunc([]bool{f.Nth != 0, f.Every != 0, f.Probability != 0}, func(given bool) bool { return !given })
	reject(f.AccountID < 0, "account_id", "must be 1 or more")
	reject(!known, "action", fmt.Sprintf("%q is unknown", f.Action))
	reject(len(exclusive) > 1, "probability", "must be the only one of nth, every and probability")
	reject(f.Nth < 0, "nth", "must be 1 or more")
	reject(f.Every < 0, "every", "must be 1 or more")
	reject(f.Times < 0, "times", "must be 0 or more")
	reject(!(f.Probability >= 0 && f.Probability <= 1), "probability", "must be from 0 to 1")
	reject(f.Delay < 0 || f.Delay > MaxDelay, "delay", "must be from 0 to 24 h")
	reject(f.Status != 0 && (f.Status < 200 || f.Status > 599), "status", "must be from 200 to 599")
	reject(f.Size < 0 || f.Size > maxOversize, "size", "must be from 0 to 1 GiB")
	reject(f.Path != "" && f.Path[0] != '/', "path", "must begin with a slash")
	reject(strings.ContainsAny(f.RetryAfter, "\r\n\x00"), "retry_after", "must be one line")
	reject(strings.ContainsAny(f.Location, "\r\n\x00"), "location", "must be one line")
	ofRequests, ofDeliveries := !known || to == requests, !known || to == deliveries || to == attempts
	reject(f.Operation != "" && !ofRequests, "operation", string(f.Action)+" does not apply to requests")
	reject(f.Method != "" && !ofRequests, "method", string(f.Action)+" does not apply to requests")
	reject(f.Path != "" && !ofRequests, "path", string(f.Action)+" does not apply to requests")
	reject(f.Event != "" && !ofDeliveries, "event", string(f.Action)+" does not apply to deliveries")
	reject(f.WebhookID != "" && !ofDeliveries, "webhook_id", string(f.Action)+" does not apply to deliveries")
	return errs
}

// Conditions returns JSON Schema keywords for the validation rules that involve several
// fields of a fault.
func Conditions() map[string]any {
	type object = map[string]any
	without := func(names ...[]string) object {
		var given []object
		for _, together := range names {
			given = append(given, object{"required": together})
		}
		return object{"anyOf": given}
	}
	forTarget := func(to aim, not object) object {
		var names []record.FaultAction
		for _, action := range Actions() {
			withEvent := aimOf(record.Fault{Action: action, Event: "*"})
			if actions()[action] == to || to == deliveries && (withEvent == deliveries || withEvent == attempts) {
				names = append(names, action)
			}
		}
		return object{"properties": object{"action": object{"enum": names}}, "not": not}
	}
	ofRequests, ofDeliveries := [][]string{{"operation"}, {"method"}, {"path"}}, [][]string{{"event"}, {"webhook_id"}}
	return object{
		"anyOf": []object{
			forTarget(requests, without(ofDeliveries...)),
			forTarget(deliveries, without(ofRequests...)),
			forTarget(messages, without(slices.Concat(ofRequests, ofDeliveries)...)),
		},
		"not": without([]string{"nth", "every"}, []string{"nth", "probability"}, []string{"every", "probability"}),
	}
}
