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

// maxRejections is the maximum number of retries after the platform rejects a
// lookup as too early.
const maxRejections = 60

type lookupLimit struct {
	limiter LookupLimiter
	tokens  *tokens
	scope   string // the platform and the account
	retry   RetryConfig
}

// withLookupLimit waits for the rate limiter before a lookup, and retries rejected
// lookups, because other processes may use the same token.
func withLookupLimit(next handler, l lookupLimit) handler {
	return func(ctx context.Context, c *call) error {
		if c.op != opLookup {
			return next(ctx, c)
		}
		if _, err := l.tokens.get(ctx, nil); err != nil {
			return err
		}
		start := time.Now()
		release, err := l.limiter.Acquire(ctx, l.key())
		c.limiterWait += time.Since(start)
		if err != nil {
			return fmt.Errorf("waiting for the lookup rate limit: %w", err)
		}
		var atLeast time.Duration
		defer func() { release(atLeast) }()
		for n := 0; ; n++ {
			c.lookupAttempts++
			err := next(ctx, c)
			e, ok := topLevelError(err)
			atLeast = 0
			if !ok || e.StatusCode != http.StatusTooManyRequests {
				return err
			}
			e = e.withResult(concluded) // this layer has already waited, so the outer layers must not retry
			atLeast = lookupGap
			if e.RetryAfter > 0 { // jitter, because other processes may use this token
				atLeast = max(l.retry.delay(1, e.RetryAfter), lookupGap)
			}
			if l.retry.tooLong(e.RetryAfter) {
				return e.withRetryAfter()
			}
			if l.retry.maxAttempts(c) == 1 || n == maxRejections || endsWithin(ctx, atLeast) {
				return e.wrapping(ctx.Err())
			}
			c.notifyRetry(ctx, e, atLeast)
			if err := pause(ctx, atLeast); err != nil {
				return e.wrapping(err)
			}
		}
	}
}

// key identifies the user and account without revealing a token. It contains a hash of
// the first token, not of the current token, so a refreshed token does not change the
// key.
func (l lookupLimit) key() string {
	sum := sha256.Sum256([]byte(l.scope + "\x00" + *l.tokens.first.Load()))
	return hex.EncodeToString(sum[:])
}
