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
	gap     = time.Second            // the least from the end of a turn to the next
	slack   = time.Second            // what may come so much later passes
	arrival = 100 * time.Millisecond // between two that ask one after the other
)

var rules = []rule{
	{"first turn comes at once", firstComesAtOnce},
	{"turns are a second apart", turnsAreApart},
	{"release asks for longer", releaseAsksForLonger},
	{"a turn lasts as long as it takes", turnLasts},
	{"nobody has a turn beside another", nobodyBeside},
	{"first come, first served", firstComeFirstServed},
	{"context that ends in the queue ends the wait", endsInQueue},
	{"those who give up cost nothing", givingUpCostsNothing},
	{"done context gets no turn", doneContext},
	{"context that ends in the turn ends nothing", endsInTurn},
	{"other keys do not wait", otherKeys},
}

// newKey returns an unused key.
func newKey() string { return "clienttest-" + rand.Text() }

// acquire acquires the next slot and returns its start.
func turn(
	ctx context.Context, l client.LookupLimiter, key string,
) (release func(time.Duration), at time.Time, err error) {
	release, err = l.Acquire(ctx, key)
	at = time.Now()
	if err == nil && release == nil {
		err = errors.New("no release")
	}
	if err != nil {
		return nil, at, fmt.Errorf("acquire = %w; want a turn", err)
	}
	return release, at, nil
}

// lateError is an error that a busy machine can also cause.
type lateError struct{ error }

// within returns an error unless took is at least least and not much more.
func within(what string, took, least time.Duration) error {
	err := fmt.Errorf("%s: %v; want at least %v, and at most %v", what, took, least, least+slack)
	switch {
	case took < least:
		return err
	case took > least+slack:
		return lateError{err}
	}
	return nil
}

// next releases the slot, acquires the next one, and checks the time between
// them.
func next(
	ctx context.Context, l client.LookupLimiter, key string, release func(time.Duration), atLeast, want time.Duration,
) (func(time.Duration), error) {
	released := time.Now()
	release(atLeast)
	release, at, err := turn(ctx, l, key)
	if err != nil {
		return nil, err
	}
	return release, within("from a turn's end to the next", at.Sub(released), want)
}

func firstComesAtOnce(ctx context.Context, l client.LookupLimiter) error {
	asked := time.Now()
	release, at, err := turn(ctx, l, newKey())
	if err != nil {
		return err
	}
	release(0)
	return within("first turn", at.Sub(asked), 0)
}

func turnsAreApart(ctx context.Context, l client.LookupLimiter) error {
	key := newKey()
	release, _, err := turn(ctx, l, key)
	for range 3 {
		if err != nil {
			return err
		}
		release, err = next(ctx, l, key, release, 0, gap)
	}
	if err == nil {
		release(0)
	}
	return err
}

// releaseWithMinimum also checks that the minimum applies only once.
func releaseAsksForLonger(ctx context.Context, l client.LookupLimiter) error {
	key := newKey()
	release, _, err := turn(ctx, l, key)
	for _, atLeast := range []time.Duration{3 * time.Second, 0} {
		if err != nil {
			return err
		}
		release, err = next(ctx, l, key, release, atLeast, max(atLeast, gap))
	}
	if err == nil {
		release(0)
	}
	return err
}

// longSlot holds the first slot for longer than a gap while a second caller
// waits.
func turnLasts(ctx context.Context, l client.LookupLimiter) error {
	key := newKey()
	release, _, err := turn(ctx, l, key)
	if err != nil {
		return err
	}
	ended := make(chan time.Time, 1)
	time.AfterFunc(2*gap+gap/2, func() {
		ended <- time.Now()
		release(0)
	})
	second, at, err := turn(ctx, l, key)
	if err != nil {
		return err
	}
	second(0)
	select {
	case e := <-ended:
		return within("from the long turn's end to the next", at.Sub(e), gap)
	default:
		return errors.New("the next turn came before the one before it had ended")
	}
}

func nobodyBeside(ctx context.Context, l client.LookupLimiter) error {
	key := newKey()
	var inside atomic.Int32
	errs := make([]error, 3)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			release, _, err := turn(ctx, l, key)
			if err != nil {
				errs[i] = err
				return
			}
			if n := inside.Add(1); n > 1 {
				errs[i] = fmt.Errorf("%d have a turn at the same time", n)
			}
			time.Sleep(gap + arrival) // longer than it takes to the next, if that does not wait
			inside.Add(-1)
			release(0)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func firstComeFirstServed(ctx context.Context, l client.LookupLimiter) error {
	const callers = 6
	key := newKey()
	var mu sync.Mutex
	var order []int
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			release, _, err := turn(ctx, l, key)
			if err != nil {
				errs[i] = err
				return
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			release(0)
		})
		time.Sleep(2 * arrival) // arrivals cannot be observed, but with this distance their order is known
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if !slices.IsSorted(order) {
		return fmt.Errorf("served in the order %v", order)
	}
	return nil
}

