package delivery

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"

	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/record"
)

// queue contains the numbers of the pending deliveries to one webhook.
type queue struct {
	hook    Webhook
	history *history
	pending []int       // to be attempted now, in order
	retries []int       // to be attempted at their NextAttempt, the earliest first
	starts  []time.Time // of the attempts within the last rate limit period
	alarm   *clock.Alarm
	last    int // the place of the last added delivery

	attempting  int         // attempts in progress
	held        int         // the one of retries that the next delivery overtakes, or 0
	overtakenBy map[int]int // the delivery that waits until the key, which overtakes it, has been attempted

	once   bool // for a URL without a webhook: each delivery is attempted once
	closed bool // nothing more is attempted
}

func newQueue(hook Webhook, h *history) *queue {
	return &queue{hook: hook, history: h, overtakenBy: map[int]int{}}
}

// due returns the time of the next attempt, which is not before now. If ok is
// false, the queue has no work.
func (q *queue) due(now time.Time) (at time.Time, ok bool) {
	if q.closed || q.hook.Archived || len(q.pending)+len(q.retries) == 0 {
		return at, false
	}
	at = now
	if len(q.pending) == 0 {
		at = latest(at, q.firstRetry())
	}
	for n := len(q.starts); n > 0 && q.starts[n-1].After(now); n-- {
		q.starts = q.starts[:n-1] // the clock was set back since
	}
	if limit := q.hook.RateLimit; limit > 0 && int64(len(q.starts)) >= limit {
		at = latest(at, q.starts[int64(len(q.starts))-limit].Add(q.hook.period()))
	}
	return at, true
}

func (q *queue) firstRetry() time.Time { return q.history.at(q.retries[0]).NextAttempt }

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// wait returns the time until the next attempt.
func (q *queue) wait(now time.Time) (wait time.Duration, ok bool) {
	at, ok := q.due(now)
	return max(0, at.Sub(now)), ok
}

// take removes the next delivery from the queue and returns it for changes, or
// nil if no delivery is due. A due retry precedes new deliveries.
func (q *queue) take(now time.Time) *delivery {
	if wait, ok := q.wait(now); !ok || wait > 0 {
		return nil
	}
	from := &q.pending
	if len(q.retries) > 0 && !q.firstRetry().After(now) {
		from = &q.retries
	}
	next := q.history.edit((*from)[0])
	*from = (*from)[1:]
	q.release(next)
	q.count(now)
	return next
}

// release clears the held delivery, if it is x.
func (q *queue) release(x *delivery) {
	if x.Held {
		q.held, x.Held = 0, false
	}
}

// count counts an attempt against the rate limit. It keeps as many attempts as the
// limit, which can exceed the range of int.
func (q *queue) count(start time.Time) {
	if q.hook.RateLimit > 0 {
		q.starts = append(q.starts, start)
		q.starts = q.starts[max(0, int64(len(q.starts))-q.hook.RateLimit):]
	}
}

// append puts a delivery at the end of the queue.
func (q *queue) append(x *delivery) {
	q.place(x)
	q.pending = append(q.pending, x.n)
}

func (q *queue) place(x *delivery) {
	q.last++
	x.Place = q.last
}

// push adds a new delivery to the queue, and applies the fault rule that matched, if
// any. The delivery overtakes the held one, which waits until this one has been
// attempted, because attempts can overlap.
func (q *queue) push(x *delivery, rule *record.FaultRule, now time.Time) {
	var hit record.Fault
	if rule != nil {
		hit, x.Fault = rule.Fault, rule.ID
	}
	var overtaken *delivery
	if q.held != 0 {
		overtaken = q.history.edit(q.held)
		q.remove(overtaken)
	}
	x.Duplicate = hit.Action == record.FaultDuplicate
	switch {
	case hit.Action == record.FaultDrop:
		q.history.setState(x, record.DeliveryDropped)
	case hit.Action == record.FaultReorder:
		q.held, x.Held = x.n, true
		q.later(x, now.Add(cmp.Or(hit.Delay, fault.DefaultHold)))
	case hit.Delay > 0:
		q.later(x, now.Add(hit.Delay))
	default:
		q.append(x)
		if overtaken != nil {
			q.place(overtaken)
			q.overtakenBy[x.n] = overtaken.n
			return
		}
	}
	if overtaken != nil {
		q.append(overtaken)
	}
}

// attempted releases the delivery that a reordered delivery was waiting for.
func (q *queue) attempted(x *delivery) {
	if overtaken := q.overtakenBy[x.n]; overtaken != 0 {
		delete(q.overtakenBy, x.n)
		q.pending = slices.Insert(q.pending, 0, overtaken)
	}
}

// later queues a delivery for a time, after other deliveries with the same
// time.
func (q *queue) later(x *delivery, at time.Time) {
	x.NextAttempt = at
	i := sort.Search(len(q.retries), func(i int) bool { return q.history.at(q.retries[i]).NextAttempt.After(at) })
	q.retries = slices.Insert(q.retries, i, x.n)
}

// remove removes a delivery from the queue.
func (q *queue) remove(x *delivery) {
	is := func(n int) bool { return n == x.n }
	q.release(x)
	maps.DeleteFunc(q.overtakenBy, func(_, overtaken int) bool { return is(overtaken) })
	q.pending = slices.DeleteFunc(q.pending, is)
	q.retries = slices.DeleteFunc(q.retries, is)
	x.NextAttempt = time.Time{}
}

// close empties a queue. Attempts in progress continue to their end.
func (q *queue) close() {
	q.alarm.Stop()
	q.pending, q.retries, q.held, q.closed = nil, nil, 0, true
	clear(q.overtakenBy)
}
