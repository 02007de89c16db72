package mockserver

import (
	"fmt"
	"time"

	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/fault"
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

// FaultAction is what a rule does to the request, message or delivery it hits.
// It is a string, as the control routes have it.
type FaultAction = fault.Action

// What can happen to a request.
const (
	// FaultStatus answers with Status (503 if zero), RetryAfter and Body.
	FaultStatus FaultAction = fault.Status
	// FaultReset closes the connection without an answer.
	FaultReset FaultAction = fault.Reset
	// FaultHang never answers; it ends when the client gives up.
	FaultHang FaultAction = fault.Hang
	// FaultTruncate acts and sends half of the answer's body.
	FaultTruncate FaultAction = fault.Truncate
	// FaultOversize acts and answers with a JSON object of Size bytes.
	FaultOversize FaultAction = fault.Oversize
	// FaultNotJSON answers with Status (200 if zero) and an HTML page, or Body.
	FaultNotJSON FaultAction = fault.NotJSON
	// FaultRedirect answers with Status (307 if zero) and Location.
	FaultRedirect FaultAction = fault.Redirect
)

// What can happen to a message of the Email API.
const (
	// FaultInternalError makes the submission end in the status error and the
	// event Email.Error, whose error ends with Body or, if that is empty, with a
	// usual text.
	FaultInternalError FaultAction = fault.InternalError
)

// What can happen to a delivery.
const (
	// FaultDrop loses the delivery: no attempt is made, the journal says dropped.
	FaultDrop FaultAction = fault.Drop
	// FaultDuplicate delivers the same bytes again after they were accepted.
	FaultDuplicate FaultAction = fault.Duplicate
	// FaultReorder holds the delivery back until the webhook's next one is queued
	// and puts it behind that, or until Delay (1 s if zero) has passed.
	FaultReorder FaultAction = fault.Reorder
)

// FaultDelay waits for Delay, then goes on as usual: with a request, or with a
// delivery if the rule says Event or WebhookID.
const FaultDelay FaultAction = fault.Delay

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

// Inject adds rules to the end of the fault plan. It adds none if one of them
// has a mistake, which the error names.
//
// Requests are disturbed once their access token is known and before they are
// validated. Every rule counts all that it is about; of several that hit, the
// first acts.
func (s *Server) Inject(faults ...Fault) error {
	_, err := s.env.Inject(each(faults, func(f Fault) fault.Fault { return fault.Fault(f) }))
	return err
}

// Faults returns the rules of the fault plan in the order in which they act,
// with what became of them so far.
func (s *Server) Faults() []FaultRule {
	_, rules := s.env.Faults.List()
	return each(rules, func(r fault.Rule) FaultRule {
		return FaultRule{ID: r.ID, Fault: Fault(r.Fault), Enabled: r.Enabled, Calls: r.Calls, Hits: r.Hits}
	})
}

// RemoveFault removes a rule. It is an error if there is none with that id.
func (s *Server) RemoveFault(id string) error {
	if id == "" || s.env.Faults.Remove(id) == 0 {
		return fmt.Errorf("mockserver: no fault %q", id)
	}
	return nil
}

// EnableFault switches a rule on or off. It is an error if there is none with
// that id.
func (s *Server) EnableFault(id string, on bool) error {
	if !s.env.Faults.Change(id, func(r *fault.Rule) { r.Enabled = on }) {
		return fmt.Errorf("mockserver: no fault %q", id)
	}
	return nil
}

// ClearFaults removes all rules: those that are injected next have the chances
// that the first ones of a new server with this seed have. What the old ones
// delay or hold already goes on.
func (s *Server) ClearFaults() { s.env.Faults.Remove("") }

// FaultSeed returns the seed of all probabilities. A run with the same seed,
// the same rules and the same order of requests has the same faults.
func (s *Server) FaultSeed() uint64 {
	seed, _ := s.env.Faults.List()
	return seed
}

// SeedFaults sets the seed and begins the counts of all rules anew; 0 chooses
// one. It returns the seed.
func (s *Server) SeedFaults(seed uint64) uint64 { return s.env.Faults.Reseed(seed) }

// Operations returns the operationIds of the API's document, sorted.
func Operations() []string { return contract.IDs() }
