package delivery

import (
	"maps"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/model"
)

// Each change to a delivery updates the counts of its webhook, so no scan is
// necessary.
type counts struct {
	states   map[model.DeliveryState]int
	attempts PerMinute
	failed   PerMinute // failed attempts
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
		h.eventCounts[e.AccountID] = &PerMinute{}
	}
	h.eventCounts[e.AccountID].Add(e.Time)
}

// Stats counts deliveries, attempts and events.
type Stats struct {
	States   map[model.DeliveryState]int
	Events   int64 // since the server started or was last restored
	Attempts int64
	Failed   int64 // failed attempts
	Minutes  map[int64]*Minute
	Waiting  []Waiting
}

// Minute contains the counts of one minute.
type Minute struct {
	Start    time.Time `json:"minute" doc:"the start of the minute"`
	Messages int64     `json:"messages" doc:"the number of sent messages"`
	Events   int64     `json:"events" doc:"the number of events"`
	Attempts int64     `json:"attempts" doc:"the number of attempts"`
	Failed   int64     `json:"failed" doc:"the number of failed attempts"`
}

// WaitReason is a reason for waiting.
type WaitReason string

// The reasons for waiting.
const (
	WaitRetry        WaitReason = "retry"
	WaitRateLimit    WaitReason = "rate_limit"
	WaitArchived     WaitReason = "archived"
	WaitDelay        WaitReason = "delay"        // by a fault
	WaitTurn         WaitReason = "turn"         // the limit of concurrent attempts
	WaitCampaign     WaitReason = "campaign"     // scheduled for later
	WaitConfirmation WaitReason = "confirmation" // contacts that have not confirmed
)

// WaitReasons returns all reasons for waiting.
func WaitReasons() []WaitReason {
	return []WaitReason{WaitRetry, WaitRateLimit, WaitArchived, WaitDelay, WaitTurn, WaitCampaign, WaitConfirmation}
}

// Waiting describes pending work that waits for the same reason: deliveries to one
// webhook, a campaign, or the contacts of one list.
type Waiting struct {
	Why        WaitReason `json:"why" doc:"the reason for waiting; delay is by a fault, turn is the limit of concurrent attempts"`
	N          int        `json:"n" doc:"the number of waiting deliveries, campaigns or contacts"`
	Until      time.Time  `json:"until,omitzero" doc:"the time when the first wait ends, if known"`
	WebhookID  string     `json:"webhook_id,omitzero" doc:"the id of the webhook that receives the deliveries, if any"`
	URL        string     `json:"url,omitzero" doc:"the target URL of the deliveries"`
	CampaignID int64      `json:"campaign_id,omitzero" doc:"the id of the campaign"`
	ListID     int64      `json:"list_id,omitzero" doc:"the id of the list that contains the contacts"`
	Name       string     `json:"name,omitzero" doc:"the name of the campaign or list"`
}

// Stats returns the counts of events and deliveries for an account: the totals, and the
// counts for each minute between from and until, inclusive. Both are numbers of minutes
// since the Unix epoch. Account 0 means all accounts. Deliveries without an account count
// for every account. The running time depends on the number of webhooks, not on the
// number of deliveries.
func (d *Dispatcher) Stats(account, from, until int64) Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := Stats{States: map[model.DeliveryState]int{}, Minutes: map[int64]*Minute{}}
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
func (s *Stats) Minute(m int64) *Minute {
	if s.Minutes[m] == nil {
		s.Minutes[m] = &Minute{Start: minuteStart(m)}
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
func (q *queue) waitingByReason(now time.Time) []Waiting {
	inLine, retrying := len(q.ready)+len(q.overtakenBy), 0
	if len(q.scheduled) > 0 {
		retrying = q.history.deliveryCounts[countsKey{q.hook.AccountID, q.hook.ID}].states[model.DeliveryRetrying]
	}
	line := Waiting{Why: WaitTurn, N: inLine}
	if until, _ := q.due(now); until.After(now) {
		line.Why, line.Until = WaitRateLimit, until
	}
	all := []Waiting{
		{Why: WaitRetry, N: retrying, Until: q.earliest(model.DeliveryRetrying)},
		{Why: WaitDelay, N: len(q.scheduled) - retrying, Until: q.earliest(model.DeliveryQueued)},
		line,
	}
	if q.hook.Archived {
		all = []Waiting{{Why: WaitArchived, N: inLine + len(q.scheduled)}}
	}
	all = slices.DeleteFunc(all, func(w Waiting) bool { return w.N == 0 })
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

// MaxMinutes is the maximum number of recent minutes whose counts are stored.
const MaxMinutes = 24 * 60

// PerMinute counts occurrences by minute. The zero value is ready to use, but a PerMinute
// is not safe for concurrent use.
type PerMinute struct {
	total int64
	by    map[int64]int64 // nonzero counts by minute
}

// Add adds an occurrence at the given time.
func (c *PerMinute) Add(at time.Time) {
	c.total++
	if c.by == nil {
		c.by = map[int64]int64{}
	}
	minute := MinuteOf(at)
	c.by[minute]++
	if len(c.by) > MaxMinutes { // later minutes exist if the clock was set back
		maps.DeleteFunc(c.by, func(m, _ int64) bool { return m > minute || m <= minute-MaxMinutes })
	}
}

// Total returns the total number of occurrences.
func (c *PerMinute) Total() int64 { return c.total }

// Each calls f for each minute that has a count, from the first minute to the
// last, inclusive. The order is unspecified.
func (c *PerMinute) Each(from, until int64, f func(minute, n int64)) {
	for minute, n := range c.by {
		if minute >= from && minute <= until {
			f(minute, n)
		}
	}
}

// MinuteOf returns the number of minutes from the start of 1970 to a time.
func MinuteOf(t time.Time) int64 { return t.Truncate(time.Minute).Unix() / 60 }

// minuteStart returns the start of a minute.
func minuteStart(minute int64) time.Time { return time.Unix(minute*60, 0).UTC() }
