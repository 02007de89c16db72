package client

import (
	"context"
	"errors"
	"time"
)

// Observer is told how one call goes: see [Config.Observe]. Either function may
// be nil. They run on a goroutine of the call and hold it up: they must not
// block.
type Observer struct {
	// Retry is called when a request has failed and another will follow after
	// Observation.Pause, if the context does not end before.
	Retry func(Observation)

	// End is called once, when the call ends, also if it sent nothing, and also
	// if a callback of the caller's panics on the way.
	End func(Observation)
}

// Observation is what is known of a call when a request has failed or the call
// has ended. Only the text of Err may hold an address of a recipient: paths do.
// Nothing in it holds a token.
type Observation struct {
	Op         string        // the operation, such as "getEmail"
	Attempts   int           // how many requests were sent so far
	StatusCode int           // of the last answer; 0 if the last request got none
	RequestID  string        // of the last answer
	Queued     time.Duration // how long it waited for its turn to look up
	Duration   time.Duration // since the call began, pauses and queue included
	Pause      time.Duration // until the next request; 0 when the call has ended
	Err        error         // why the request failed, or what the caller gets: nil, an [*Error], or that it panics
}

// errAbandoned is what an Observer learns of a call that a panic ended.
var errAbandoned = errors.New("a callback panicked, or ended its goroutine")

// observed has each call watched from its beginning to its end.
func observed(observe func(context.Context, string) (context.Context, Observer), next exchange) exchange {
	if observe == nil {
		return next
	}
	return func(ctx context.Context, c *call) error {
		started := time.Now()
		ctx, o := observe(ctx, c.op)
		tell := func(f func(Observation), err error, pause time.Duration) {
			if f != nil {
				f(Observation{
					Op: c.op, Attempts: c.attempts, StatusCode: c.status, RequestID: c.requestID,
					Queued: c.queued, Duration: time.Since(started), Pause: pause, Err: err,
				})
			}
		}
		c.onRetry = append(c.onRetry, func(_ context.Context, err error, pause time.Duration) { tell(o.Retry, err, pause) })
		err := errAbandoned
		defer func() { tell(o.End, err, 0) }()
		err = next(ctx, c)
		return err
	}
}
