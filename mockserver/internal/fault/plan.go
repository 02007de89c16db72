package fault

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/emailplatform/mockserver/internal/feed"
)

// Rule is a fault of the plan and what became of it. Package mockserver documents
// its fields.
type Rule struct {
	ID string `json:"id"`
	Fault
	Enabled bool `json:"enabled"`
	Calls   int  `json:"calls"`
	Hits    int  `json:"hits"`

	random *rand.Rand // of its own, so that rules do not disturb each other
}

// hit counts one more of what the rule is about and says whether it is hit.
func (r *Rule) hit() bool {
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

// RuleWire is a rule as JSON has it: its delay in milliseconds.
type RuleWire struct {
	Rule
	DelayMS int64 `json:"delay_ms,omitzero"`
}

// Wire returns the rule as JSON has it.
func (r Rule) Wire() RuleWire { return RuleWire{r, r.Delay.Milliseconds()} }

// Plan holds the rules. Every rule counts everything that it is about; of
// those that hit, the first acts.
type Plan struct {
	log     *slog.Logger
	changes *feed.Feed
	ctx     context.Context // of all disturbances; canceled by Close
	cancel  context.CancelFunc
	count   atomic.Int64 // how many: no rules cost no lock

	mu      sync.Mutex
	seed    uint64
	lastID  int
	streams int // of chance that the plan has begun, one for each rule
	rules   []*Rule
}

// New returns an empty plan; with the seed 0 it chooses one.
func New(seed uint64, log *slog.Logger, changes *feed.Feed) *Plan {
	p := &Plan{seed: chooseSeed(seed), log: log, changes: changes}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Close ends what is being delayed or held, for good.
func (p *Plan) Close() { p.cancel() }

// chooseSeed keeps to what a number in JavaScript can hold exactly.
func chooseSeed(seed uint64) uint64 {
	if seed == 0 {
		return rand.Uint64N(1<<53-1) + 1 //nolint:gosec // chance, not a secret
	}
	return seed
}

// Add adds faults to the end of the plan and returns their rules. It adds none if
// one has a mistake.
func (p *Plan) Add(faults []Fault) ([]Rule, error) {
	var errs []error
	for i := range faults {
		errs = append(errs, faults[i].check())
	}
	if err := Join(errs...); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	added := make([]Rule, 0, len(faults))
	for _, f := range faults {
		p.lastID++
		rule := &Rule{ID: "fault-" + strconv.Itoa(p.lastID), Fault: f, Enabled: true}
		p.beginLocked(rule)
		if f.Probability > 0 {
			p.log.Info("a fault by chance", "rule", rule.ID, "seed", p.seed)
		}
		p.rules = append(p.rules, rule)
		added = append(added, *rule)
	}
	p.count.Store(int64(len(p.rules)))
	p.changes.Tell(feed.Fault, nil)
	return added, nil
}

// beginLocked gives a rule the next stream of chance. It goes by how many rules
// the plan has had since it was empty, not by the rule's id, so that the same
// rules meet the same chance whatever plans there were before.
func (p *Plan) beginLocked(rule *Rule) {
	p.streams++
	rule.Calls, rule.Hits = 0, 0
	rule.random = rand.New(rand.NewPCG(p.seed, uint64(p.streams))) //nolint:gosec // it is meant to be repeated
}

// Reseed sets the seed, 0 chooses one, and begins all counts anew.
func (p *Plan) Reseed(seed uint64) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seed, p.streams = chooseSeed(seed), 0
	for _, rule := range p.rules {
		p.beginLocked(rule)
	}
	p.changes.Tell(feed.Fault, nil)
	return p.seed
}

// List returns the rules in the order in which they act, and the seed.
func (p *Plan) List() (seed uint64, rules []Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rules = make([]Rule, len(p.rules))
	for i, rule := range p.rules {
		rules[i] = *rule
		rules[i].random = nil
	}
	return p.seed, rules
}

// Change lets f change the rule with the id; it reports whether there is one.
func (p *Plan) Change(id string, f func(*Rule)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.rules, func(r *Rule) bool { return r.ID == id })
	if i >= 0 {
		f(p.rules[i])
		p.changes.Tell(feed.Fault, func() any { return p.rules[i].Wire() })
	}
	return i >= 0
}

// Remove removes the rule with the id, or all of them if it is empty. It reports
// how many.
func (p *Plan) Remove(id string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.rules)
	p.rules = slices.DeleteFunc(p.rules, func(r *Rule) bool { return id == "" || r.ID == id })
	if len(p.rules) == 0 {
		p.streams = 0
	}
	p.count.Store(int64(len(p.rules)))
	p.changes.Tell(feed.Fault, nil)
	return before - len(p.rules)
}

// pick counts for all rules about a subject that match, and returns the first hit.
func (p *Plan) pick(subject subject, matches func(*Fault) bool) *Rule {
	if p.count.Load() == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var first *Rule
	for _, rule := range p.rules {
		if rule.Enabled && rule.subject() == subject && matches(&rule.Fault) && rule.hit() && first == nil {
			first = rule
		}
	}
	if first == nil {
		return nil
	}
	first.Hits++
	hit := *first
	p.changes.Tell(feed.Fault, func() any { return hit.Wire() })
	return &hit
}

// Request returns the rule that hits a request, or nil.
func (p *Plan) Request(operation string, r *http.Request) *Rule {
	return p.pick(requests, func(f *Fault) bool {
		return (f.Operation == "" || f.Operation == operation) &&
			(f.Method == "" || strings.EqualFold(f.Method, r.Method)) &&
			(f.Path == "" || matchPath(f.Path, r.URL.EscapedPath()))
	})
}

// Message returns the rule that hits a message, or nil.
func (p *Plan) Message() *Rule {
	return p.pick(messages, func(*Fault) bool { return true })
}

// Delivery returns the rule that hits a delivery, or nil.
func (p *Plan) Delivery(event, webhookID string) *Rule {
	return p.pick(deliveries, func(f *Fault) bool {
		return (f.Event == "" || f.Event == "*" || f.Event == event) && (f.WebhookID == "" || f.WebhookID == webhookID)
	})
}

// matchPath compares segment by segment.
func matchPath(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(want, got string) bool {
		return want == "*" || strings.HasPrefix(want, "{") && strings.HasSuffix(want, "}") || want == got
	})
}