func endsInQueue(ctx context.Context, l client.LookupLimiter) error {
	key := newKey()
	release, _, err := turn(ctx, l, key)
	if err != nil {
		return err
	}
	defer release(0)
	cause := errors.New("the caller's own reason")
	for _, tt := range []struct {
		ctx  func() (context.Context, context.CancelFunc)
		want error
	}{
		{func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 3*arrival)
		}, context.DeadlineExceeded},
		{func() (context.Context, context.CancelFunc) {
			c, cancel := context.WithCancelCause(ctx)
			timer := time.AfterFunc(3*arrival, func() { cancel(cause) })
			return c, func() { timer.Stop(); cancel(nil) }
		}, context.Canceled},
	} {
		waiting, cancel := tt.ctx()
		asked := time.Now()
		_, err := l.Acquire(waiting, key)
		cancel()
		if !errors.Is(err, tt.want) && !errors.Is(err, cause) {
			return fmt.Errorf("acquire = %w; want an error that is the context's, %w", err, tt.want)
		}
		if d := time.Since(asked); d > 3*arrival+slack/2 {
			return fmt.Errorf("acquire returned after %v, its context ended after %v", d, 3*arrival)
		}
	}
	return nil
}

// leavingDelaysNoOne makes callers leave the queue before and after a caller
// that stays.
func givingUpCostsNothing(ctx context.Context, l client.LookupLimiter) error {
	key := newKey()
	release, _, err := turn(ctx, l, key)
	if err != nil {
		return err
	}
	leaving, leave := context.WithCancel(ctx)
	defer leave()
	var gone, stays sync.WaitGroup
	var at time.Time
	var failed error
	crowd := func() {
		for range 5 {
			gone.Go(func() {
				if release, err := l.Acquire(leaving, key); err == nil {
					release(0)
				}
			})
		}
		time.Sleep(arrival)
	}
	crowd()
	stays.Go(func() {
		var release func(time.Duration)
		if release, at, failed = turn(ctx, l, key); failed == nil {
			release(0)
		}
	})
	time.Sleep(arrival)
	crowd()
	leave()
	gone.Wait()
	released := time.Now()
	release(0)
	stays.Wait()
	if failed != nil {
		return failed
	}
	return within("the one who stays, among ten who gave up", at.Sub(released), gap)
}

// doneContext also checks that the call acquired no slot.
func doneContext(ctx context.Context, l client.LookupLimiter) error {
	key := newKey()
	done, cancel := context.WithCancel(ctx)
	cancel()
	for range 3 {
		release, err := l.Acquire(done, key)
		if err == nil {
			release(0)
		}
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("acquire = %w; want %w", err, context.Canceled)
		}
	}
	asked := time.Now()
	release, at, err := turn(ctx, l, key)
	if err != nil {
		return err
	}
	release(0)
	return within("first turn after three that were none", at.Sub(asked), 0)
}

// endsInSlot fails for a limiter that releases the slot when the context ends:
// the platform may still be processing the lookup.
func endsInTurn(ctx context.Context, l client.LookupLimiter) error {
	key := newKey()
	short, cancel := context.WithCancel(ctx)
	release, _, err := turn(short, l, key)
	cancel()
	if err != nil {
		return err
	}
	ended := make(chan time.Time, 1)
	time.AfterFunc(gap+gap/2, func() {
		ended <- time.Now()
		release(0)
	})
	second, at, err := turn(ctx, l, key)
	if err != nil {
		return err
	}
	second(0)
	select {
	case e := <-ended:
		return within("from the turn's end to the next", at.Sub(e), gap)
	default:
		return errors.New("the turn ended with its context")
	}
}

func otherKeys(ctx context.Context, l client.LookupLimiter) error {
	release, _, err := turn(ctx, l, newKey())
	if err != nil {
		return err
	}
	defer release(0)
	asked := time.Now()
	for range 3 {
		other, _, err := turn(ctx, l, newKey())
		if err != nil {
			return err
		}
		other(0)
	}
	return within("three turns of other keys", time.Since(asked), 0)
}
