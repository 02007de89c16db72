package delivery

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/cut"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/record"
)

// delivery is one event on its way to one webhook.
type delivery struct {
	record.Delivery
	progress

	webhookID int64
	tally     *tally // of its webhook
}

// progress is what there is left to do for a delivery. A snapshot holds all of it.
type progress struct {
	Tries     int       `json:"tries"`              // since the delivery was made or asked for again
	Duplicate bool      `json:"duplicate,omitzero"` // deliver it once more
	Manual    bool      `json:"manual,omitzero"`    // the next attempt was asked for
	Started   time.Time `json:"started,omitzero"`   // the attempt under way, if one is
	Forgotten bool      `json:"forgotten,omitzero"` // with its account: all but its place
}

// queue holds what is to be delivered to one webhook.
type queue struct {
	hook    Webhook
	pending []*delivery // to be attempted now, in order
	retries []*delivery // to be attempted at their NextAttempt, the earliest first
	starts  []time.Time // of the attempts within the last rate limit period
	alarm   *clock.Alarm

	attempting int                     // attempts under way
	held       *delivery               // among retries: to be overtaken by the next one
	behind     map[*delivery]*delivery // what waits until the key, which overtakes it, was attempted

	changing *cut.Source[delivery] // of the journal that its deliveries are in

	once      bool // no webhook's: each delivery is attempted once
	forgotten bool // nothing more happens to it
}

// due returns when the queue has something to do, now if not later; not ok means:
// never, unless something is added.
func (q *queue) due(now time.Time) (at time.Time, ok bool) {
	if q.forgotten || q.hook.Archived || len(q.pending)+len(q.retries) == 0 {
		return at, false
	}
	at = now
	if len(q.pending) == 0 {
		at = latest(at, q.retries[0].NextAttempt)
	}
	for n := len(q.starts); n > 0 && q.starts[n-1].After(now); n-- {
		q.starts = q.starts[:n-1] // the clock was set back since
	}
	if limit := q.hook.RateLimit; limit > 0 && int64(len(q.starts)) >= limit {
		at = latest(at, q.starts[int64(len(q.starts))-limit].Add(q.hook.period()))
	}
	return at, true
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// wait returns how long it takes until then.
func (q *queue) wait(now time.Time) (wait time.Duration, ok bool) {
	at, ok := q.due(now)
	return max(0, at.Sub(now)), ok
}

// take removes the next delivery from the queue, or returns nil if there is
// nothing to do now. A retry that is due comes before what is new.
func (q *queue) take(now time.Time) *delivery {
	if wait, ok := q.wait(now); !ok || wait > 0 {
		return nil
	}
	from := &q.pending
	if len(q.retries) > 0 && !q.retries[0].NextAttempt.After(now) {
		from = &q.retries
	}
	next := (*from)[0]
	(*from)[0] = nil
	*from = (*from)[1:]
	if q.held == next {
		q.held = nil // nothing overtakes it any more
	}
	q.count(now)
	return next
}

// count counts an attempt against the rate limit. What is kept are as many as
// the limit looks back at, which may be more than an int can hold.
func (q *queue) count(start time.Time) {
	if q.hook.RateLimit > 0 {
		q.starts = append(q.starts, start)
		q.starts = q.starts[max(0, int64(len(q.starts))-q.hook.RateLimit):]
	}
}

// push puts a new delivery into the queue, where a fault may get in the way, if
// one hit it. Whatever is held back for being overtaken comes after it, once it
// was attempted: attempts may overlap.
func (q *queue) push(x *delivery, rule *record.FaultRule, now time.Time) {
	var hit record.Fault
	if rule != nil {
		hit, x.Fault = rule.Fault, rule.ID
	}
	held := q.held
	q.held = nil
	overtakes := false
	switch hit.Action {
	case record.FaultDrop:
		x.become(record.DeliveryDropped)
	case record.FaultReorder:
		q.held = x
		q.later(x, now.Add(cmp.Or(hit.Delay, fault.DefaultHold)))
	default:
		x.Duplicate = hit.Action == record.FaultDuplicate
		if hit.Delay > 0 {
			q.later(x, now.Add(hit.Delay))
		} else {
			q.pending = append(q.pending, x)
			overtakes = true
		}
	}
	if held != nil {
		q.letPass(held, x, overtakes)
	}
}

// letPass ends holding a delivery back: it comes after x if x can overtake it, or
// else at once.
func (q *queue) letPass(held, x *delivery, overtakes bool) {
	q.remove(held)
	if !overtakes {
		q.pending = append(q.pending, held)
		return
	}
	if q.behind == nil {
		q.behind = map[*delivery]*delivery{}
	}
	q.behind[x] = held
}

// overtaken lets come what waited for a delivery, which has been attempted.
func (q *queue) overtaken(by *delivery) {
	if held := q.behind[by]; held != nil {
		delete(q.behind, by)
		q.pending = slices.Insert(q.pending, 0, held)
	}
}

// inLine returns what is to be attempted now or waits to be overtaken, in the order
// in which it will be.
func (q *queue) inLine() []*delivery {
	line, behind := make([]*delivery, 0, len(q.pending)), maps.Clone(q.behind)
	for _, x := range q.pending {
		line = append(line, x)
		if held := behind[x]; held != nil {
			line = append(line, held)
			delete(behind, x)
		}
	}
	earlier := func(a, b *delivery) int { return a.CreatedAt.Compare(b.CreatedAt) }
	overtaken := slices.SortedFunc(maps.Values(behind), earlier) // by attempts under way
	return append(overtaken, line...)
}

// later queues a delivery for a time, behind those of the same time.
func (q *queue) later(x *delivery, at time.Time) {
	x.NextAttempt = at
	i, _ := slices.BinarySearchFunc(q.retries, at, func(other *delivery, at time.Time) int {
		if other.NextAttempt.After(at) {
			return 1
		}
		return -1
	})
	q.retries = slices.Insert(q.retries, i, x)
}

// remove takes a delivery out of its queue, wherever in it that is.
func (q *queue) remove(x *delivery) {
	is := func(other *delivery) bool { return other == x }
	if q.held == x {
		q.held = nil
	}
	maps.DeleteFunc(q.behind, func(_, held *delivery) bool { return held == x })
	q.pending = slices.DeleteFunc(q.pending, is)
	q.retries = slices.DeleteFunc(q.retries, is)
	x.NextAttempt = time.Time{}
}

// restoreLimit counts the attempts that were made against the rate limit.
func (q *queue) restoreLimit(all []*delivery) {
	if q.hook.RateLimit == 0 {
		return
	}
	var starts []time.Time
	for _, x := range all {
		for _, a := range x.Attempts {
			if x.webhookID == q.hook.ID {
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
	q.alarm.Stop()
	q.pending, q.retries, q.held, q.behind, q.forgotten = nil, nil, nil, nil, true
}
