package client

import (
	"errors"
	"time"
)

// Call describes a call to the platform for [Config.Observe].
type Call struct {
	Op string // operation, such as "getEmail"
}

// Observer contains the callbacks for one call; see [Config.Observe]. Retry and
// End can be nil, and must not block, because the call waits for them.
type Observer struct {
	// Retry is called before each delay between two attempts.
	Retry func(Observation)

	// End is called once at the end of the call, even if the call sent no
	// request or a callback panicked.
	End func(Observation)
}

// Observation describes the state of a call before a retry or when the call
// ends. The text of Err can contain the address of a recipient. No field
// contains a token.
type Observation struct {
	Op         string        // operation, such as "getEmail"
	Attempts   int           // number of requests so far
	StatusCode int           // status of the last response; 0 if the last request received no response
	RequestID  string        // request id of the last response
	Queued     time.Duration // time that a lookup waited for the rate limiter
	Duration   time.Duration // time since the call began
	Pause      time.Duration // delay before the next request; 0 at the end
	Ignored    error         // first value of the wrong type in the last response, which became the zero value; nil if none
	Err        error         // error of the last request or of the call: nil, an [*Error], or a panic
}

// Outcome is the result of a call.
type Outcome string

// The values of [Outcome].
const (
	OutcomeSuccess   Outcome = "success"    // no error
	OutcomeNotQueued Outcome = "not_queued" // ErrNotQueued
	OutcomeUnknown   Outcome = "unknown"    // ErrOutcomeUnknown
	OutcomeFailed    Outcome = "failed"     // any other error
)

// Outcome returns the outcome of the call, or of the last request before a retry.
func (o Observation) Outcome() Outcome {
	switch {
	case o.Err == nil:
		return OutcomeSuccess
	case errors.Is(o.Err, ErrNotQueued):
		return OutcomeNotQueued
	case errors.Is(o.Err, ErrOutcomeUnknown):
		return OutcomeUnknown
	}
	return OutcomeFailed
}
