package delivery

import (
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/model"
)

// Each change to a delivery updates the counts of its webhook, so no scan is
// necessary.
type counts struct {
	states   map[model.DeliveryState]int
	attempts activity.PerMinute
	failed   activity.PerMinute // failed attempts
}

// countsKey contains the account too, because restored deliveries to URLs without a
// webhook have the webhook id 0 in all accounts.
type countsKey struct{ account, webhook int64 }

func (dlv *delivery) countsKey() countsKey { return countsKey{dlv.AccountID, dlv.webhookID} }

func (h *history) countsOf(dlv *delivery) *counts {
	c := h.deliveryCounts[dlv.countsKey()]
	if c == nil {
		c = &counts{states: map[model.DeliveryState]int{}}
		h.deliveryCounts[dlv.countsKey()] = c
	}
	return c
}

func (c *counts) attempted(a model.Attempt) {
	c.attempts.Add(a.Time)
	if !accepted(a) {
		c.failed.Add(a.Time)
	}
}

func (h *history) countEvent(e *model.FiredEvent) {
	if h.eventCounts[e.AccountID] == nil {
		h.eventCounts[e.AccountID] = &activity.PerMinute{}
	}
	h.eventCounts[e.AccountID].Add(e.Time)
}

// Stats counts deliveries, attempts and events.
type Stats struct {
	States   map[model.DeliveryState]int
	Events   int64 // since the server started or was last restored
	Attempts int64
	Failed   int64 // failed attempts
	Minutes  map[int64]*activity.Minute
	Waiting  []activity.Waiting
}

// Stats returns the counts of events and deliveries for an account: the totals, and the
// counts for each minute between from and until, inclusive. The parameters from and until
// are numbers of minutes since the Unix epoch. Account 0 means all accounts. Deliveries
// without an account count for every account. The running time depends on the number of
// webhooks, not on the number of deliveries.
func (d *Dispatcher) Stats(account, from, until int64) Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := Stats{States: map[model.DeliveryState]int{}, Minutes: map[int64]*activity.Minute{}}
	included := func(id int64) bool { return account == 0 || id == 0 || id == account }
	for id, fired := range d.history.eventCounts {
		if included(id) {
			out.Events += fired.Total()
			fired.Each(from, until, func(m, n int64) { out.Minute(m).Events += n })
		}
	}
	for key, c := range d.history.deliveryCounts {
		if included(key.account) {
			out.add(c, from, until)
		}
	}
	for _, q := range d.order {
		if included(q.hook.AccountID) {
			out.Waiting = append(out.Waiting, q.waitingByReason(d.Clock.Now())...)
		}
	}
	return out
}

// Minute returns the counts for a minute. The caller may change the counts.
func (s *Stats) Minute(m int64) *activity.Minute {
	if s.Minutes[m] == nil {
		s.Minutes[m] = &activity.Minute{Start: activity.StartOf(m)}
	}
	return s.Minutes[m]
}

func (s *Stats) add(c *counts, from, until int64) {
	for state, n := range c.states {
		s.States[state] += n
	}
	s.Attempts += c.attempts.Total()
	s.Failed += c.failed.Total()
	c.attempts.Each(from, until, func(m, n int64) { s.Minute(m).Attempts += n })
	c.failed.Each(from, until, func(m, n int64) { s.Minute(m).Failed += n })
}

// waitingByReason describes the pending deliveries in a queue, grouped by the reason for
// waiting.
func (q *queue) waitingByReason(now time.Time) []activity.Waiting {
	inLine, retrying := len(q.ready)+len(q.overtakenBy), 0
	if len(q.scheduled) > 0 {
		retrying = q.history.deliveryCounts[countsKey{q.hook.AccountID, q.hook.ID}].states[model.DeliveryRetrying]
	}
	line := activity.Waiting{Why: activity.WaitTurn, N: inLine}
	if until, _ := q.due(now); until.After(now) {
		line.Why, line.Until = activity.WaitRateLimit, until
	}
	all := []activity.Waiting{
		{Why: activity.WaitRetry, N: retrying, Until: q.earliest(model.DeliveryRetrying)},
		{Why: activity.WaitDelay, N: len(q.scheduled) - retrying, Until: q.earliest(model.DeliveryQueued)},
		line,
	}
	if q.hook.Archived {
		all = []activity.Waiting{{Why: activity.WaitArchived, N: inLine + len(q.scheduled)}}
	}
	all = slices.DeleteFunc(all, func(w activity.Waiting) bool { return w.N == 0 })
	for i := range all {
		all[i].URL = q.hook.URL
		if !q.withoutWebhook {
			all[i].WebhookID = q.hook.Name()
		}
	}
	return all
}

// earliest returns the earliest NextAttempt of the scheduled deliveries in the given
// state. It looks at only 100 scheduled deliveries, and returns the zero time if none of
// them has this state.
func (q *queue) earliest(state model.DeliveryState) time.Time {
	for _, n := range q.scheduled[:min(len(q.scheduled), 100)] {
		if dlv := q.history.at(n); dlv.State == state {
			return dlv.NextAttempt
		}
	}
	return time.Time{}
}
