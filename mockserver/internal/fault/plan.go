// Package fault is the plan of what goes wrong, and makes it go wrong.
package fault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/emailplatform/mockserver/internal/feed"
)

// Action is what a rule does to the request, message or delivery it hits.
type Action string

// What can happen to a request.
const (
	// Status answers with Status (503 if zero), RetryAfter and Body.
	Status Action = "status"
	// Reset closes the connection without an answer.
	Reset Action = "reset"
	// Hang never answers; it ends when the client gives up.
	Hang Action = "hang"
	// Truncate acts and sends half of the answer's body.
	Truncate Action = "truncate"
	// Oversize acts and answers with a JSON object of Size bytes.
	Oversize Action = "oversize"
	// NotJSON answers with Status (200 if zero) and an HTML page, or Body.
	NotJSON Action = "not_json"
	// Redirect answers with Status (307 if zero) and Location.
	Redirect Action = "redirect"
)

// What can happen to a message of the Email API.
const (
	// InternalError makes the submission end in the status error and the
	// event Email.Error, whose error ends with Body.
	InternalError Action = "internal_error"
)

// What can happen to a delivery.
const (
	// Drop loses the delivery: no attempt is made, the journal says dropped.
	Drop Action = "drop"
	// Duplicate delivers the same bytes again after they were accepted.
	Duplicate Action = "duplicate"
	// Reorder holds the delivery back until the webhook's next one is queued
	// and puts it behind that, or until Delay (1 s if zero) has passed.
	Reorder Action = "reorder"
)

// Delay waits for Delay, then goes on as usual: with a request, or with a
// delivery if the rule says Event or WebhookID.
const Delay Action = "delay"

