package delivery

import (
	"iter"
	"slices"

	"example.com/emailplatform/mockserver/internal/record"
)

// Events returns copies of the events of the journal that are wanted, the oldest
// first.
func (d *Engine) Events(wanted func(*record.FiredEvent) bool) []record.FiredEvent {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.journal.eventsThat(wanted)
}

// NewestEvents iterates over the journal of events, the latest first. The engine
// stands still meanwhile.
func (d *Engine) NewestEvents() iter.Seq[*record.FiredEvent] {
	return func(yield func(*record.FiredEvent) bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, e := range slices.Backward(d.journal.events) {
			if !yield(e) {
				return
			}
		}
	}
}

// Deliveries returns copies of all deliveries, in the order in which the events
// fired.
func (d *Engine) Deliveries() []record.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]record.Delivery, 0, len(d.journal.deliveries))
	for _, x := range d.journal.deliveries {
		if x.Forgotten {
			continue
		}
		copied := x.Delivery
		copied.Body = slices.Clone(x.Body)
		copied.Attempts = append([]record.Attempt{}, x.Attempts...)
		out = append(out, copied)
	}
	return out
}

// NewestDeliveries iterates over the deliveries, the latest first, each with what
// describes it as it stands. The engine stands still meanwhile.
func (d *Engine) NewestDeliveries() iter.Seq2[*record.Delivery, func() Summary] {
	return func(yield func(*record.Delivery, func() Summary) bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		now := d.clock.Now()
		for _, x := range slices.Backward(d.journal.deliveries) {
			if !x.Forgotten && !yield(&x.Delivery, func() Summary { return summaryOf(x, d.queues[x.webhookID], now) }) {
				return
			}
		}
	}
}

// Record returns everything about a delivery, or nil if there is none with the id.
func (d *Engine) Record(id string) *Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.journal.byID[id]
	if x == nil {
		return nil
	}
	q := d.queues[x.webhookID]
	out := &Record{Summary: summaryOf(x, q, d.clock.Now()), Body: x.Body, MaxAttempts: d.maxAttempts(x, q)}
	if q != nil {
		out.Secret, out.HashFunction = q.hook.Secret, string(q.hook.Hash)
	}
	return out
}

// maxAttempts returns how many attempts a delivery will have had at the most.
// Those before it was last asked for do not count against the schedule.
func (d *Engine) maxAttempts(x *delivery, q *queue) int {
	done := len(x.Attempts)
	most := done - x.Tries + 1
	if q == nil || !q.once {
		most += len(d.schedule)
	}
	return max(most, done) // a duplicate has one more
}
