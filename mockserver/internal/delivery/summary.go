package delivery

import (
	"time"

	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/record"
)

// EventSummary is an event without its body.
type EventSummary struct {
	record.FiredEvent
	Body *struct{} `json:"body,omitempty"` // hides the event's
}

// Summary is a delivery without its body.
type Summary struct {
	record.Delivery
	Body     *struct{}     `json:"body,omitempty"` // hides the delivery's
	Attempts []AttemptWire `json:"attempts"`       // the same with their durations
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

// AttemptWire is an attempt as JSON has it: its duration in milliseconds.
type AttemptWire struct {
	record.Attempt
	DurationMS clock.Milliseconds `json:"duration_ms"`
}

// onWire returns attempts as JSON has them; none is an empty array.
func onWire(attempts []record.Attempt) []AttemptWire {
	out := make([]AttemptWire, len(attempts))
	for i, a := range attempts {
		out[i] = AttemptWire{a, clock.Milliseconds(a.Duration)}
	}
	return out
}

// fromWire is the way back.
func fromWire(attempts []AttemptWire) []record.Attempt {
	out := make([]record.Attempt, len(attempts))
	for i, a := range attempts {
		out[i] = a.Attempt
		out[i].Duration = time.Duration(a.DurationMS)
	}
	return out
}

// summaryOf describes a delivery as it stands now; q is its queue, if it has one.
func summaryOf(x *delivery, q *queue, now time.Time) Summary {
	out := Summary{Delivery: x.Delivery, Attempts: onWire(x.Attempts)}
	if q == nil || x.State != record.DeliveryQueued && x.State != record.DeliveryRetrying {
		return out
	}
	wait, _ := q.wait(now)
	switch {
	case q.hook.Archived:
		out.Waiting = "archived"
	case x.State == record.DeliveryRetrying:
		out.Waiting, out.Until = "retry", x.NextAttempt
	case !x.NextAttempt.IsZero():
		out.Waiting, out.Until = "delay", x.NextAttempt
	case wait > 0:
		out.Waiting, out.Until = "rate_limit", now.Add(wait)
	}
	return out
}