// Defaults of faults.
const (
	defaultOversize = 64 << 20 // bytes
	maxOversize     = 1 << 30
	DefaultHold     = time.Second
	MaxDelay        = 24 * time.Hour
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
	Action Action `json:"action"`
	// AfterActing first carries the request out and then loses its answer, for
	// Status, Reset, Hang, NotJSON and Redirect.
	AfterActing bool `json:"after_acting,omitzero"`
	// Delay is waited before anything else; at most 24 h.
	Delay time.Duration `json:"-"`
	// Status is the answer's status, 200 to 599.
	Status int `json:"status,omitzero"`
	// RetryAfter is the header Retry-After, sent as it is.
	RetryAfter string `json:"retry_after,omitzero"`
	// Body is the answer's body, sent as it is. If empty, Status answers in
	// the API's error format.
	Body string `json:"body,omitzero"`
	// Location is where Redirect points to; the same path at a host that
	// does not exist if empty.
	Location string `json:"location,omitzero"`
	// Size is the length of an oversized body in bytes: 64 MiB if 0, at most 1 GiB.
	Size int64 `json:"size,omitzero"`
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

// check returns every mistake in the rule.
func (f *Fault) check() error {
	var errs []error
	wrong := func(is bool, field, rule string) {
		if is {
			errs = append(errs, &Mistake{field, rule})
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
	return errors.Join(errs...)
}

// Mistake is a field of a rule that breaks a rule itself.
type Mistake struct{ Field, Rule string }

func (m *Mistake) Error() string { return "mockserver: fault: " + m.Field + ": " + m.Rule }

// Rule is a rule of the plan and what became of it.
type Rule struct {
	// ID names the rule.
	ID string `json:"id"`
	Fault
	// Enabled is false for a rule that is switched off: it neither counts nor hits.
	Enabled bool `json:"enabled"`
	// Calls counts what the rule is about, Hits those that it hit.
	Calls int `json:"calls"`
	Hits  int `json:"hits"`

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

// Plan holds the rules. Every rule counts everything that it is about; of
// those that hit, the first acts.
type Plan struct {
	log     *slog.Logger
	changes *feed.Feed
	ctx     context.Context // of all disturbances; canceled by close
	Close   context.CancelFunc
	rules   atomic.Int64 // how many: no rules cost no lock

	mu      sync.Mutex
	seed    uint64
	lastID  int
	streams int // of chance that the plan has begun, one for each rule
	plan    []*Rule
}

// New returns an empty plan.
func New(seed uint64, log *slog.Logger, changed *feed.Feed) *Plan {
	p := &Plan{seed: chooseSeed(seed), log: log, changes: changed}
	p.ctx, p.Close = context.WithCancel(context.Background())
	return p
}

// chooseSeed keeps to what a number in JavaScript can hold exactly.
func chooseSeed(seed uint64) uint64 {
	if seed == 0 {
		return rand.Uint64N(1<<53-1) + 1 //nolint:gosec // chance, not a secret
	}
	return seed
}

func (p *Plan) Add(faults []Fault) ([]Rule, error) {
	var errs []error
	for i := range faults {
		errs = append(errs, faults[i].check())
	}
	if err := errors.Join(errs...); err != nil {
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
		p.plan = append(p.plan, rule)
		added = append(added, *rule)
	}
	p.rules.Store(int64(len(p.plan)))
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

// reseed begins all counts anew.
func (p *Plan) Reseed(seed uint64) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seed, p.streams = chooseSeed(seed), 0
	for _, rule := range p.plan {
		p.beginLocked(rule)
	}
	p.changes.Tell(feed.Fault, nil)
	return p.seed
}

func (p *Plan) List() (seed uint64, rules []Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rules = make([]Rule, len(p.plan))
	for i, rule := range p.plan {
		rules[i] = *rule
		rules[i].random = nil
	}
	return p.seed, rules
}

// change lets f change the rule with the id; it reports whether there is one.
func (p *Plan) Change(id string, f func(*Rule)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.plan, func(r *Rule) bool { return r.ID == id })
	if i >= 0 {
		f(p.plan[i])
		p.changes.Tell(feed.Fault, func() any { return OnWire(*p.plan[i]) })
	}
	return i >= 0
}

// remove removes the rule with the id, or all of them if it is empty. It
// reports how many.
func (p *Plan) Remove(id string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.plan)
	p.plan = slices.DeleteFunc(p.plan, func(r *Rule) bool { return id == "" || r.ID == id })
	if len(p.plan) == 0 {
		p.streams = 0
	}
	p.rules.Store(int64(len(p.plan)))
	p.changes.Tell(feed.Fault, nil)
	return before - len(p.plan)
}

// pick counts for all rules about a subject that match, and returns the first hit.
func (p *Plan) pick(subject subject, matches func(*Fault) bool) *Rule {
	if p.rules.Load() == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var first *Rule
	for _, rule := range p.plan {
		if rule.Enabled && rule.subject() == subject && matches(&rule.Fault) && rule.hit() && first == nil {
			first = rule
		}
	}
	if first == nil {
		return nil
	}
	first.Hits++
	hit := *first
	p.changes.Tell(feed.Fault, func() any { return OnWire(hit) })
	return &hit
}

// request returns the rule that hits a request, or nil.
func (p *Plan) Request(operation string, r *http.Request) *Rule {
	return p.pick(requests, func(f *Fault) bool {
		return (f.Operation == "" || f.Operation == operation) &&
			(f.Method == "" || strings.EqualFold(f.Method, r.Method)) &&
			(f.Path == "" || matchPath(f.Path, r.URL.EscapedPath()))
	})
}

// message returns the rule that hits a message, or nil.
func (p *Plan) Message() *Rule {
	return p.pick(messages, func(*Fault) bool { return true })
}

// delivery returns the rule that hits a delivery, or nil.
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

// Wire is a rule as it travels: its delay in milliseconds.
type Wire struct {
	Fault
	DelayMS int64 `json:"delay_ms,omitzero"`
}

type RuleWire struct {
	Rule
	DelayMS int64 `json:"delay_ms,omitzero"`
}

func OnWire(r Rule) RuleWire { return RuleWire{r, r.Delay.Milliseconds()} }

// Actions lists the names of all actions, sorted.
func Actions() []Action { return slices.Sorted(maps.Keys(actions())) }

// Disturb answers a request that a rule of the plan hit, see [Fault.disturb].
func (p *Plan) Disturb(rule *Rule, w http.ResponseWriter, r *http.Request, act func(http.ResponseWriter)) {
	rule.disturb(p.ctx, w, r, act)
}
