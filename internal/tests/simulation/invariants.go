package simulation

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// Invariant is what must hold in every run, and where that is promised.
type Invariant struct {
	Name     string
	Source   string // the file
	Sentence string // in it
}

// The invariants.
//
//nolint:gochecknoglobals // a table of constants
var (
	neverTwice = Invariant{
		"never twice", "README.md",
		"The client retries a request only when repeating it is safe.",
	}
	nilIsDone = Invariant{
		"nil means done", "client/doc.go",
		"Every returned error is an [*Error]",
	}
	nilIsComplete = Invariant{
		"nil means complete", "client/doc.go",
		"The error names the field",
	}
	failedDidNothing = Invariant{
		"what failed did nothing", "client/doc.go",
		"Any other error means that the request had no effect.",
	}
	unknownOnlyWhen = Invariant{
		"unknown only when it can be", "client/doc.go",
		`"Maybe done" means that the platform may have processed the request. If a call fails after such an attempt, its error is an [ErrOutcomeUnknown], unless the call is a GET.`,
	}
	undisturbed = Invariant{
		"what nothing disturbs succeeds", "client/doc.go",
		"Every 2xx status is a success.",
	}
	attempts = Invariant{
		"attempts", "client/errors.go",
		"how many requests were sent",
	}
	ends = Invariant{
		"every call ends", "client/config.go",
		"Timeout is the maximum duration of one attempt, from dialing to the last byte of the response.",
	}
	exactlyOnce = Invariant{
		"exactly one effect", "webhook/doc.go",
		"The handler never calls the function concurrently for the same event. It calls the function again until it succeeds, and not after that.",
	}
	atLeastOnce = Invariant{
		"at least one effect", "webhook/doc.go",
		"204  the function returned nil, for this or an earlier delivery of the event",
	}
	delivers = Invariant{
		"every event is delivered", "docs/decisions.md",
		"Anything else is tried again after 1 s, 5 s, 30 s, 2 min, 10 min, 1 h, 6 h: at least once, in no order, with the same bytes each time.",
	}
	importsComplete = Invariant{
		"imports lose nobody", "client/doc.go",
		"You can resume an import that failed or crashed, without losing a contact: from the last checkpoint, or with exactly the contacts that the report lists as remaining.",
	}
	reportsTruth = Invariant{
		"reports of imports are true", "client/doc.go",
		"Its [ImportReport] has the result of each contact.",
	}
	checkpoints = Invariant{
		"checkpoints", "client/import.go",
		"Store this number in a safe place and set Skip to it after a crash.",
	}
	staysOut = Invariant{
		"who unsubscribed stays so", "client/import.go",
		"Resubscribe allows an import with status active to activate contacts that have unsubscribed or are pending. By default these keep their status.",
	}
	listsWhole = Invariant{
		"iterations are whole", "client/doc.go",
		"It yields an error once, after all items before it, and then ends.",
	}
	lookupsApart = Invariant{
		"lookups are a second apart", "client/doc.go",
		"a request starts at least one second after the previous response",
	}
	nothingLeft = Invariant{
		"nothing is left", "client/doc.go",
		"No goroutine outlives the call or loop that started it",
	}
	noSecrets = Invariant{
		"no secret is shown", "client/doc.go",
		"No value of this package prints or logs a token or a webhook's secret",
	}
	snapshots = Invariant{
		"snapshots", "mockserver/state.go",
		"Snapshot writes the whole state as one JSON object",
	}
	theContract = Invariant{
		"the contract", "docs/decisions.md",
		"so that `openapi.yaml`, the client, the events, the receiver and the mock platform agree",
	}
)

// Invariants returns all of them.
func Invariants() []Invariant {
	return []Invariant{
		neverTwice, nilIsDone, nilIsComplete, failedDidNothing, undisturbed, unknownOnlyWhen, attempts, ends, exactlyOnce, atLeastOnce,
		delivers, importsComplete, reportsTruth, checkpoints, staysOut, listsWhole, lookupsApart, nothingLeft, noSecrets,
		snapshots, theContract,
	}
}

// checkCall holds a call that has returned against what the process's transport saw.
func (w *world) checkCall(c *caller, d *call) {
	d.mu.Lock()
	tries := slices.Clone(d.tries)
	d.mu.Unlock()
	unknown := errors.Is(d.err, client.ErrOutcomeUnknown)
	w.record.count(func(s *Stats) {
		s.Calls++
		if unknown {
			s.Unknown++
		} else if d.err != nil {
			s.Failed++
		}
	})
	if unknown && !slices.ContainsFunc(tries, try.maybeDone) {
		w.violate(unknownOnlyWhen, "%s %s: %v, but the transport saw %+v", d.id, d.what, d.err, tries)
	}
	if e := (*client.Error)(nil); errors.As(d.err, &e) && !d.waits && e.Attempts != len(tries) {
		w.violate(attempts, "%s %s: %v says %d attempts, the transport saw %d", d.id, d.what, d.err, e.Attempts, len(tries))
	}
	if most := c.longest(); !d.waits && d.took > most {
		w.violate(ends, "%s %s took %v, want %v at most: %v", d.id, d.what, d.took, most, d.err)
	}
	if d.err != nil && w.isCalm() {
		w.violate(undisturbed, "%s %s: %v", d.id, d.what, d.err)
	}
	if n := c.setup.MaxAttempts; !d.waits && !c.setup.Renews && len(tries) > n {
		w.violate(attempts, "%s %s: %d requests, want %d at most", d.id, d.what, len(tries), n)
	}
}

