package client

import (
	"context"
	"net/http"
)

// withToken adds a token to each request. If the platform responds with 401, the
// request had no effect, so withToken requests a new token once and sends the request
// again.
func withToken(next handler, t *tokens) handler {
	return func(ctx context.Context, c *call) error {
		cached, err := t.get(ctx, nil)
		if err != nil {
			return err
		}
		c.token = cached.token
		err = next(ctx, c)
		e, ok := topLevelError(err)
		if !ok || e.StatusCode != http.StatusUnauthorized {
			return err
		}
		if cached, err = t.get(ctx, cached); err != nil {
			return e.wrapping(redactError(err, c.token))
		}
		if cached.token == c.token {
			return e
		}
		c.token = cached.token
		c.notifyRetry(ctx, e, 0)
		return next(ctx, c)
	}
}
