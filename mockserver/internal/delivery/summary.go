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
	Attempts []AttemptWire `json:"attempts" doc:"the attempts, the oldest first"`
	Waiting  string        `json:"waiting,omitzero" doc:"the reason for waiting: retry, rate_limit, archived or delay"`
	Until    time.Time     `json:"waiting_until,omitzero" doc:"the end of waiting, if known"`
}

// Record is a delivery with all details.
type Record struct {
	Summary
	Body         record.Text `json:"body" doc:"the same bytes in each attempt"`
	Secret       string      `json:"secret,omitzero" doc:"the secret of the webhook"`
	HashFunction string      `json:"hash_function,omitzero" doc:"the hash function of the webhook"`
	MaxAttempts  int         `json:"max_attempts" doc:"the maximum number of attempts"`
}

// AttemptWire is an attempt in JSON, with its duration in milliseconds.
type AttemptWire struct {
	record.Attempt
	DurationMS clock.Milliseconds `json:"duration_ms" doc:"the duration"`
}

// onWire converts attempts for JSON. The result is not nil.
func onWire(attempts []record.Attempt) []AttemptWire {
	out := make([]AttemptWire, len(attempts))
	for i, a := range attempts {
		out[i] = AttemptWire{a, clock.Milliseconds(a.Duration)}
	}
	return out
}

// fromWire is the inverse of onWire.
func fromWire(attempts []AttemptWire) []record.Attempt {
	out := make([]record.Attempt, len(attempts))
	for i, a := range attempts {
		out[i] = a.Attempt
		out[i].Duration = time.Duration(a.DurationMS)
	}
	return out
}

// summaryOf describes the current state of a delivery; q is its queue, if any.
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
