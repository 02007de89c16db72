package clienttest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"example.com/emailplatform/client"
)

// timeLimit is the time limit for each rule.
const timeLimit = time.Minute

// TestLookupLimiter tests all rules concurrently, and reports each result in a subtest. It calls
// newLimiter once for each rule. The limiters can share storage, because each rule uses a different
// key in each run. A subtest fails if it does not finish within a minute. A busy machine can make a
// limiter start a lookup later than the rule allows. Therefore, after a late lookup,
// TestLookupLimiter tests the rule again, up to three times in total.
func TestLookupLimiter(t *testing.T, newLimiter func(t *testing.T) client.LookupLimiter) {
	t.Helper()
	results := make([]chan error, len(rules))
	for i, r := range rules {
		results[i] = make(chan error, 1)
		l := newLimiter(t)
		go func() { results[i] <- errors.Join(rule{"first use", warm}.run(t.Context(), l), r.run(t.Context(), l)) }()
	}
	for i, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if err := <-results[i]; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSharedLookupLimiter runs [TestLookupLimiter] for limiters that several processes share. Each rule uses three
// limiters as if they belonged to three processes, and acquires its slots from them in turn.
func TestSharedLookupLimiter(t *testing.T, newLimiter func(t *testing.T) client.LookupLimiter) {
	t.Helper()
	TestLookupLimiter(t, func(t *testing.T) client.LookupLimiter {
		return &processes{limiters: []client.LookupLimiter{newLimiter(t), newLimiter(t), newLimiter(t)}}
	})
}

// processes simulates several processes with one limiter each.
type processes struct {
	limiters []client.LookupLimiter
	next     atomic.Uint64
}

func (p *processes) Acquire(ctx context.Context, key string) (func(time.Duration), error) {
	n := p.next.Add(1) % uint64(len(p.limiters))
	return p.limiters[n].Acquire(ctx, key)
}

// warm acquires a slot from each limiter before a rule measures intervals, because the first slot may have to wait
// for a connection. It uses its own keys, so it does not delay the rule.
func warm(c caller) error {
	for range 3 {
		release, _, err := newCaller(c.ctx, c.limiter).acquire()
		if err != nil {
			return err
		}
		release(0)
	}
	return nil
}

type rule struct {
	name  string
	check func(caller) error
}

// run repeats a rule if a slot is late, because the machine may be busy.
func (r rule) run(ctx context.Context, l client.LookupLimiter) (err error) {
	for range 3 {
		err = r.runOnce(ctx, l)
		if _, ok := errors.AsType[lateError](err); !ok {
			return err
		}
	}
	return err
}

// runOnce returns even if the limiter ignores its context and blocks.
func (r rule) runOnce(ctx context.Context, l client.LookupLimiter) error {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- r.check(newCaller(ctx, l)) }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the limiter did not return within %v", timeLimit)
	}
}
