package delivery

import (
	"iter"
	"slices"

	"example.com/emailplatform/mockserver/internal/table"
	"example.com/emailplatform/mockserver/record"
)

// Events returns copies of the logged events that wanted accepts, the oldest
// first.
func (d *Engine) Events(wanted func(*record.FiredEvent) bool) []record.FiredEvent {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := []record.FiredEvent{}
	for _, e := range d.history.events {
		if wanted(e) {
			copied := *e
			copied.Body, copied.Deliveries = slices.Clone(e.Body), append([]string{}, e.Deliveries...)
			out = append(out, copied)
		}
	}
	return out
}

// NewestEvents returns the number of logged events, and iterates over them, the
// latest first. The engine can continue to run, because logged events do not
// change.
func (d *Engine) NewestEvents() (int, iter.Seq2[int, *record.FiredEvent]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Clone(d.history.events)
	return len(all), slices.Backward(all)
}

// all returns all deliveries, and the number of deliveries that are not deleted.
func (d *Engine) all() (deliveries table.Copy[delivery], n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.history.deliveries.Snapshot(), d.history.deliveries.Len() - d.history.forgotten
}

// Deliveries returns all deliveries in order of creation.
func (d *Engine) Deliveries() []record.Delivery {
	all, n := d.all()
	out := make([]record.Delivery, 0, n)
	for x := range all.All() {
		if !x.Forgotten {
			copied := x.Delivery
			copied.Body, copied.Attempts = slices.Clone(x.Body), append([]record.Attempt{}, x.Attempts...)
			out = append(out, copied)
		}
	}
	return out
}

// NewestDeliveries returns the number of deliveries, and iterates over them, the
// latest first. It yields each with a function that returns its summary.
func (d *Engine) NewestDeliveries() (int, iter.Seq2[*record.Delivery, func() Summary]) {
	all, n := d.all()
	return n, func(yield func(*record.Delivery, func() Summary) bool) {
		for x := range all.Backward() {
			if !x.Forgotten && !yield(&x.Delivery, func() Summary { return d.summary(x) }) {
				return
			}
		}
	}
}

func (d *Engine) summary(x *delivery) Summary {
	d.mu.Lock()
	defer d.mu.Unlock()
	return summaryOf(x, d.queues[x.webhookID], d.clock.Now())
}

// Record returns a delivery with all details, or nil if there is none with the
// id.
func (d *Engine) Record(id string) *Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.history.find(id)
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

// maxAttempts returns the maximum number of attempts of a delivery. Attempts
// before the last redelivery do not count against the schedule.
func (d *Engine) maxAttempts(x *delivery, q *queue) int {
	done := len(x.Attempts)
	most := done - x.Tries + 1
	if q == nil || !q.once {
		most += len(d.schedule)
	}
	return max(most, done) // a duplicate adds one attempt
}
