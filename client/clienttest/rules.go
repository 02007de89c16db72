package clienttest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/emailplatform/client"
)

const (
	gap     = time.Second            // minimum interval from the end of a slot to the next slot
	slack   = time.Second            // maximum delay of a slot
	arrival = 100 * time.Millisecond // interval between two calls of Acquire
)

var rules = []rule{
	{"first slot is immediate", firstIsImmediate},
	{"slots are one second apart", intervals(0, 0, 0)},
	{"release requires a longer interval", intervals(3*time.Second, 0)}, // the interval applies only to the next slot
	{"slot lasts until it is released", lastsUntilRelease},
	{"only one caller holds the slot", oneHolder},
	{"first come, first served", firstComeFirstServed},
	{"canceled call leaves the queue", canceledInQueue},
	{"canceled calls delay no other call", cancelDelaysNoOther},
	{"ended context gets no slot", endedContext},
	{"canceled holder keeps the slot", canceledHolder},
	{"other keys do not wait", otherKeys},
}

// caller acquires slots for a key.
type caller struct {
	ctx     context.Context
	limiter client.LookupLimiter
	key     string
}

func newCaller(ctx context.Context, l client.LookupLimiter) caller {
	return caller{ctx, l, "clienttest-" + rand.Text()}
}

func (c caller) acquire() (release func(time.Duration), at time.Time, err error) {
	release, err = c.limiter.Acquire(c.ctx, c.key)
	at = time.Now()
	if err == nil && release == nil {
		err = errors.New("no release")
	}
	if err != nil {
		return nil, at, fmt.Errorf("acquire: %w; want a slot", err)
	}
	return release, at, nil
}

// lateError means that a slot was late, possibly because the machine is busy.
type lateError struct{ error }

func within(what string, took, least time.Duration) error {
	err := fmt.Errorf("%s: got %v; want at least %v and at most %v", what, took, least, least+slack)
	switch {
	case took < least:
		return err
	case took > least+slack:
		return lateError{err}
	}
	return nil
}

func firstIsImmediate(c caller) error {
	start := time.Now()
	release, at, err := c.acquire()
	if err != nil {
		return err
	}
	release(0)
	return within("first slot", at.Sub(start), 0)
}

// intervals returns a rule. For each interval in atLeast, the rule releases its slot with this interval and measures
// when it gets the next slot.
func intervals(atLeast ...time.Duration) func(caller) error {
	return func(c caller) error {
		release, _, err := c.acquire()
		for _, interval := range atLeast {
			if err != nil {
				return err
			}
			released := time.Now()
			release(interval)
			var at time.Time
			if release, at, err = c.acquire(); err == nil {
				err = within("from the end of a slot to the next slot", at.Sub(released), max(interval, gap))
			}
		}
		if err == nil {
			release(0)
		}
		return err
	}
}

func lastsUntilRelease(c caller) error {
	release, _, err := c.acquire()
	if err != nil {
		return err
	}
	return c.lastsFor(release, 2*gap+gap/2)
}

// canceledHolder tests that canceling the context does not release the slot,
// because the platform may still be processing the lookup.
func canceledHolder(c caller) error {
	short, cancel := context.WithCancel(c.ctx)
	release, _, err := caller{short, c.limiter, c.key}.acquire()
	cancel()
	if err != nil {
		return err
	}
	return c.lastsFor(release, gap+gap/2)
}

// lastsFor releases a slot after the given time, and tests that the next slot starts at least one second
// later.
func (c caller) lastsFor(release func(time.Duration), held time.Duration) error {
	ended := make(chan time.Time, 1)
	time.AfterFunc(held, func() {
		ended <- time.Now()
		release(0)
	})
	second, at, err := c.acquire()
	if err != nil {
		return err
	}
	second(0)
	select {
	case e := <-ended:
		return within("from the end of the slot to the next slot", at.Sub(e), gap)
	default:
		return errors.New("the next slot started before the end of the previous slot")
	}
}

