package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/suggest"
	"example.com/emailplatform/mockserver/model"
)

// Wire is the JSON form of a fault, with its delay in milliseconds.
type Wire struct {
	model.Fault
	DelayMS int64 `json:"delay_ms,omitzero" min:"0" max:"86400000" doc:"a delay before the action, up to 24 hours"`
}

// FieldErrors contains an error for each invalid field of a fault.
type FieldErrors []FieldError

// FieldError describes an invalid field of a fault and the rule that it violates.
type FieldError struct{ Field, Rule string }

// Error implements error. It returns all errors on one line.
func (e FieldErrors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = "mockserver: fault: " + f.Field + ": " + f.Rule
	}
	return strings.Join(lines, "; ")
}

func check(f model.Fault) FieldErrors {
	return slices.Concat(checkNames(f), checkRanges(f), checkTarget(f), checkFields(f))
}

// reject adds an error if the field is invalid.
func (e *FieldErrors) reject(invalid bool, field, rule string) {
	if invalid {
		*e = append(*e, FieldError{field, rule})
	}
}

// checkNames rejects unknown names, and ids that no account can have.
func checkNames(f model.Fault) (errs FieldErrors) {
	unknown := func(field, value string, names ...string) {
		errs.reject(value != "" && !slices.Contains(names, value), field, suggest.Unknown(field, value, names))
	}
	unknown("operation", f.Operation, contract.IDs()...)
	unknown("method", f.Method, contract.Methods()...)
	eventNames := []string{"*"}
	for _, name := range api.EventNames() {
		eventNames = append(eventNames, string(name))
	}
	unknown("event", string(f.Event), eventNames...)
	errs.reject(f.AccountID < 0, "account_id", "must be 1 or more")
	_, known := actionNamed(f.Action)
	errs.reject(!known, "action", fmt.Sprintf("%q is unknown", f.Action))
	return errs
}

// checkRanges rejects values outside their ranges.
func checkRanges(f model.Fault) (errs FieldErrors) {
	several := f.Nth != 0 && f.Every != 0 || f.Probability != 0 && (f.Nth != 0 || f.Every != 0)
	errs.reject(several, "probability", "must be the only one of nth, every and probability")
	errs.reject(f.Nth < 0, "nth", "must be 1 or more")
	errs.reject(f.Every < 0, "every", "must be 1 or more")
	errs.reject(f.Times < 0, "times", "must be 0 or more")
	errs.reject(!(f.Probability >= 0 && f.Probability <= 1), "probability", "must be between 0 and 1")
	errs.reject(f.Delay < 0 || f.Delay > MaxDelay, "delay", "must be between 0 and 24 h")
	errs.reject(f.Status != 0 && (f.Status < 200 || f.Status > 599), "status", "must be between 200 and 599")
	errs.reject(f.Size < 0 || f.Size > maxOversize, "size", "must be between 0 and 1 GiB")
	errs.reject(f.Path != "" && f.Path[0] != '/', "path", "must begin with a slash")
	errs.reject(strings.ContainsAny(f.RetryAfter, "\r\n\x00"), "retry_after", "must be one line")
	errs.reject(strings.ContainsAny(f.Location, "\r\n\x00"), "location", "must be one line")
	return errs
}

// checkTarget rejects conditions on targets that the action does not apply to.
func checkTarget(f model.Fault) (errs FieldErrors) {
	_, known := actionNamed(f.Action)
	if !known {
		return nil
	}
	kind := targetKindOf(f)
	applies := func(target bool, given, field, targets string) {
		errs.reject(given != "" && !target, field, string(f.Action)+" does not apply to "+targets)
	}
	applies(kind == requests, f.Operation, "operation", "requests")
	applies(kind == requests, f.Method, "method", "requests")
	applies(kind == requests, f.Path, "path", "requests")
	ofDeliveries := kind == deliveries || kind == attempts
	applies(ofDeliveries, string(f.Event), "event", "deliveries")
	applies(ofDeliveries, f.WebhookID, "webhook_id", "deliveries")
	return errs
}

// checkFields rejects fields that the action does not read, and a missing field that it needs.
func checkFields(f model.Fault) (errs FieldErrors) {
	action, known := actionNamed(f.Action)
	if !known {
		return nil
	}
	kind := targetKindOf(f)
	errs.reject(action.needs != "" && !slices.Contains(given(f), action.needs), action.needs, "is required by "+string(f.Action))
	for _, field := range given(f) {
		switch {
		case !slices.Contains(action.Fields, field):
			errs.reject(true, field, "must be omitted, because "+string(f.Action)+" does not read it")
		case !action.reads(field, kind):
			errs.reject(true, field, "must be omitted, because "+string(f.Action)+" reads it only for requests")
		}
	}
	return errs
}

