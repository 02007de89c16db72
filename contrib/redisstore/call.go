package redisstore

import (
	"context"
	"errors"
	"time"
)

// patience is the maximum duration of a call to Redis. By default, go-redis has
// longer timeouts and ignores the context.
const patience = 2 * time.Second

var errNoAnswer = errors.New("redisstore: Redis did not respond within 2 seconds")

// call is one call to Redis in progress.
type call[T any] struct {
	done  chan struct{} // closed when value and err are set
	value T
	err   error
}

// start calls f with a context that does not end with ctx. Otherwise go-redis
// would close the connection, and it would be unknown whether Redis has run the
// script.
func start[T any](ctx context.Context, f func(context.Context) (T, error)) *call[T] {
	c := &call[T]{done: make(chan struct{})}
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		c.finish(f(ctx))
	}()
	return c
}

func (c *call[T]) finish(value T, err error) {
	c.value, c.err = value, err
	close(c.done)
}

// wait returns the result of the call, or an error if ctx ends or patience has
// passed first. In that case the call continues.
func (c *call[T]) wait(ctx context.Context) (T, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var none T
	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-timer.C:
		return none, errNoAnswer
	}
}

// then calls f in the background after the call has ended. The function f can
// undo the effect of the call.
func (c *call[T]) then(f func()) {
	go func() {
		<-c.done
		f()
	}()
}
