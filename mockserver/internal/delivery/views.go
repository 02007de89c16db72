package delivery

import (
	"iter"
	"slices"

	"example.com/emailplatform/mockserver/record"
)

// Events returns copies of the events of the journal that are wanted, the oldest
// first.
func (d *Engine) Events(wanted func(*record.FiredEvent) bool) []record.FiredEvent {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.journal.eventsThat(wanted)
}

// NewestEvents returns how many events the journal holds, and iterates over them, the
// latest first. The engine goes on meanwhile: none is changed any more.
func (d *Engine) NewestEvents() (int, iter.Seq2[int, *record.FiredEvent]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Clone(d.journal.events)
	return len(all), slices.Backward(all)
}

// step is how many deliveries are looked at while the engine stands still: it goes
// on between two steps.
const step = 256

// fired returns the deliveries of the journal, and how many of them are not
// forgotten. The slice only grows, until another takes its place.
func (d *Engine) fired() (all []*delivery, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.journal.deliveries, len(d.journal.byID)
}

// Deliveries returns copies of all deliveries, in the order in which the events
// fired, each as it is when its turn comes: the engine goes on meanwhile.
func (d *Engine) Deliveries() []record.Delivery {
	all, n := d.fired()
	out := make([]record.Delivery, 0, n)
	for some := range slices.Chunk(all, step) {
		out = d.appendCopies(out, some)
	}
	return out
}

func (d *Engine) appendCopies(to []record.Delivery, some []*delivery) []record.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range some {
		if x.Forgotten {
			continue
		}
		to = append(to, x.Delivery)
		last := &to[len(to)-1]
		last.Body = slices.Clone(x.Body)
		last.Attempts = append([]record.Attempt{}, x.Attempts...)
	}
	return to
}

// NewestDeliveries returns how many deliveries there are, and iterates over them, the
// latest first, each with what describes it as it stands. The engine stands still
// while one is looked at, and goes on now and then: what is called may take no lock
// of its.
func (d *Engine) NewestDeliveries() (int, iter.Seq2[*record.Delivery, func() Summary]) {
	all, known := d.fired()
	return known, func(yield func(*record.Delivery, func() Summary) bool) {
		for n := len(all); n > 0; n -= step {
			if !d.lookAt(all[max(0, n-step):n], yield) {
				return
			}
		}
	}
}

// lookAt yields some deliveries, the latest first, and reports whether to go on.
func (d *Engine) lookAt(some []*delivery, yield func(*record.Delivery, func() Summary) bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock.Now()
	for _, x := range slices.Backward(some) {
		if !x.Forgotten && !yield(&x.Delivery, func() Summary { return summaryOf(x, d.queues[x.webhookID], now) }) {
			return false
		}
	}
	return true
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