func oneHolder(c caller) error {
	var inside atomic.Int32
	errs := make([]error, 3)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			release, _, err := c.acquire()
			if err != nil {
				errs[i] = err
				return
			}
			if n := inside.Add(1); n > 1 {
				errs[i] = fmt.Errorf("%d callers hold the slot at the same time", n)
			}
			time.Sleep(gap + arrival) // longer than the interval to the next slot
			inside.Add(-1)
			release(0)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func firstComeFirstServed(c caller) error {
	const callers = 6
	var mu sync.Mutex
	var order []int
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			release, _, err := c.acquire()
			if err != nil {
				errs[i] = err
				return
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			release(0)
		})
		time.Sleep(2 * arrival) // the test cannot observe when a caller joins the queue
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if !slices.IsSorted(order) {
		return fmt.Errorf("callers got their slots in the order %v; want the order of arrival", order)
	}
	return nil
}

func canceledInQueue(c caller) error {
	release, _, err := c.acquire()
	if err != nil {
		return err
	}
	defer release(0)
	cause := errors.New("the caller's reason")
	for _, tt := range []struct {
		ctx  func() (context.Context, context.CancelFunc)
		want error
	}{
		{func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(c.ctx, 3*arrival)
		}, context.DeadlineExceeded},
		{func() (context.Context, context.CancelFunc) {
			waiting, cancel := context.WithCancelCause(c.ctx)
			timer := time.AfterFunc(3*arrival, func() { cancel(cause) })
			return waiting, func() { timer.Stop(); cancel(nil) }
		}, context.Canceled},
	} {
		waiting, cancel := tt.ctx()
		start := time.Now()
		_, err := c.limiter.Acquire(waiting, c.key)
		cancel()
		if !errors.Is(err, tt.want) && !errors.Is(err, cause) {
			return fmt.Errorf("acquire: %w; want the context's error, %w", err, tt.want)
		}
		if d := time.Since(start); d > 3*arrival+slack/2 {
			return fmt.Errorf("acquire returned after %v, but its context ended after %v", d, 3*arrival)
		}
	}
	return nil
}

func cancelDelaysNoOther(c caller) error {
	release, _, err := c.acquire()
	if err != nil {
		return err
	}
	leaving, leave := context.WithCancel(c.ctx)
	defer leave()
	var canceled, waiting sync.WaitGroup
	var at time.Time
	var failed error
	addCallers := func() {
		for range 5 {
			canceled.Go(func() {
				if release, err := c.limiter.Acquire(leaving, c.key); err == nil {
					release(0)
				}
			})
		}
		time.Sleep(arrival)
	}
	addCallers()
	waiting.Go(func() {
		var release func(time.Duration)
		if release, at, failed = c.acquire(); failed == nil {
			release(0)
		}
	})
	time.Sleep(arrival)
	addCallers()
	leave()
	canceled.Wait()
	released := time.Now()
	release(0)
	waiting.Wait()
	if failed != nil {
		return failed
	}
	return within("from the first slot to the remaining caller", at.Sub(released), gap)
}

func endedContext(c caller) error {
	done, cancel := context.WithCancel(c.ctx)
	cancel()
	for range 3 {
		release, err := c.limiter.Acquire(done, c.key)
		if err == nil {
			release(0)
		}
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("acquire = %w; want %w", err, context.Canceled)
		}
	}
	start := time.Now()
	release, at, err := c.acquire()
	if err != nil {
		return err
	}
	release(0)
	return within("first slot after three canceled calls", at.Sub(start), 0)
}

func otherKeys(c caller) error {
	release, _, err := c.acquire()
	if err != nil {
		return err
	}
	defer release(0)
	start := time.Now()
	if err := warm(c); err != nil {
		return err
	}
	return within("three slots with other keys", time.Since(start), 0)
}
