package delivery

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"

	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/model"
)

// queue contains the pending deliveries to one webhook, as numbers in the
// history.
type queue struct {
	hook         Webhook
	history      *history
	ready        []int       // deliveries that are due now, in order
	scheduled    []int       // deliveries that are due at their NextAttempt, the earliest first
	attemptTimes []time.Time // start times of the attempts that count toward the rate limit
	alarm        *clock.Alarm
	lastPosition int // the highest position in the queue

	delivering  int         // number of deliveries in this state
	reordered   int         // the delivery in scheduled that waits for the next delivery, or 0
	overtakenBy map[int]int // the waiting delivery, by the delivery that must be attempted first

	withoutWebhook bool // for a URL without a webhook, so there are no retries
	closed         bool // no further attempts are made
}

func newQueue(hook Webhook, h *history) *queue {
	return &queue{hook: hook, history: h, overtakenBy: map[int]int{}}
}

// due returns the time of the next attempt, which is now or later. If ok is
// false, the queue has no work.
func (q *queue) due(now time.Time) (at time.Time, ok bool) {
	if q.closed || q.hook.Archived || len(q.ready)+len(q.scheduled) == 0 {
		return at, false
	}
	at = now
	if len(q.ready) == 0 {
		at = latest(at, q.firstScheduled())
	}
	for n := len(q.attemptTimes); n > 0 && q.attemptTimes[n-1].After(now); n-- {
		q.attemptTimes = q.attemptTimes[:n-1] // the clock was set back after this attempt
	}
	if limit := q.hook.RateLimit; limit > 0 && int64(len(q.attemptTimes)) >= limit {
		at = latest(at, q.attemptTimes[int64(len(q.attemptTimes))-limit].Add(q.hook.period()))
	}
	return at, true
}

func (q *queue) firstScheduled() time.Time { return q.history.at(q.scheduled[0]).NextAttempt }

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (q *queue) untilDue(now time.Time) (wait time.Duration, ok bool) {
	at, ok := q.due(now)
	return max(0, at.Sub(now)), ok
}

// popDue removes a due delivery from the queue, and returns it. Due retries come before
// new deliveries. Call popDue only if a delivery is due. The caller may change the
// returned delivery.
func (q *queue) popDue(now time.Time) *delivery {
	from := &q.ready
	if len(q.scheduled) > 0 && !q.firstScheduled().After(now) {
		from = &q.scheduled
	}
	next := q.history.edit((*from)[0])
	*from = (*from)[1:]
	q.endReorder(next)
	q.countAttempt(now)
	return next
}

func (q *queue) endReorder(dlv *delivery) {
	if dlv.Reordered {
		q.reordered, dlv.Reordered = 0, false
	}
}

// countAttempt counts an attempt toward the rate limit. It keeps only the last RateLimit
// attempts. RateLimit can exceed the range of int.
func (q *queue) countAttempt(start time.Time) {
	if q.hook.RateLimit != 0 {
		q.attemptTimes = append(q.attemptTimes, start)
		q.attemptTimes = q.attemptTimes[max(0, int64(len(q.attemptTimes))-q.hook.RateLimit):]
	}
}

func (q *queue) append(dlv *delivery) {
	q.assignPosition(dlv)
	q.ready = append(q.ready, dlv.n)
}

func (q *queue) assignPosition(dlv *delivery) {
	q.lastPosition++
	dlv.QueuePosition = q.lastPosition
}

// push adds a new delivery to the queue. If a rule applies to the delivery, push injects
// the fault. If a rule reordered an earlier delivery, that delivery waits until the new
// delivery has been attempted, because concurrent attempts could arrive in any order. The
// earlier delivery does not wait for a dropped or delayed delivery.
func (q *queue) push(dlv *delivery, rule *fault.AppliedRule, now time.Time) {
	var applied model.Fault
	if rule != nil {
		applied, dlv.Fault = rule.Fault, rule.ID
	}
	var overtaken *delivery
	if q.reordered != 0 {
		overtaken = q.history.edit(q.reordered)
		q.remove(overtaken)
	}
	dlv.Duplicate = applied.Action == model.FaultDuplicate
	switch {
	case applied.Action == model.FaultDrop:
		q.history.setState(dlv, model.DeliveryDropped)
	case applied.Action == model.FaultReorder:
		q.reordered, dlv.Reordered = dlv.n, true
		q.schedule(dlv, now.Add(cmp.Or(applied.Delay, fault.DefaultReorderDelay)))
	case applied.Delay > 0:
		q.schedule(dlv, now.Add(applied.Delay))
	default:
		q.append(dlv)
		if overtaken != nil {
			q.assignPosition(overtaken)
			q.overtakenBy[dlv.n] = overtaken.n
			return
		}
	}
	if overtaken != nil {
		q.append(overtaken)
	}
}

// attempted handles the end of an attempt of dlv. If a reordered delivery waited for
// this attempt, attempted adds the reordered delivery to the front of the queue.
func (q *queue) attempted(dlv *delivery) {
	if overtaken := q.overtakenBy[dlv.n]; overtaken != 0 {
		delete(q.overtakenBy, dlv.n)
		q.ready = slices.Insert(q.ready, 0, overtaken)
	}
}

// schedule schedules a delivery for the given time. Deliveries with the same time are
// attempted in the order of the calls to schedule.
func (q *queue) schedule(dlv *delivery, at time.Time) {
	dlv.NextAttempt = at
	i := sort.Search(len(q.scheduled), func(i int) bool { return q.history.at(q.scheduled[i]).NextAttempt.After(at) })
	q.scheduled = slices.Insert(q.scheduled, i, dlv.n)
}

func (q *queue) remove(dlv *delivery) {
	is := func(n int) bool { return n == dlv.n }
	q.endReorder(dlv)
	maps.DeleteFunc(q.overtakenBy, func(_, overtaken int) bool { return is(overtaken) })
	q.ready = slices.DeleteFunc(q.ready, is)
	q.scheduled = slices.DeleteFunc(q.scheduled, is)
	dlv.NextAttempt = time.Time{}
}

// close empties a queue. Attempts in progress run to completion.
func (q *queue) close() {
	q.alarm.Stop()
	q.ready, q.scheduled, q.reordered, q.closed = nil, nil, 0, true
	clear(q.overtakenBy)
}
