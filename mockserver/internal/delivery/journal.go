package delivery

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/feed"
	"example.com/emailplatform/mockserver/internal/record"
)

// maxEvents is how many events the journal holds: the latest ones.
const maxEvents = 10_000

// journalLocked notes an event.
func (d *Engine) journalLocked(e *Event, deliveries []string) {
	d.lastEvent++
	fired := &record.FiredEvent{
		ID:         fmt.Sprintf("evt-%d", d.lastEvent),
		Time:       e.What.Time,
		Event:      e.Name,
		EventID:    e.ID,
		AccountID:  e.AccountID,
		MessageID:  e.MessageID,
		Body:       e.Body,
		Deliveries: deliveries,
	}
	d.events = append(d.events, fired)
	if len(d.events) > maxEvents {
		d.events[0] = nil
		d.events = d.events[1:]
	}
	d.changes.Tell(feed.Event, func() any { return EventSummary{FiredEvent: *fired} })
}

// Events returns copies of the events of the journal that are wanted, the oldest first.
func (d *Engine) Events(wanted func(*record.FiredEvent) bool) []record.FiredEvent {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := []record.FiredEvent{}
	for _, e := range d.events {
		if wanted(e) {
			copied := *e
			copied.Body = slices.Clone(e.Body)
			copied.Deliveries = append([]string{}, e.Deliveries...)
			out = append(out, copied)
		}
	}
	return out
}

// NewestEvents iterates over the journal of events. The engine stands still meanwhile.
func (d *Engine) NewestEvents() iter.Seq[*record.FiredEvent] {
	return func(yield func(*record.FiredEvent) bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, e := range slices.Backward(d.events) {
			if !yield(e) {
				return
			}
		}
	}
}

// Deliveries returns copies of all deliveries, in the order in which the events fired.
func (d *Engine) Deliveries() []record.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]record.Delivery, len(d.journal))
	for i, delivery := range d.journal {
		out[i] = delivery.Delivery
		out[i].Body = slices.Clone(delivery.Body)
		out[i].Attempts = append([]record.Attempt{}, delivery.Attempts...)
	}
	return out
}

// NewestDeliveries iterates over the deliveries, each with what describes it as it stands. The engine stands still
// meanwhile.
func (d *Engine) NewestDeliveries() iter.Seq2[*record.Delivery, func() Summary] {
	return func(yield func(*record.Delivery, func() Summary) bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, delivery := range slices.Backward(d.journal) {
			if !yield(&delivery.Delivery, func() Summary { return d.glanceLocked(delivery) }) {
				return
			}
		}
	}
}

// Record returns everything about a delivery, or nil if there is none with the id.
func (d *Engine) Record(id string) *Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	delivery := d.byID[id]
	if delivery == nil {
		return nil
	}
	out := &Record{Summary: d.glanceLocked(delivery), Body: delivery.Body, MaxAttempts: d.mostLocked(delivery)}
	if q := d.queues[delivery.webhookID]; q != nil {
		out.Secret, out.HashFunction = q.hook.Secret, string(q.hook.Hash)
	}
	return out
}

// EventSummary is an event without its body.
type EventSummary struct {
	record.FiredEvent
	Body *struct{} `json:"body,omitempty"` // hides the event's
}

// Summary is a delivery without its body.
type Summary struct {
	record.Delivery
	Body *struct{} `json:"body,omitempty"` // hides the delivery's
	// Waiting says what keeps a delivery that is not being attempted: retry,
	// rate_limit, archived or delay; Until when, if that is known.
	Waiting string    `json:"waiting,omitzero"`
	Until   time.Time `json:"waiting_until,omitzero"`
}

// Record is everything about a delivery.
type Record struct {
	Summary
	Body         record.Text `json:"body"`
	Secret       string      `json:"secret,omitzero"`
	HashFunction string      `json:"hash_function,omitzero"`
	MaxAttempts  int         `json:"max_attempts"`
}

// glanceLocked describes a delivery as it stands.
func (d *Engine) glanceLocked(delivery *delivery) Summary {
	out := Summary{Delivery: delivery.Delivery}
	out.Attempts = append([]record.Attempt{}, delivery.Attempts...)
	q := d.queues[delivery.webhookID]
	if q == nil || delivery.State != record.DeliveryQueued && delivery.State != record.DeliveryRetrying {
		return out
	}
	wait, due := q.wait(time.Now())
	switch {
	case q.hook.Archived:
		out.Waiting = "archived"
	case delivery.State == record.DeliveryRetrying:
		out.Waiting, out.Until = "retry", delivery.NextAttempt
	case !delivery.NextAttempt.IsZero():
		out.Waiting, out.Until = "delay", delivery.NextAttempt
	case due && wait > 0:
		out.Waiting, out.Until = "rate_limit", time.Now().Add(wait)
	}
	return out
}

// mostLocked returns how many attempts a delivery will have had at the most.
// Those before it was last asked for do not count against the schedule.
func (d *Engine) mostLocked(delivery *delivery) int {
	done := len(delivery.Attempts)
	most := done - delivery.tries + 1
	if q := d.queues[delivery.webhookID]; q == nil || !q.once {
		most += len(d.schedule)
	}
	return max(most, done) // a duplicate has one more
}
