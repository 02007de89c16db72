package fault

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/schema"
	"example.com/emailplatform/mockserver/model"
)

// JSON is the JSON form of a fault, with its delay in milliseconds.
type JSON struct {
	model.Fault
	DelayMS int64 `json:"delay_ms,omitzero" min:"0" max:"86400000" doc:"a delay before the action, up to 24 hours"`
}

// FieldErrors contains an error for each invalid field of a fault.
type FieldErrors []api.ProblemDetail

// Error implements error. It returns all errors on one line.
func (e FieldErrors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = apierror.Path(f.Loc) + ": " + f.Msg
	}
	return strings.Join(lines, "; ")
}

// check validates a fault in its JSON form, so Go and the control routes have the same rules.
func check(f model.Fault) FieldErrors {
	body, err := json.Marshal(JSON{f, milliseconds(f.Delay)})
	if err != nil { // NaN or an infinity, which JSON cannot contain
		return FieldErrors{apierror.At("value_error", "must be a finite number", "body", "probability")}
	}
	errs := Schema().RequestErrors(body)
	var given map[string]any
	_ = json.Unmarshal(body, &given)
	reject := func(field, rule string) {
		errs = append(errs, apierror.At("value_error", rule, "body", field))
	}
	for _, pair := range exclusive() {
		if given[pair[0]] != nil && given[pair[1]] != nil {
			reject("probability", "must be the only one of nth, every and probability")
			break
		}
	}
	action, known := actionNamed(f.Action)
	if !known {
		return errs
	}
	if action.Needs != "" && given[action.Needs] == nil {
		reject(action.Needs, "is required by "+string(f.Action))
	}
	for _, c := range conditions() {
		for _, field := range c.fields {
			if given[field] != nil && !c.allowed(action, targetKindOf(f).String(), field) {
				reject(field, fmt.Sprintf("must be omitted, because %s %s", f.Action, c.reason))
			}
		}
	}
	return errs
}

// milliseconds rounds away from zero, so a short delay does not become 0, and an invalid
// delay does not become valid.
func milliseconds(d time.Duration) int64 {
	ms := d.Milliseconds()
	if d%time.Millisecond != 0 {
		ms += int64(cmp.Compare(d, 0))
	}
	return ms
}

// condition allows fields only for some actions and targets.
type condition struct {
	fields  []string
	allowed func(a Action, target, field string) bool
	reason  string
}

func conditions() []condition {
	var read []string // fields that only some actions read
	for _, a := range table {
		read = append(read, a.Fields...)
	}
	slices.Sort(read)
	read = slices.Compact(read)
	ofRequests := func(_ Action, target, _ string) bool { return target == requests.String() }
	ofDeliveries := func(a Action, _, _ string) bool { return slices.Contains(a.Targets, deliveries.String()) }
	reads := func(a Action, _, field string) bool { return slices.Contains(a.Fields, field) }
	readsHere := func(a Action, target, field string) bool {
		return target == requests.String() || !slices.Contains(a.RequestFields, field)
	}
	return []condition{
		{[]string{"operation", "method", "path"}, ofRequests, "does not apply to requests in this rule"},
		{[]string{"event", "webhook_id"}, ofDeliveries, "does not apply to deliveries"},
		{read, reads, "does not read it"},
		{read, readsHere, "reads it only for requests"},
	}
}

// exclusive returns the pairs of fields that a fault cannot have together.
func exclusive() [][2]string {
	return [][2]string{{"nth", "every"}, {"nth", "probability"}, {"every", "probability"}}
}

// Schema returns the schema of [JSON]. For the rules that involve several fields, it
// contains JSON Schema keywords.
var Schema = sync.OnceValue(func() *contract.Schema {
	types := schema.Types{Request: true, Name: func(reflect.Type) string { return "Fault" }}
	s := types.Of(reflect.TypeFor[JSON]())
	s.Property("action").Schema.Enum = schema.Texts(ActionNames())
	s.Property("operation").Schema.Enum = contract.OperationIDs()
	s.Property("method").Schema.Enum = contract.HTTPMethods()
	s.Property("event").Schema.Enum = append(schema.Texts(api.EventNames()), "*")
	s.Extra = keywords(s)
	return s
})

// keywords converts the rules that involve several fields to JSON Schema. A field that
// must be omitted can also be zero.
func keywords(s *contract.Schema) map[string]any {
	type object = map[string]any
	zeros := map[contract.Kind]any{contract.Boolean: false, contract.Integer: 0, contract.String: ""}
	zero := func(field string) object { return object{"enum": []any{zeros[s.Property(field).Schema.Kind]}} }
	given := func(field string) object {
		return object{"properties": object{field: object{"not": zero(field)}}, "required": []string{field}}
	}
	var all, together []object
	for _, a := range table {
		for i, target := range a.Targets {
			is := object{"properties": object{"action": object{"const": a.Name}}}
			if i > 0 {
				is["anyOf"] = []object{given("event"), given("webhook_id")}
			}
			omitted := object{}
			for _, c := range conditions() {
				for _, field := range c.fields {
					if !c.allowed(a, target, field) {
						omitted[field] = zero(field)
					}
				}
			}
			all = append(all, object{"if": is, "then": object{"properties": omitted}})
		}
		if a.Needs != "" {
			all = append(all, object{"if": object{"properties": object{"action": object{"const": a.Name}}}, "then": given(a.Needs)})
		}
	}
	for _, pair := range exclusive() {
		together = append(together, object{"required": pair})
	}
	return object{"allOf": all, "not": object{"anyOf": together}}
}

type rule struct {
	model.FaultRule

	random  *rand.Rand // a separate stream, so rules do not affect each other
	ctx     context.Context
	release context.CancelFunc
}

// applies counts a match, and reports whether the rule applies to it.
func (r *rule) applies() bool {
	r.Matched++
	applies := true
	switch {
	case r.Nth > 0:
		applies = r.Matched == r.Nth
	case r.Every > 0:
		applies = r.Matched%r.Every == 0
	case r.Probability > 0:
		applies = r.random.Float64() < r.Probability
	}
	return applies && (r.Times == 0 || r.Applied < r.Times)
}

// RuleJSON is the JSON form of a rule, with its delay in milliseconds.
type RuleJSON struct {
	model.FaultRule
	DelayMS int64 `json:"delay_ms,omitzero" doc:"a delay before the action, in milliseconds"`
}

// ToJSON converts a rule to JSON.
func ToJSON(r model.FaultRule) RuleJSON { return RuleJSON{r, milliseconds(r.Delay)} }