// longest is how long a call may take at most: attempts, pauses, and standing still.
func (c *caller) longest() time.Duration {
	const pause = time.Minute // as Retry-After asks at most
	d := time.Duration(0)
	for range c.setup.MaxAttempts {
		d += 2*(c.setup.Timeout+time.Second) + pause // twice, for a token that is renewed
	}
	for _, s := range c.w.plan.Steps {
		if stall, ok := s.Do.(Stall); ok && stall.Process == c.proc.name {
			d += stall.For
		}
	}
	return d
}

// maybeDone reports whether the platform may have carried the request out, for all
// that the process can know.
func (t try) maybeDone() bool {
	return t.connected && (t.status < 400 || t.status >= 500 || t.status == http.StatusRequestTimeout)
}

// judge looks at the end of a run.
func (w *world) judge() {
	s, err := w.look()
	if err != nil {
		w.violate(snapshots, "the platform cannot be asked: %v", err)
		return
	}
	for _, check := range w.record.finally {
		check(s)
	}
	w.checkDeliveries()
	w.checkLookups()
	w.checkSecrets()
}

// checkDeliveries counts the effects of what was delivered.
func (w *world) checkDeliveries() {
	srv := w.platform.now()
	fired, ids := map[string]bool{}, map[string]bool{}
	for _, e := range srv.Events() {
		if e.EventID != "" && ids[e.EventID] {
			w.violate(neverTwice, "the id %s is that of two events", e.EventID)
		}
		ids[e.EventID] = true
		if slices.Contains(heardEvents(), e.Event) && len(e.Deliveries) != 1 {
			w.violate(delivers, "%s of %v has %d deliveries", e.Event, e.Time, len(e.Deliveries))
		}
		for _, id := range e.Deliveries {
			fired[id] = true
		}
	}
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	for _, d := range srv.Deliveries() {
		w.record.count(func(s *Stats) { s.Deliveries += len(d.Attempts) })
		if slices.ContainsFunc(d.Attempts, func(a mockserver.Attempt) bool { return a.Status == http.StatusUnauthorized }) {
			w.violate(delivers, "%s %s is refused as not signed", d.Event, d.EventID)
		}
		n := w.store.effects[d.EventID]
		once := w.plan.Store.exact()
		switch d.State {
		case mockserver.DeliveryDelivered:
			if once && n != 1 {
				w.violate(exactlyOnce, "%s %s is delivered and had %d effects", d.Event, d.EventID, n)
			} else if n == 0 {
				w.violate(atLeastOnce, "%s %s is delivered and had no effect", d.Event, d.EventID)
			}
		case mockserver.DeliveryFailed:
			if tried := len(d.Attempts); tried <= len(mockserver.DefaultRetrySchedule()) {
				w.violate(delivers, "%s %s is given up after %d attempts", d.Event, d.EventID, tried)
			}
		case mockserver.DeliveryDropped:
			if d.Fault == "" {
				w.violate(delivers, "%s %s is dropped", d.Event, d.EventID)
			}
		default:
			w.violate(delivers, "%s %s is %s in the end", d.Event, d.EventID, d.State)
		}
		if once && n > 1 {
			w.violate(exactlyOnce, "%s %s had %d effects", d.Event, d.EventID, n)
		}
		if !fired[d.ID] {
			w.violate(delivers, "%s %s was delivered but never fired", d.Event, d.EventID)
		}
	}
}

// checkLookups measures the time between lookups of one process at the platform.
// Those whose answer did not come to the process say nothing about its pace: the
// network may have held them up. Nor does one that was refused for its token.
func (w *world) checkLookups() {
	r := w.record
	slices.SortFunc(r.lookups, func(a, b *visit) int { return a.at.Compare(b.at) })
	last := map[string]*visit{}
	for _, v := range r.lookups {
		if !r.heard[v.id] {
			continue
		}
		if before := last[v.from]; before != nil {
			if gap := v.at.Sub(before.done); gap < time.Second {
				w.violate(lookupsApart, "%s: %v after the answer before", v.from, gap)
			}
		}
		if v.status != http.StatusUnauthorized {
			last[v.from] = v
		}
	}
}

// checkSecrets looks for what nobody must see.
func (w *world) checkSecrets() {
	trace := w.trace.String()
	secrets := append([]string{witness}, w.secrets...)
	for _, c := range w.callers {
		secrets = append(secrets, c.token()) // a stale one holds it too
	}
	for _, d := range w.platform.now().Deliveries() {
		secrets = append(secrets, d.Signature)
	}
	for _, s := range secrets {
		if w.log.shows(s) || strings.Contains(trace, s) {
			w.violate(noSecrets, "a secret that begins with %.4s", s)
		}
	}
}
