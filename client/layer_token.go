package client

import (
	"context"
	"net/http"
)

// withToken adds a token to each request. After a 401, withToken requests a new
// token once. A request that receives a 401 has no effect, so the client
// can send it again.
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
