// Package fault implements fault injection.
//
// For a request, the gateway calls [Plan.Request] to select a rule, and [Plan.Apply] to
// apply it. For messages and deliveries, the platform and the delivery dispatcher call
// [Plan.Message] and [Plan.Delivery], and apply the rules themselves.
package fault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/suggest"
	"example.com/emailplatform/mockserver/model"
)

// Defaults and limits for faults.
const (
	defaultOversize = 64 << 20 // bytes
	maxOversize     = 1 << 30

	DefaultReorderDelay = time.Second    // default maximum delay of a delivery by FaultReorder
	MaxDelay            = 24 * time.Hour // maximum delay of a fault
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

func check(f model.Fault) (errs FieldErrors) {
	reject := func(invalid bool, field, rule string) {
		if invalid {
			errs = append(errs, FieldError{field, rule})
		}
	}
	unknown := func(field, value string, names ...string) {
		reject(value != "" && !slices.Contains(names, value), field, suggest.Unknown(field, value, names))
	}
	unknown("operation", f.Operation, contract.IDs()...)
	unknown("method", f.Method, contract.Methods()...)
	eventNames := []string{"*"}
	for _, name := range api.EventNames() {
		eventNames = append(eventNames, string(name))
	}
	unknown("event", string(f.Event), eventNames...)
	action, known := actionNamed(f.Action)
	to := targetOf(f)
	reject(f.AccountID < 0, "account_id", "must be 1 or more")
	reject(!known, "action", fmt.Sprintf("%q is unknown", f.Action))
	reject(f.Nth != 0 && f.Every != 0 || f.Probability != 0 && (f.Nth != 0 || f.Every != 0), "probability", "must be the only one of nth, every and probability")
	reject(f.Nth < 0, "nth", "must be 1 or more")
	reject(f.Every < 0, "every", "must be 1 or more")
	reject(f.Times < 0, "times", "must be 0 or more")
	reject(!(f.Probability >= 0 && f.Probability <= 1), "probability", "must be between 0 and 1")
	reject(f.Delay < 0 || f.Delay > MaxDelay, "delay", "must be between 0 and 24 h")
	reject(f.Status != 0 && (f.Status < 200 || f.Status > 599), "status", "must be between 200 and 599")
	reject(f.Size < 0 || f.Size > maxOversize, "size", "must be between 0 and 1 GiB")
	reject(f.Path != "" && f.Path[0] != '/', "path", "must begin with a slash")
	reject(strings.ContainsAny(f.RetryAfter, "\r\n\x00"), "retry_after", "must be one line")
	reject(strings.ContainsAny(f.Location, "\r\n\x00"), "location", "must be one line")
	ofRequests, ofDeliveries := !known || to == requests, !known || to == deliveries || to == attempts
	reject(f.Operation != "" && !ofRequests, "operation", string(f.Action)+" does not apply to requests")
	reject(f.Method != "" && !ofRequests, "method", string(f.Action)+" does not apply to requests")
	reject(f.Path != "" && !ofRequests, "path", string(f.Action)+" does not apply to requests")
	reject(f.Event != "" && !ofDeliveries, "event", string(f.Action)+" does not apply to deliveries")
	reject(f.WebhookID != "" && !ofDeliveries, "webhook_id", string(f.Action)+" does not apply to deliveries")
	reject(action.needs != "" && !slices.Contains(given(f), action.needs), action.needs, "is required by "+string(f.Action))
	for _, field := range given(f) {
		reject(known && !slices.Contains(action.Fields, field), field, "must be omitted, because "+string(f.Action)+" does not read it")
		reject(slices.Contains(action.Fields, field) && !action.reads(field, to), field, "must be omitted, because "+string(f.Action)+" reads it only for requests")
	}
	return errs
}

// given returns the fields of a fault that only some actions read, unless they are zero.
func given(f model.Fault) (names []string) {
	for _, field := range []struct {
		name  string
		given bool
	}{
		{"after_processing", f.AfterProcessing},
		{"delay_ms", f.Delay != 0},
		{"status", f.Status != 0},
		{"retry_after", f.RetryAfter != ""},
		{"body", f.Body != ""},
		{"location", f.Location != ""},
		{"size", f.Size != 0},
	} {
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
	forTarget := func(to target, not object) object {
		var names []model.FaultAction
		for _, action := range Actions() {
			withEvent := targetOf(model.Fault{Action: action, Event: "*"})
			if targetOf(model.Fault{Action: action}) == to || to == deliveries && (withEvent == deliveries || withEvent == attempts) {
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

// readFields returns a condition for each action: a field that it does not read must be
// omitted, or have its zero value, and a field that it needs must have another value.
func readFields() (all []map[string]any) {
	type object = map[string]any
	zeros := object{"after_processing": false, "delay_ms": 0, "status": 0, "retry_after": "", "body": "", "location": "", "size": 0}
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
			all = append(all, object{"if": object{"properties": is, "anyOf": []object{of("event"), of("webhook_id")}}, "then": object{"properties": ofRequests}})
		}
	}
	return all
}

type rule struct {
	model.FaultRule

	random *rand.Rand // a separate stream, so rules do not affect each other
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

// Plan contains the fault rules, and each rule counts its matches. If several rules
// select a target, the first rule applies.
type Plan struct {
	log     *slog.Logger
	changes *activity.Feed
	ctx     context.Context // context of all delays; canceled by Close
	cancel  context.CancelFunc
	count   atomic.Int64 // number of rules, which can be read without the lock

	mu      sync.Mutex
	seed    uint64
	lastID  int
	streams int // number of random streams that have begun, one for each rule
	choices int // number of streams that Random has returned
	rules   []*rule
}

// New returns an empty plan. A seed of 0 means a random seed.
func New(seed uint64, log *slog.Logger, changes *activity.Feed) *Plan {
	p := &Plan{seed: chooseSeed(seed), log: log, changes: changes}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Close ends all delays, hanging requests and hanging attempts.
func (p *Plan) Close() { p.cancel() }

// Until returns a context that ends with ctx, or when the plan is closed.
func (p *Plan) Until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// chooseSeed returns the given seed, or a random seed if the given seed is 0. A random
// seed is less than 1<<53, because the console's JavaScript can represent only such
// integers exactly.
func chooseSeed(seed uint64) uint64 {
	if seed == 0 {
		return rand.Uint64N(1<<53-1) + 1 //nolint:gosec // chance, not a secret
	}
	return seed
}

// Add appends fault rules and returns them. If any rule is invalid, Add
// appends no rules.
func (p *Plan) Add(faults []model.Fault) ([]model.FaultRule, error) {
	var errs FieldErrors
	for _, f := range faults {
		errs = append(errs, check(f)...)
	}
	if errs != nil {
		return nil, errs
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	added := make([]model.FaultRule, 0, len(faults))
	for _, f := range faults {
		p.lastID++
		next := &rule{FaultRule: model.FaultRule{ID: "fault-" + strconv.Itoa(p.lastID), Fault: f, Enabled: true}}
		p.beginLocked(next)
		p.rules = append(p.rules, next)
		added = append(added, next.FaultRule)
	}
	p.count.Store(int64(len(p.rules)))
	p.changes.Publish(activity.Fault, nil)
	return added, nil
}

// beginLocked gives a rule the next random stream. The streams are numbered from 1 again
// when the seed is set or the plan becomes empty, so the same rules in an empty plan
// always get the same streams.
func (p *Plan) beginLocked(r *rule) {
	p.streams++
	r.Calls, r.Hits = 0, 0
	r.random = rand.New(rand.NewPCG(p.seed, uint64(p.streams))) //nolint:gosec // it is meant to be repeated
	if r.Probability > 0 {
		p.log.Info("random fault injected", "rule", r.ID, "seed", p.seed)
	}
}

// ErrNoRule means that a rule does not exist.
var ErrNoRule = errors.New("the rule does not exist")

// Set replaces a rule and resets its counts, or adds a rule if the id is empty.
func (p *Plan) Set(id string, f model.Fault) (out model.FaultRule, err error) {
	if id == "" {
		added, err := p.Add([]model.Fault{f})
		return append(added, out)[0], err
	}
	if errs := check(f); errs != nil {
		return out, errs
	}
	changed := p.change(id, func(r *rule) {
		r.Fault = f
		p.beginLocked(r)
		out = r.FaultRule
	})
	if !changed {
		return out, ErrNoRule
	}
	return out, nil
}

// Reseed sets the seed and resets all counts. A seed of 0 means a random seed.
func (p *Plan) Reseed(seed uint64) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seed, p.streams, p.choices = chooseSeed(seed), 0, 0
	for _, rule := range p.rules {
		p.beginLocked(rule)
	}
	p.changes.Publish(activity.Fault, nil)
	return p.seed
}

// Random returns the next random stream for choices outside the rules. The stream
// depends only on the seed and the number of calls.
func (p *Plan) Random() *rand.Rand {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.choices++
	return rand.New(rand.NewPCG(^p.seed, uint64(p.choices))) //nolint:gosec // it is meant to be repeated
}

// List returns the seed and the rules, oldest first.
func (p *Plan) List() (seed uint64, rules []model.FaultRule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rules = make([]model.FaultRule, len(p.rules))
	for i, rule := range p.rules {
		rules[i] = rule.FaultRule
	}
	return p.seed, rules
}

// Change calls f to change the rule with the given id, and reports whether the rule
// exists.
func (p *Plan) Change(id string, f func(*model.FaultRule)) bool {
	return p.change(id, func(r *rule) { f(&r.FaultRule) })
}

func (p *Plan) change(id string, f func(*rule)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.rules, func(r *rule) bool { return r.ID == id })
	if i >= 0 {
		f(p.rules[i])
		p.changes.Publish(activity.Fault, func() any { return WireOf(p.rules[i].FaultRule) })
	}
	return i >= 0
}

// Remove removes the rule with the given id, or all rules if the id is empty.
// It returns the number of removed rules.
func (p *Plan) Remove(id string) int {
	return p.remove(id == "", func(r *rule) bool { return id == "" || r.ID == id })
}

// RemoveOf removes the rules for one account.
func (p *Plan) RemoveOf(account int64) {
	p.remove(false, func(r *rule) bool { return r.AccountID == account })
}

func (p *Plan) remove(all bool, gone func(*rule) bool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.rules)
	p.rules = slices.DeleteFunc(p.rules, gone)
	if len(p.rules) == 0 {
		p.streams = 0
	}
	if all { // the choices of one account must not repeat after a reset of another account
		p.choices = 0
	}
	p.count.Store(int64(len(p.rules)))
	p.changes.Publish(activity.Fault, nil)
	return before - len(p.rules)
}

// pick counts a match for each rule that applies to the target. It returns the first
// rule that selects the target, or nil if there is none.
func (p *Plan) pick(to target, account int64, matches func(model.Fault) bool) *model.FaultRule {
	if p.count.Load() == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var first *rule
	for _, rule := range p.rules {
		applies := targetOf(rule.Fault) == to && (rule.AccountID == 0 || rule.AccountID == account) && matches(rule.Fault)
		if rule.Enabled && applies && rule.selects() && first == nil {
			first = rule
		}
	}
	if first == nil {
		return nil
	}
	first.Hits++
	selected := first.FaultRule
	p.changes.Publish(activity.Fault, func() any { return WireOf(selected) })
	return &selected
}

// Request returns the fault rule for a request in an account, or nil if no
// rule selects the request.
func (p *Plan) Request(account int64, operation string, r *http.Request) *model.FaultRule {
	return p.pick(requests, account, func(f model.Fault) bool {
		return (f.Operation == "" || f.Operation == operation) &&
			(f.Method == "" || f.Method == r.Method) &&
			(f.Path == "" || matchPath(f.Path, r.URL.EscapedPath()))
	})
}

// Message returns the fault rule for a message in an account, or nil if no
// rule selects the message.
func (p *Plan) Message(account int64) *model.FaultRule {
	return p.pick(messages, account, func(model.Fault) bool { return true })
}

// Delivery returns the fault rule for a delivery in an account, or nil if no
// rule selects the delivery.
func (p *Plan) Delivery(account int64, event events.Name, webhookID string) *model.FaultRule {
	return p.pick(deliveries, account, delivers(event, webhookID))
}

// Attempt returns the fault rule for a delivery attempt in an account, or nil
// if no rule selects the attempt.
func (p *Plan) Attempt(account int64, event events.Name, webhookID string) *model.FaultRule {
	return p.pick(attempts, account, delivers(event, webhookID))
}

func delivers(event events.Name, webhookID string) func(model.Fault) bool {
	return func(f model.Fault) bool {
		return (f.Event == "" || f.Event == "*" || f.Event == event) && (f.WebhookID == "" || f.WebhookID == webhookID)
	}
}

// matchPath reports whether each segment of a path matches the corresponding
// segment of a pattern.
func matchPath(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(want, got string) bool {
		return want == "*" || strings.HasPrefix(want, "{") && strings.HasSuffix(want, "}") || want == got
	})
}
