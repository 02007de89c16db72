package delivery

import (
	"slices"
	"time"

	"example.com/emailplatform/mockserver/record"
)

// tally counts the deliveries to one webhook as they change, so that nobody has to
// look at all of them. A nil tally counts nothing.
type tally struct {
	account  int64
	states   map[record.DeliveryState]int
	attempts PerMinute
	failed   PerMinute // of the attempts
}

// attempted counts an attempt.
func (t *tally) attempted(a record.Attempt) {
	if t == nil {
		return
	}
	t.attempts.Add(a.Time)
	if !accepted(a) {
		t.failed.Add(a.Time)
	}
}

// become moves a delivery into a state.
func (x *delivery) become(state record.DeliveryState) {
	if x.tally != nil {
		x.tally.states[x.State]--
		x.tally.states[state]++
	}
	x.State = state
}

// count begins to count a delivery.
func (j *journal) count(x *delivery) {
	x.tally = j.tallies[x.webhookID]
	if x.tally == nil {
		x.tally = &tally{account: x.AccountID, states: map[record.DeliveryState]int{}}
		j.tallies[x.webhookID] = x.tally
	}
	x.tally.states[x.State]++
}

// countAttempts counts what was attempted before, in the order of time: then the
// minutes that are kept are the same as when it happened.
func (j *journal) countAttempts() {
	type made struct {
		*tally
		*record.Attempt
	}
	var all []made
	for _, x := range j.deliveries {
		for i := range x.Attempts {
			all = append(all, made{x.tally, &x.Attempts[i]})
		}
	}
	slices.SortFunc(all, func(a, b made) int { return a.Time.Compare(b.Time) })
	for _, m := range all {
		m.attempted(*m.Attempt)
	}
}

// countEvent counts an event that fired.
func (j *journal) countEvent(e *record.FiredEvent) {
	if j.fires[e.AccountID] == nil {
		j.fires[e.AccountID] = &PerMinute{}
	}
	j.fires[e.AccountID].Add(e.Time)
}

// Standing is how the deliveries of an account stand, and what fired in it.
type Standing struct {
	States   map[record.DeliveryState]int
	Events   int64 // since the start or the last restore, which has the latest alone
	Attempts int64
	Failed   int64 // of the attempts
	Minutes  map[int64]*Minute
	Waiting  []Wait
}

// Minute is what happened in one minute.
type Minute struct{ Events, Attempts, Failed int64 }

// Wait is what waits in the queue of one webhook for the same reason.
type Wait struct {
	WebhookID string // empty for a URL that is no webhook's
	URL       string
	// Why is retry, rate_limit, archived or delay, as in a summary, or turn: as
	// many attempts are under way as are made at a time.
	Why   string
	N     int
	Until time.Time // of the first of them, if it is known
}

// Standing returns how everything stands, and what happened from one minute until
// another, both included. Account 0 is all of them; what belongs to no account
// belongs to each. It takes as long as there are webhooks, not deliveries.
func (d *Engine) Standing(account, from, until int64) Standing {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := Standing{States: map[record.DeliveryState]int{}, Minutes: map[int64]*Minute{}}
	mine := func(id int64) bool { return account == 0 || id == 0 || id == account }
	for id, fires := range d.journal.fires {
		if mine(id) {
			out.Events += fires.Total()
			fires.Each(from, until, func(m, n int64) { out.minute(m).Events += n })
		}
	}
	for _, t := range d.journal.tallies {
		if mine(t.account) {
			out.add(t, from, until)
		}
	}
	now := d.clock.Now()
	for _, q := range d.order {
		if mine(q.hook.AccountID) {
			out.Waiting = append(out.Waiting, q.waits(now)...)
		}
	}
	return out
}

func (s *Standing) minute(m int64) *Minute {
	if s.Minutes[m] == nil {
		s.Minutes[m] = &Minute{}
	}
	return s.Minutes[m]
}

func (s *Standing) add(t *tally, from, until int64) {
	for state, n := range t.states {
		s.States[state] += n
	}
	s.Attempts += t.attempts.Total()
	s.Failed += t.failed.Total()
	t.attempts.Each(from, until, func(m, n int64) { s.minute(m).Attempts += n })
	t.failed.Each(from, until, func(m, n int64) { s.minute(m).Failed += n })
}

// waits says what waits in a queue, and why.
func (q *queue) waits(now time.Time) (out []Wait) {
	wait := func(why string, n int, until time.Time) {
		if n > 0 {
			out = append(out, Wait{WebhookID: q.name(), URL: q.hook.URL, Why: why, N: n, Until: until})
		}
	}
	inLine := len(q.pending) + len(q.behind)
	if q.hook.Archived {
		wait("archived", inLine+len(q.retries), time.Time{})
		return out
	}
	again := 0
	if len(q.retries) > 0 {
		again = q.retries[0].tally.states[record.DeliveryRetrying]
	}
	wait("retry", again, q.soonest(record.DeliveryRetrying))
	wait("delay", len(q.retries)-again, q.soonest(record.DeliveryQueued))
	if until, _ := q.due(now); until.After(now) {
		wait("rate_limit", inLine, until)
	} else {
		wait("turn", inLine, time.Time{})
	}
	return out
}

// soonest is the next attempt of what waits for a time in a state, unless many of
// another state come before it.
func (q *queue) soonest(state record.DeliveryState) time.Time {
	for _, x := range q.retries[:min(len(q.retries), 100)] {
		if x.State == state {
			return x.NextAttempt
		}
	}
	return time.Time{}
}

// name is the webhook's, empty if it is none.
func (q *queue) name() string {
	if q.once {
		return ""
	}
	return q.hook.Name()
}
