package client

import (
	"context"
	"crypto/rand"
	"errors"
	"math"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// RetryConfig says how failed requests are tried again. The zero RetryConfig
// is a good default.
type RetryConfig struct {
	// MaxAttempts is how often a request is sent at most. Default 3; 1 turns
	// retries off. A token asked for after a 401 does not count, nor does a
	// lookup that is refused because it came too early.
	MaxAttempts int

	// BaseDelay is the longest pause before the second attempt. It doubles
	// with each further attempt, up to MaxDelay. The pause itself is random,
	// from 0 up to that. Default 200 ms; negative is no pause.
	BaseDelay time.Duration

	// MaxDelay is the longest pause that the client itself chooses. Default 5 s.
	MaxDelay time.Duration

	// MaxRetryAfter is how much of a Retry-After is waited at most. Default
	// 60 s; negative ignores Retry-After.
	MaxRetryAfter time.Duration

	// Budget is how many retries in excess of the successes all calls of the
	// client have together. Each retry takes one; each call that succeeds at
	// once gives a fifth back, and one that succeeds after a retry gives one
	// back. When nothing is left, calls fail without a retry, so that an
	// outage does not multiply the load. Default 100; negative is no limit.
	Budget int
}

func (r RetryConfig) withDefaults() RetryConfig {
	r.MaxAttempts = max(orDefault(r.MaxAttempts, 3), 1)
	r.BaseDelay = orDefault(r.BaseDelay, 200*time.Millisecond)
	r.MaxDelay = min(orDefault(r.MaxDelay, 5*time.Second), math.MaxInt64-1) // jitter gets one more
	r.MaxRetryAfter = orDefault(r.MaxRetryAfter, 60*time.Second)
	r.Budget = orDefault(r.Budget, 100)
	return r
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// verdict is what follows from the end of one attempt.
type verdict struct {
	again     bool // it may be sent again
	maybeDone bool // it may have been carried out
}

// judge is the table under Retries in the package documentation. It looks at
// nothing but the operation and what came back.
func judge(repeatable bool, e *Error) verdict {
	switch s := e.StatusCode; {
	case e.final:
		return verdict{}
	case s == 0 && !e.reached: // no connection was made
		return verdict{again: true}
	case s == http.StatusTooManyRequests, s == http.StatusServiceUnavailable && e.refused:
		return verdict{again: true}
	case 400 <= s && s < 500:
		return verdict{}
	case s < 400, // no answer, or none that can be used
		s == http.StatusInternalServerError, s == http.StatusBadGateway,
		s == http.StatusServiceUnavailable, s == http.StatusGatewayTimeout:
		return verdict{again: repeatable, maybeDone: true}
	}
	return verdict{maybeDone: true}
}

// retrier tries again what failed, as RetryConfig says.
type retrier struct {
	RetryConfig
	budget *budget
}

func (p retrier) retrying(next exchange) exchange {
	return func(ctx context.Context, c *call) error {
		for n := 1; ; n++ {
			err := next(ctx, c)
			if err == nil {
				p.budget.succeeded(n)
				return nil
			}
			e := c.asError(err)
			if c.maybeDone && e.StatusCode == http.StatusNotFound && c.method == http.MethodDelete {
				return nil // an earlier attempt deleted it
			}
			v := judge(c.repeatable, e)
			c.maybeDone = c.maybeDone || v.maybeDone
			e.unknown = c.maybeDone && c.method != http.MethodGet
			if !v.again || n >= p.MaxAttempts || !p.prepare(ctx, n, e) {
				return e
			}
		}
	}
}

// prepare waits until attempt n+1 may be made, and reports whether it may. If
// the context ends meanwhile, e says so.
func (p retrier) prepare(ctx context.Context, n int, e *Error) bool {
	d := p.delay(n, e.RetryAfter)
	if endsWithin(ctx, d) || !p.budget.spend() {
		e.join(ctx.Err())
		return false
	}
	err := pause(ctx, d)
	e.join(err)
	return err == nil
}

// delay returns how long to wait after attempt n: a random part of a bound
// that doubles each time, but not less than the platform asked for.
func (p retrier) delay(n int, retryAfter time.Duration) time.Duration {
	bound := min(p.BaseDelay<<(n-1), p.MaxDelay)
	if p.BaseDelay > p.MaxDelay>>(n-1) { // so that the shift cannot overflow
		bound = p.MaxDelay
	}
	var d time.Duration
	if bound > 0 {
		d = jitter(bound)
	}
	return max(d, min(retryAfter, p.MaxRetryAfter))
}

// jitter returns a random time from 0 up to bound. Nothing depends on it being
// hard to guess: it is of crypto/rand because testing/cryptotest can repeat that.
func jitter(bound time.Duration) time.Duration {
	n, _ := rand.Int(rand.Reader, big.NewInt(int64(bound)+1)) // never fails
	return time.Duration(n.Int64())
}

// endsWithin reports whether ctx ends before d has passed.
func endsWithin(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) <= d
}

// pause waits for d, or until ctx ends, and returns why it ended.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// budget is a token bucket that bounds the retries of all calls together.
// Tokens are fifths of a retry.
type budget struct {
	mu        sync.Mutex
	left, max int
	unlimited bool
}

func newBudget(retries int) *budget {
	return &budget{left: 5 * retries, max: 5 * retries, unlimited: retries < 0}
}

// spend takes what one retry costs, and reports whether there was enough.
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

// succeeded gives back what a call that needed n attempts earns.
func (b *budget) succeeded(n int) {
	earned := 1
	if n > 1 {
		earned = 5
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.left+earned, b.max)
}

// retryAfter reads a Retry-After header: seconds, or a date, which is held
// against the answer's own Date because clocks differ. Anything else is none.
func retryAfter(h http.Header) (d time.Duration, ok bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0, false
	}
	if s, err := strconv.ParseUint(v, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		const most = uint64(1<<63-1) / uint64(time.Second)
		return time.Duration(min(s, most)) * time.Second, true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	now := time.Now()
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(at.Sub(now), 0), true
}
