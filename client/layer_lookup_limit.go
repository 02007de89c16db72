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
// lookups, because other processes may use the same token. It has its own loop instead of
// using withRetries, because the slot of the limiter stays acquired during these retries.
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
			if !ok || e.StatusCode != http.StatusTooManyRequests {
				atLeast = 0
				return err
			}
			atLeast = l.delay(e)
			if err := l.waitForRetry(ctx, c, n, e, atLeast); err != nil {
				return err
			}
		}
	}
}

// delay returns the time between the rejection e and the next lookup. It includes
// jitter after Retry-After, because other processes may use this token.
func (l lookupLimit) delay(e *Error) time.Duration {
	if e.RetryAfter <= 0 {
		return lookupGap
	}
	return max(l.retry.delay(1, e.RetryAfter), lookupGap)
}

// waitForRetry waits for d after the rejection e. The parameter n is the number of
// earlier rejections. If the call must not retry the lookup, waitForRetry returns an
// error without waiting.
func (l lookupLimit) waitForRetry(ctx context.Context, c *call, n int, e *Error, d time.Duration) error {
	e = e.withResult(concluded) // this layer waits, so the outer layers must not retry
	if l.retry.tooLong(e.RetryAfter) {
		return e.withRetryAfter()
	}
	if l.retry.maxAttempts(c) == 1 || n == maxRejections || endsWithin(ctx, d) {
		return e.wrapping(ctx.Err())
	}
	c.notifyRetry(ctx, e, d)
	if err := pause(ctx, d); err != nil {
		return e.wrapping(err)
	}
	return nil
}

// key identifies the user and account without revealing a token. It contains a hash of
// the first token, not of the current token, so a refreshed token does not change the
// key.
func (l lookupLimit) key() string {
	sum := sha256.Sum256([]byte(l.scope + "\x00" + *l.tokens.first.Load()))
	return hex.EncodeToString(sum[:])
}