// The fields of a fault that only some actions read.
const (
	fieldAfter    = "after_processing"
	fieldDelay    = "delay_ms"
	fieldStatus   = "status"
	fieldRetry    = "retry_after"
	fieldBody     = "body"
	fieldLocation = "location"
	fieldSize     = "size"
)

type field struct {
	name  string
	zero  any // in JSON
	given bool
}

func fieldsOf(f model.Fault) []field {
	return []field{
		{fieldAfter, false, f.AfterProcessing},
		{fieldDelay, 0, f.Delay != 0},
		{fieldStatus, 0, f.Status != 0},
		{fieldRetry, "", f.RetryAfter != ""},
		{fieldBody, "", f.Body != ""},
		{fieldLocation, "", f.Location != ""},
		{fieldSize, 0, f.Size != 0},
	}
}

// given returns the fields of a fault that only some actions read, unless they are zero.
func given(f model.Fault) (names []string) {
	for _, field := range fieldsOf(f) {
		if field.given {
			names = append(names, field.name)
		}
	}
	return names
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
	forTarget := func(kind targetKind, not object) object {
		var names []model.FaultAction
		for _, action := range Actions() {
			withEvent := targetKindOf(model.Fault{Action: action, Event: "*"})
			if targetKindOf(model.Fault{Action: action}) == kind || kind == deliveries && (withEvent == deliveries || withEvent == attempts) {
				names = append(names, action)
			}
		}
		return object{"properties": object{"action": object{"enum": names}}, "not": not}
	}
	ofRequests, ofDeliveries := [][]string{{"operation"}, {"method"}, {"path"}}, [][]string{{"event"}, {"webhook_id"}}
	return object{
		"allOf": readFields(),
		"anyOf": []object{
			forTarget(requests, without(ofDeliveries...)),
			forTarget(deliveries, without(ofRequests...)),
			forTarget(messages, without(slices.Concat(ofRequests, ofDeliveries)...)),
		},
		"not": without([]string{"nth", "every"}, []string{"nth", "probability"}, []string{"every", "probability"}),
	}
}

// readFields returns a condition for each action. A field that the action does not read
// must be omitted or zero, and a field that the action needs must not be zero.
func readFields() (all []map[string]any) {
	type object = map[string]any
	zeros := object{}
	for _, field := range fieldsOf(model.Fault{}) {
		zeros[field.name] = field.zero
	}
	for _, a := range table {
		fields, needed := object{}, []string{}
		for field, zero := range zeros {
			if !slices.Contains(a.Fields, field) {
				fields[field] = object{"enum": []any{zero}}
			}
			if field == a.needs {
				fields[field], needed = object{"not": object{"enum": []any{zero}}}, []string{field}
			}
		}
		is := object{"action": object{"const": a.Name}}
		all = append(all, object{"if": object{"properties": is}, "then": object{"properties": fields, "required": needed}})
		ofRequests := object{}
		for _, field := range a.RequestFields {
			ofRequests[field] = object{"enum": []any{zeros[field]}}
		}
		if len(ofRequests) > 0 {
			of := func(target string) object {
				return object{"properties": object{target: object{"not": object{"enum": []any{""}}}}, "required": []string{target}}
			}
			all = append(all, object{
				"if":   object{"properties": is, "anyOf": []object{of("event"), of("webhook_id")}},
				"then": object{"properties": ofRequests},
			})
		}
	}
	return all
}

type rule struct {
	model.FaultRule

	random  *rand.Rand // a separate stream, so rules do not affect each other
	ctx     context.Context
	release context.CancelFunc
}

// selects counts a match, and reports whether the rule's action applies to this
// match.
func (r *rule) selects() bool {
	r.Calls++
	chosen := true
	switch {
	case r.Nth > 0:
		chosen = r.Calls == r.Nth
	case r.Every > 0:
		chosen = r.Calls%r.Every == 0
	case r.Probability > 0:
		chosen = r.random.Float64() < r.Probability
	}
	return chosen && (r.Times == 0 || r.Hits < r.Times)
}

// RuleWire is the JSON form of a rule, with its delay in milliseconds.
type RuleWire struct {
	model.FaultRule
	DelayMS int64 `json:"delay_ms,omitzero" doc:"a delay before the action, in milliseconds"`
}

// WireOf converts a rule to JSON.
func WireOf(r model.FaultRule) RuleWire { return RuleWire{r, r.Delay.Milliseconds()} }
