package redisstore

import (
	"context"
	"errors"
	"time"
)

// timeout is the maximum duration of a call to Redis. The package enforces it itself,
// because go-redis by default has longer timeouts and ignores the context.
const timeout = 2 * time.Second

var errNoResponse = errors.New("redisstore: Redis did not respond within 2 seconds")

type call[T any] struct {
	done  chan struct{} // closed when value and err are set
	value T
	err   error
}

// start calls f with a context that ignores the cancellation of ctx. Otherwise go-redis
// would close the connection after a cancellation, and it would be unknown whether
// Redis has run the script.
func start[T any](ctx context.Context, f func(context.Context) (T, error)) *call[T] {
	c := &call[T]{done: make(chan struct{})}
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		c.finish(f(ctx))
	}()
	return c
}

func (c *call[T]) finish(value T, err error) {
	c.value, c.err = value, err
	close(c.done)
}

// wait returns the result of the call. If ctx is canceled or expires, or if the call
// takes longer than timeout, wait returns an error, but the call continues.
func (c *call[T]) wait(ctx context.Context) (T, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var none T
	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-timer.C:
		return none, errNoResponse
	}
}

// then arranges that f is called in the background after the call has ended, for
// example to undo the effect of the call.
func (c *call[T]) then(f func()) {
	go func() {
		<-c.done
		f()
	}()
}
