// Package fault implements fault injection.
//
// For a request, the gateway calls [Plan.MatchRequest] to find a rule, and [AppliedRule.Apply] to
// apply it. For messages and deliveries, the platform and the delivery dispatcher call
// [Plan.MatchMessage] and [Plan.MatchDelivery], and apply the rules themselves.
package fault

import (
	"context"
	"errors"
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
	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/model"
)

// Defaults for faults.
const (
	defaultOversize = 64 << 20 // bytes

	DefaultReorderDelay = time.Second // default maximum delay of a delivery by FaultReorder
)

// Plan contains the fault rules, and each rule counts its matches. If several rules
// apply to a target, only the first rule is applied.
type Plan struct {
	log     *slog.Logger
	changes *changes.Feed
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
func New(seed uint64, log *slog.Logger, changes *changes.Feed) *Plan {
	p := &Plan{seed: chooseSeed(seed), log: log, changes: changes}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Close ends all delays, hanging requests and hanging attempts.
func (p *Plan) Close() { p.cancel() }

// AppliedRule is a rule that applies to one target.
type AppliedRule struct {
	model.FaultRule
	ctx context.Context // canceled when the rule is replaced, disabled or removed, or the plan is closed
}

// Until returns a context that ends with ctx, or when the rule no longer holds its targets.
func (s *AppliedRule) Until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
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
		p.releaseLocked(next)
		p.rules = append(p.rules, next)
		added = append(added, next.FaultRule)
	}
	p.count.Store(int64(len(p.rules)))
	p.changes.Publish(changes.Fault, nil)
	return added, nil
}

// beginLocked gives a rule the next random stream. The streams are numbered from 1 again
// when the seed is set or the plan becomes empty, so the same rules in an empty plan
// always get the same streams.
func (p *Plan) beginLocked(r *rule) {
	p.streams++
	r.Matched, r.Applied = 0, 0
	r.random = rand.New(rand.NewPCG(p.seed, uint64(p.streams))) //nolint:gosec // it is meant to be repeated
	if r.Probability > 0 {
		p.log.Info("random fault injected", "rule", r.ID, "seed", p.seed)
	}
}

// releaseLocked ends the delays and the hanging requests of a rule.
func (p *Plan) releaseLocked(r *rule) {
	if r.release != nil {
		r.release()
	}
	r.ctx, r.release = context.WithCancel(p.ctx)
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
		p.releaseLocked(r)
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
	p.changes.Publish(changes.Fault, nil)
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
		if !p.rules[i].Enabled {
			p.releaseLocked(p.rules[i])
		}
		p.changes.Publish(changes.Fault, func() any { return ToJSON(p.rules[i].FaultRule) })
	}
	return i >= 0
}

// Remove removes the rule with the given id, and reports whether it existed.
func (p *Plan) Remove(id string) bool {
	return p.remove(false, func(r *rule) bool { return r.ID == id }) > 0
}

// RemoveAll removes all rules.
func (p *Plan) RemoveAll() {
	p.remove(true, func(*rule) bool { return true })
}

// RemoveOf removes the rules for one account.
func (p *Plan) RemoveOf(account int64) {
	p.remove(false, func(r *rule) bool { return r.AccountID == account })
}

func (p *Plan) remove(all bool, gone func(*rule) bool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.rules)
	p.rules = slices.DeleteFunc(p.rules, func(r *rule) bool {
		if gone(r) {
			r.release()
			return true
		}
		return false
	})
	if len(p.rules) == 0 {
		p.streams = 0
	}
	if all { // the choices of one account must not repeat after a reset of another account
		p.choices = 0
	}
	p.count.Store(int64(len(p.rules)))
	p.changes.Publish(changes.Fault, nil)
	return before - len(p.rules)
}

// pick counts a match for each enabled rule that matches the target. It returns the first
// rule that applies to the target, or nil if there is none.
func (p *Plan) pick(kind targetKind, account int64, matches func(model.Fault) bool) *AppliedRule {
	if p.count.Load() == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var first *rule
	for _, rule := range p.rules {
		match := targetKindOf(rule.Fault) == kind && (rule.AccountID == 0 || rule.AccountID == account) && matches(rule.Fault)
		if rule.Enabled && match && rule.applies() && first == nil {
			first = rule
		}
	}
	if first == nil {
		return nil
	}
	first.Applied++
	applied := &AppliedRule{first.FaultRule, first.ctx}
	p.changes.Publish(changes.Fault, func() any { return ToJSON(applied.FaultRule) })
	return applied
}

// MatchRequest counts a match for each enabled rule that matches a request in an account. It returns the rule
// that applies, or nil. Call it one time for each request.
func (p *Plan) MatchRequest(account int64, operation string, r *http.Request) *AppliedRule {
	return p.pick(requests, account, func(f model.Fault) bool {
		return (f.Operation == "" || f.Operation == operation) &&
			(f.Method == "" || f.Method == r.Method) &&
			(f.Path == "" || matchPath(f.Path, r.URL.EscapedPath()))
	})
}

// MatchMessage counts a match for each enabled rule that matches a message in an account. It returns the rule
// that applies, or nil. Call it one time for each message.
func (p *Plan) MatchMessage(account int64) *AppliedRule {
	return p.pick(messages, account, func(model.Fault) bool { return true })
}

// MatchDelivery counts a match for each enabled rule that matches a delivery in an account. It returns the rule
// that applies, or nil. Call it one time for each delivery.
func (p *Plan) MatchDelivery(account int64, event events.Name, webhookID string) *AppliedRule {
	return p.pick(deliveries, account, delivers(event, webhookID))
}

// MatchAttempt counts a match for each enabled rule that matches a delivery attempt in an account. It returns the rule
// that applies, or nil. Call it one time for each delivery attempt.
func (p *Plan) MatchAttempt(account int64, event events.Name, webhookID string) *AppliedRule {
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
