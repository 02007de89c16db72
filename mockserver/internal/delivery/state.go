package delivery

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"example.com/emailplatform/mockserver/internal/record"
)

// State is all that an engine remembers, but for its webhooks.
type State struct {
	Deliveries []Saved              `json:"deliveries"`
	Events     []*record.FiredEvent `json:"events"`
	LastEvent  int                  `json:"last_event"`
}

// Saved is a delivery with what there is left to do for it.
type Saved struct {
	*record.Delivery
	Bytes     []byte    `json:"body_base64,omitzero"` // the body, if it is no text
	Tries     int       `json:"tries"`
	Duplicate bool      `json:"duplicate,omitzero"`
	Manual    bool      `json:"manual,omitzero"`  // the next attempt was asked for
	Started   time.Time `json:"started,omitzero"` // the attempt under way
	Place     int       `json:"place,omitzero"`   // in the webhook's queue, from 1
}

// Check returns the first mistake in a state of webhooks that have these names.
func (s State) Check(hooks map[string]bool) error {
	for i, d := range s.Deliveries {
		switch {
		case d.Delivery == nil || d.ID != ID(i):
			return fmt.Errorf("deliveries[%d]: id: want %s", i, ID(i))
		case d.WebhookID != "" && !hooks[d.WebhookID]:
			return fmt.Errorf("deliveries[%d]: webhook_id: there is none such", i)
		case d.Tries < 0:
			return fmt.Errorf("deliveries[%d]: tries: want 0 or more", i)
		}
	}
	if slices.Contains(s.Events, nil) {
		return errors.New("events: want objects")
	}
	return nil
}

// ID is the id of a delivery by its place in the journal.
func ID(i int) string { return "dlv-" + strconv.Itoa(i+1) }

// State copies out what there is to remember.
func (d *Engine) State() State {
	d.mu.Lock()
	defer d.mu.Unlock()
	places := map[*delivery]int{}
	for _, q := range d.order {
		for i, delivery := range q.pending {
			places[delivery] = i + 1
		}
	}
	out := State{Events: d.events, LastEvent: d.lastEvent}
	for _, delivery := range d.journal {
		saved := Saved{
			Delivery:  &delivery.Delivery,
			Tries:     delivery.tries,
			Duplicate: delivery.duplicate,
			Manual:    delivery.manual,
			Started:   delivery.started,
			Place:     places[delivery],
		}
		if !utf8.Valid(delivery.Body) {
			saved.Bytes = delivery.Body
		}
		out.Deliveries = append(out.Deliveries, saved)
	}
	return out
}

// replace gives the Engine other webhooks and another journal.
func (d *Engine) Replace(hooks []Webhook, from State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queues {
		q.forget()
	}
	d.queues, d.order, d.journal, d.byID = map[int64]*queue{}, nil, nil, map[string]*delivery{}
	d.events, d.lastEvent = from.Events, from.LastEvent
	for _, h := range hooks {
		q := &queue{hook: h}
		d.queues[h.ID] = q
		d.order = append(d.order, q)
	}
	for _, saved := range from.Deliveries {
		d.restoreLocked(saved)
	}
	slices.SortStableFunc(from.Deliveries, func(a, b Saved) int { return cmp.Compare(a.Place, b.Place) })
	for _, saved := range from.Deliveries {
		d.resumeLocked(d.byID[saved.ID])
	}
	for _, q := range d.order {
		q.restoreLimit(d.journal)
		d.startLocked(q)
	}
}

// restoreLocked puts a delivery into the journal. Nobody knows how an attempt
// ended that was under way, but it was made, and counts.
func (d *Engine) restoreLocked(saved Saved) *delivery {
	out := &delivery{Delivery: *saved.Delivery, tries: saved.Tries, duplicate: saved.Duplicate, manual: saved.Manual}
	out.webhookID, _ = strconv.ParseInt(out.WebhookID, 10, 64) // 0 is that of no webhook
	if len(saved.Bytes) > 0 {
		out.Body = saved.Bytes
	}
	if !saved.Started.IsZero() {
		out.Attempts = append(out.Attempts, record.Attempt{Time: saved.Started, Error: cutShort, Manual: out.manual})
		out.manual = false
	}
	d.journal = append(d.journal, out)
	d.byID[out.ID] = out
	return out
}

// cutShort is what became of an attempt that was under way.
const cutShort = "the state was saved before there was an answer"

// resumeLocked puts what is still to be delivered into its queue. What went to
// no webhook has none, as snapshots do not hold its secret.
func (d *Engine) resumeLocked(delivery *delivery) {
	q := d.queues[delivery.webhookID]
	switch {
	case delivery.State != record.DeliveryQueued && delivery.State != record.DeliveryInFlight && delivery.State != record.DeliveryRetrying:
	case q == nil:
		delivery.State, delivery.NextAttempt = record.DeliveryFailed, time.Time{}
	case delivery.NextAttempt.IsZero():
		delivery.State = record.DeliveryQueued
		q.pending = append(q.pending, delivery)
	default:
		q.later(delivery, delivery.NextAttempt)
	}
}

// restoreLimit counts the attempts of the journal against the rate limit.
func (q *queue) restoreLimit(journal []*delivery) {
	if q.hook.RateLimit == 0 {
		return
	}
	var starts []time.Time
	for _, delivery := range journal {
		for _, a := range delivery.Attempts {
			if delivery.webhookID == q.hook.ID {
				starts = append(starts, a.Time)
			}
		}
	}
	slices.SortFunc(starts, time.Time.Compare)
	for _, start := range starts {
		q.count(start)
	}
}

// forget leaves a queue with nothing to do, for good.
func (q *queue) forget() {
	if q.timer != nil {
		q.timer.Stop()
	}
	q.pending, q.retries, q.held, q.forgotten = nil, nil, nil, true
}
