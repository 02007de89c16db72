package mockserver

import (
	"cmp"
	"slices"
	"time"
)

// queueLocked puts a new delivery into its queue, where a fault may get in the
// way. Whatever is held back for being overtaken comes after it.
func (d *deliverer) queueLocked(q *queue, delivery *Delivery) {
	var fault Fault
	if rule := d.faults.delivery(delivery.Event, delivery.WebhookID); rule != nil {
		fault, delivery.Fault = rule.Fault, rule.ID
	}
	held := q.held
	q.held = nil
	switch fault.Action {
	case FaultDrop:
		delivery.State = DeliveryDropped
	case FaultReorder:
		q.held = delivery
		q.later(delivery, time.Now().Add(cmp.Or(fault.Delay, defaultHold)))
	default:
		delivery.duplicate = fault.Action == FaultDuplicate
		if fault.Delay > 0 {
			q.later(delivery, time.Now().Add(fault.Delay))
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
func (q *queue) later(delivery *Delivery, at time.Time) {
	delivery.NextAttempt = at
	i, _ := slices.BinarySearchFunc(q.retries, at, func(other *Delivery, at time.Time) int {
		if other.NextAttempt.After(at) {
			return 1
		}
		return -1
	})
	q.retries = slices.Insert(q.retries, i, delivery)
}

// remove takes a delivery out of its queue, wherever in it that is.
func (q *queue) remove(delivery *Delivery) {
	is := func(other *Delivery) bool { return other == delivery }
	if q.held == delivery {
		q.held = nil
	}
	q.pending = slices.DeleteFunc(q.pending, is)
	q.retries = slices.DeleteFunc(q.retries, is)
	delivery.NextAttempt = time.Time{}
}
