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
	Attempts []AttemptWire `json:"attempts" doc:"the oldest first"`
	Waiting  string        `json:"waiting,omitzero" doc:"what it waits for: retry, rate_limit, archived or delay"`
	Until    time.Time     `json:"waiting_until,omitzero" doc:"until when, if that is known"`
}

// Record is everything about a delivery.
type Record struct {
	Summary
	Body         record.Text `json:"body" doc:"the same bytes in each attempt"`
	Secret       string      `json:"secret,omitzero" doc:"of the webhook, which signs"`
	HashFunction string      `json:"hash_function,omitzero" doc:"of the webhook"`
	MaxAttempts  int         `json:"max_attempts" doc:"how many attempts there can be"`
}

// AttemptWire is an attempt as JSON has it: its duration in milliseconds.
type AttemptWire struct {
	record.Attempt
	DurationMS clock.Milliseconds `json:"duration_ms" doc:"how long it took"`
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
