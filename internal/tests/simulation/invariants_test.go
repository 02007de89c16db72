package simulation

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// Invariant is the name of a rule that must hold in every run.
type Invariant string

// The invariants.
const (
	neverTwice            Invariant = "never twice"
	nilIsDone             Invariant = "nil means done"
	nilIsComplete         Invariant = "nil means complete"
	failedHadNoEffect     Invariant = "a failed call has no effect"
	unknownOnlyIfPossible Invariant = "unknown only if processing is possible"
	succeedsWithoutFaults Invariant = "without faults, each call succeeds"
	ends                  Invariant = "every call ends"
	exactlyOnce           Invariant = "exactly one effect"
	atLeastOnce           Invariant = "at least one effect"
	delivers              Invariant = "every event is delivered"
	nothingLeaks          Invariant = "no goroutine or connection leaks"
	snapshots             Invariant = "snapshots"
)

// checkCall compares the result of a call with the requests that the transport sent.
func (sim *simulation) checkCall(d *call) {
	d.mu.Lock()
	tries := slices.Clone(d.tries)
	d.mu.Unlock()
	if errors.Is(d.err, client.ErrOutcomeUnknown) && !slices.ContainsFunc(tries, try.maybeDone) {
		sim.violate(unknownOnlyIfPossible, "%s %s: %v, but the transport saw %+v", d.id, d.what, d.err, tries)
	}
	if d.err != nil && sim.haveFaultsEnded() {
		sim.violate(succeedsWithoutFaults, "%s %s: %v", d.id, d.what, d.err)
	}
}

// maybeDone reports whether the platform may have processed the request. It considers only the connection and the
// status, as the calling process does.
func (t try) maybeDone() bool {
	return t.connected && !rejects(t.status)
}

// rejects reports whether a status means that the platform did not process the request (docs/decisions.md, section 7).
func rejects(status int) bool {
	return 400 <= status && status < 500 && status != http.StatusRequestTimeout
}

// checkInvariants checks the invariants at the end of a run.
func (sim *simulation) checkInvariants() {
	outbox := map[string][]mockserver.Message{}
	for _, m := range sim.platform.now().Outbox() {
		outbox[m.Subject] = append(outbox[m.Subject], m)
	}
	for _, check := range sim.record.finalChecks {
		check(outbox)
	}
	sim.checkDeliveries()
}

// subscribedEvents returns the events that have an id. The webhook subscribes to them.
func subscribedEvents() []events.Name {
	return []events.Name{
		events.NameEmailBounced, events.NameEmailReportedAsSpam, events.NameEmailUnsubscribed,
		events.NameEmailGlobalUnsubscribed, events.NameContactRemoved, events.NameSuppressedEmailAdded, events.NameEmailRejected,
	}
}

// checkDeliveries counts the effects of deliveries.
func (sim *simulation) checkDeliveries() {
	srv := sim.platform.now()
	fired, ids := map[string]bool{}, map[string]bool{}
	for _, e := range srv.Events() {
		if e.EventID != "" && ids[e.EventID] {
			sim.violate(neverTwice, "two events have the id %s", e.EventID)
		}
		ids[e.EventID] = true
		if slices.Contains(subscribedEvents(), e.Event) && len(e.Deliveries) != 1 {
			sim.violate(delivers, "%s of %v has %d deliveries", e.Event, e.Time, len(e.Deliveries))
		}
		for _, id := range e.Deliveries {
			fired[id] = true
		}
	}
	sim.store.mu.Lock()
	defer sim.store.mu.Unlock()
	for _, d := range srv.Deliveries() {
		if slices.ContainsFunc(d.Attempts, func(a mockserver.Attempt) bool { return a.Status == http.StatusUnauthorized }) {
			sim.violate(delivers, "%s %s is rejected as not signed", d.Event, d.EventID)
		}
		n := sim.store.effects[d.EventID]
		once := sim.plan.Store.exact()
		switch d.State {
		case mockserver.DeliveryDelivered:
			if once && n != 1 {
				sim.violate(exactlyOnce, "%s %s is delivered and had %d effects", d.Event, d.EventID, n)
			} else if n == 0 {
				sim.violate(atLeastOnce, "%s %s is delivered and had no effect", d.Event, d.EventID)
			}
		case mockserver.DeliveryFailed:
			if tried := len(d.Attempts); tried <= len(mockserver.DefaultRetrySchedule()) {
				sim.violate(delivers, "%s %s is given up after %d attempts", d.Event, d.EventID, tried)
			}
		case mockserver.DeliveryDropped:
			if d.Fault == "" {
				sim.violate(delivers, "%s %s is dropped", d.Event, d.EventID)
			}
		default:
			sim.violate(delivers, "%s %s is %s in the end", d.Event, d.EventID, d.State)
		}
		if once && n > 1 {
			sim.violate(exactlyOnce, "%s %s had %d effects", d.Event, d.EventID, n)
		}
		if !fired[d.ID] {
			sim.violate(delivers, "%s %s was delivered but never fired", d.Event, d.EventID)
		}
	}
}

// record contains the data for the invariants.
type record struct {
	mu           sync.Mutex
	sent         map[uint64]int                                 // number of requests that processes sent
	arrived      map[uint64]int                                 // number of complete requests that arrived
	inconsistent map[string]int                                 // number of emails of rejected requests, by subject
	finalChecks  []func(outbox map[string][]mockserver.Message) // checks for the end of the run, with the outbox by subject
}

// arrival is a request that arrived.
type arrival struct {
	request uint64
	n       int // number among equal requests
}

func newRecord() *record {
	return &record{sent: map[uint64]int{}, arrived: map[uint64]int{}, inconsistent: map[string]int{}}
}

// countSent counts a request that a process sends, and returns its number among equal requests.
func (r *record) countSent(request uint64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent[request]++
	return r.sent[request]
}

// countArrival records a complete request, and reports whether the client sent it. It accepts each GET, because net/http
// may resend it, which is harmless.
func (r *record) countArrival(req *http.Request, body []byte) (v arrival, known bool) {
	id := fingerprint(req, body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrived[id]++
	v = arrival{request: id, n: r.arrived[id]}
	return v, req.Method == http.MethodGet || v.n <= r.sent[id]
}

// countInconsistent counts the emails that the platform sent although it rejected their requests. Such a platform
// breaks an assumption of the client, so the invariants ignore these emails.
func (r *record) countInconsistent(subject string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inconsistent[subject]++
}

// inconsistentOf returns the number of emails that countInconsistent has counted for the given subject.
func (r *record) inconsistentOf(subject string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inconsistent[subject]
}

// addFinalCheck adds a check for the end of the run.
func (r *record) addFinalCheck(check func(outbox map[string][]mockserver.Message)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finalChecks = append(r.finalChecks, check)
}

// trace contains the actions of all actors in the order of virtual time.
type trace struct {
	start time.Time

	mu    sync.Mutex
	lines []line
}

type line struct {
	at   time.Duration
	text string
}

// add records an action of an actor at this instant.
func (t *trace) add(actor, format string, args ...any) {
	text := fmt.Sprintf("%-10s ", actor) + fmt.Sprintf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line{time.Since(t.start), text})
}

// String returns the trace. It sorts the lines of one instant, because the scheduler decides their order.
func (t *trace) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	sorted := slices.Clone(t.lines)
	slices.SortStableFunc(sorted, func(a, b line) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return strings.Compare(a.text, b.text)
	})
	var b strings.Builder
	for _, l := range sorted {
		fmt.Fprintf(&b, "%17.9f %s\n", l.at.Seconds(), l.text)
	}
	return b.String()
}
