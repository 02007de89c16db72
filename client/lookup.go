package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"
)

// opLookup is the operation that the platform limits to one call per second.
const opLookup = "getEmail"

// maxRefusals is the maximum number of retries after the platform rejects a
// lookup as too early.
const maxRefusals = 60

// lookups is the layer that waits for the rate limiter and retries rejected
// lookups, because other processes may use the same token.
type lookups struct {
	limiter LookupLimiter
	tokens  *tokens
	scope   string // the platform and the account
	retry   RetryConfig
}

func (l lookups) spaced(next exchange) exchange {
	return func(ctx context.Context, c *call) error {
		if c.op != opLookup {
			return next(ctx, c)
		}
		if _, err := l.tokens.get(ctx, nil); err != nil {
			return err
		}
		asked := time.Now()
		release, err := l.limiter.Acquire(ctx, l.key())
		c.queued += time.Since(asked)
		if err != nil {
			return fmt.Errorf("waiting for the lookup rate limit: %w", err)
		}
		var atLeast time.Duration
		defer func() { release(atLeast) }()
		for n := 0; ; n++ {
			err := next(ctx, c)
			e, ok := ownError(err)
			atLeast = 0
			if !ok || e.StatusCode != http.StatusTooManyRequests {
				return err
			}
			e.final = true // this layer has waited already, so the outer layers must not retry
			atLeast = lookupGap
			if e.RetryAfter > 0 { // jitter, because other processes may use this token
				atLeast = max(l.retry.delay(1, e.RetryAfter), lookupGap)
			}
			if l.retry.tooLong(e.RetryAfter) {
				return e.later()
			}
			if l.retry.attempts(c) == 1 || n == maxRefusals || endsWithin(ctx, atLeast) {
				return e.joined(ctx.Err())
			}
			c.retries(ctx, e, atLeast)
			if err := pause(ctx, atLeast); err != nil {
				return e.joined(err)
			}
		}
	}
}

// key identifies the user and account without revealing a token. The hash
// includes the first token, because a refreshed token belongs to the same user.
func (l lookups) key() string {
	sum := sha256.Sum256([]byte(l.scope + "\x00" + *l.tokens.first.Load()))
	return hex.EncodeToString(sum[:])
}
