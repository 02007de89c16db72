package client

import (
	"context"
	"time"
)

// withObserver returns a handler that calls the observer for each retry and for the result
// that the caller gets. If observe is nil, there is no observer.
func withObserver(next handler, observe func(context.Context, Call) (context.Context, Observer)) handler {
	if observe == nil {
		return next
	}
	return func(ctx context.Context, c *call) error {
		started := time.Now()
		ctx, o := observe(ctx, Call{Op: c.op})
		notify := func(f func(Observation), err error, pause time.Duration) {
			if f != nil {
				f(Observation{
					Op: c.op, Attempts: c.attempts, StatusCode: c.status, RequestID: c.requestID,
					Queued: c.limiterWait, Duration: time.Since(started), Pause: pause, Err: err, Ignored: c.ignoredValue,
				})
			}
		}
		c.onRetry = append(c.onRetry, func(_ context.Context, err error, pause time.Duration) { notify(o.Retry, err, pause) })
		err := errAbandoned
		defer func() { notify(o.End, err, 0) }()
		err = next(ctx, c)
		return err
	}
}
