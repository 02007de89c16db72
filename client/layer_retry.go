package client

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"math"
	"net/http"
	"sync"
	"time"
)

type retrier struct {
	RetryConfig
	budget *budget
}

// withRetries repeats a failed request if the retry rules allow it.
func withRetries(next handler, r retrier) handler {
	return func(ctx context.Context, c *call) error {
		for n := 1; ; n++ {
			err := next(ctx, c)
			if err == nil {
				r.budget.succeeded(n - c.uncounted)
				return nil
			}
			e := c.asError(err)
			if c.effect == maybeDone && e.StatusCode == http.StatusNotFound && c.method == http.MethodDelete {
				return nil // an earlier attempt deleted the resource
			}
			d := r.classify(c.repeatable, e)
			c.effect = max(c.effect, d.effect())
			if c.method != http.MethodGet {
				e = e.withEffect(c.effect)
			}
			if !d.again() || !r.mayRetry(c, n, e) {
				return e
			}
			if err := r.waitForRetry(ctx, c, n-c.uncounted, e); err != nil {
				return err
			}
			if r.isFree(e) && c.options.maxAttempts == 0 {
				c.uncounted++
			}
		}
	}
}

// maxAttempts returns the maximum number of attempts. If a lookup has already used up the attempts
// of WithMaxAttempts, the result is 1, so the call does not retry.
func (r RetryConfig) maxAttempts(c *call) int {
	if n := c.options.maxAttempts; n != 0 {
		if c.lookupAttempts >= n { // rejected lookups count
			return 1
		}
		return max(n, 1)
	}
	return r.MaxAttempts
}

// waitForRetry waits before the next attempt. The parameter e is the error of the last
// attempt, and n is the number of attempts that count toward the limit. In three cases,
// waitForRetry returns e without waiting: Retry-After exceeds MaxRetryAfter, the
// context's deadline is before the end of the delay, or the retry budget is exhausted. If
// the context ends before or during the delay, waitForRetry returns an error that wraps e
// and the context's error.
func (r retrier) waitForRetry(ctx context.Context, c *call, n int, e *Error) error {
	if r.tooLong(e.RetryAfter) {
		return e.withRetryAfter()
	}
	d := r.delay(n, e.RetryAfter)
	if r.isFree(e) {
		d = max(d, minFreeDelay)
	}
	if endsWithin(ctx, d) || !r.isFree(e) && !r.budget.spend() {
		return e.wrapping(ctx.Err())
	}
	c.retryWait += d
	c.notifyRetry(ctx, e, d)
	if err := pause(ctx, d); err != nil {
		return e.wrapping(err)
	}
	return nil
}

// mayRetry reports whether the call can have another attempt after attempt n. Without
// WithMaxAttempts, an attempt with a 429 response usually does not count, because other
// calls can use up the platform's rate limit before each attempt. Therefore, the number
// of attempts can exceed RetryConfig.MaxAttempts. With WithMaxAttempts, all attempts
// count.
func (r RetryConfig) mayRetry(c *call, n int, e *Error) bool {
	most := r.maxAttempts(c)
	if !r.isFree(e) || c.options.maxAttempts != 0 {
		return n-c.uncounted < most
	}
	return n < most || most > 1 && c.retryWait+max(e.RetryAfter, minFreeDelay) <= r.MaxRetryAfter
}

// minFreeDelay is the minimum delay before a free retry. It limits the number of free retries if
// the value of Retry-After is, for example, 0.
const minFreeDelay = 100 * time.Millisecond

// isFree reports whether the retry after e costs nothing from the budget. The purpose of
// the budget is to limit the load on a platform that fails. A platform that responds with
// a 429 and a Retry-After header has not failed, but limits its own load. Therefore, the
// retry is free, even if the delay is 0.
func (r RetryConfig) isFree(e *Error) bool {
	return e.StatusCode == http.StatusTooManyRequests && e.result == postponed && r.MaxRetryAfter >= 0
}

// tooLong reports whether Retry-After exceeds MaxRetryAfter. In that case, the call fails
// without a retry, because a retry before the end of the delay would only add to the
// platform's load.
func (r RetryConfig) tooLong(retryAfter time.Duration) bool {
	return r.MaxRetryAfter >= 0 && retryAfter > r.MaxRetryAfter
}

// delay returns the delay after attempt n. It includes jitter even after Retry-After,
// because other clients may have received the same value.
func (r RetryConfig) delay(n int, retryAfter time.Duration) time.Duration {
	return max(min(retryAfter, r.MaxRetryAfter), 0) + r.jitter(n)
}

// jitter returns a random duration. Its upper limit doubles with each attempt. Tests make
// crypto/rand deterministic with testing/cryptotest.
func (r RetryConfig) jitter(n int) time.Duration {
	bound := r.MaxDelay
	if r.BaseDelay <= r.MaxDelay>>(n-1) { // otherwise the shift could overflow
		bound = r.BaseDelay << (n - 1)
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return time.Duration(binary.LittleEndian.Uint64(b[:]) % (uint64(max(bound, 0)) + 1))
}

// budget is a token bucket that limits the number of retries across all calls. A retry
// costs five tokens.
type budget struct {
	mu        sync.Mutex
	left, max int
	unlimited bool
}

func newBudget(retries int) *budget {
	most := 5 * min(max(retries, 0), math.MaxInt/5-1) // adding one token cannot overflow
	return &budget{left: most, max: most, unlimited: retries < 0}
}

func (b *budget) spend() bool {
	if b.unlimited {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left < 5 {
		return false
	}
	b.left -= 5
	return true
}

func (b *budget) succeeded(n int) {
	earned := 1
	if n > 1 {
		earned = 5
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.left+earned, b.max)
}
