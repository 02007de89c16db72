package client

import (
	"context"
	"errors"
)

// withContextCause adds the context's cause to the error of a call that failed because
// its context was canceled or has expired.
func withContextCause(next handler) handler {
	return func(ctx context.Context, c *call) error {
		err := next(ctx, c)
		ended, why := ctx.Err(), context.Cause(ctx)
		e, ok := topLevelError(err)
		if !ok || ended == nil || !errors.Is(e.cause, ended) && !errors.Is(e.cause, why) {
			return err
		}
		return e.wrapping(ended).wrapping(redactError(why, c.token))
	}
}
