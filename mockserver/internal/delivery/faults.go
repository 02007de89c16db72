package delivery

import (
	"cmp"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/record"
)

// queueLocked puts a new delivery into its queue, where a fault may get in the
// way. Whatever is held back for being overtaken comes after it.
func (d *Engine) queueLocked(q *queue, delivery *delivery) {
	var hit fault.Fault
	if rule := d.faults.Delivery(delivery.Event, delivery.WebhookID); rule != nil {
		hit, delivery.Fault = rule.Fault, rule.ID
	}
	held := q.held
	q.held = nil
	switch hit.Action {
	case fault.Drop:
		delivery.State = record.DeliveryDropped
	case fault.Reorder:
		q.held = delivery
		q.later(delivery, time.Now().Add(cmp.Or(hit.Delay, fault.DefaultHold)))
	default:
		delivery.duplicate = hit.Action == fault.Duplicate
		if hit.Delay > 0 {
			q.later(delivery, time.Now().Add(hit.Delay))
		} else {
			q.pending = append(q.pending, delivery)
		}
	}
	if held != nil {
		q.remove(held)
		q.pending = append(q.pending, held)
	}
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
	q.pending = slices.DeleteFunc(q.pending, is)
	q.retries = slices.DeleteFunc(q.retries, is)
	x.NextAttempt = time.Time{}
}
