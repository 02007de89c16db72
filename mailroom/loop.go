package mailroom

import (
	"context"
	"time"
)

// workFunc handles the item with the key, or any due item if key is "". The wait is:
//
//   - 0 if workFunc handled an item
//   - noWork if it found no item to handle
//   - positive if it must not handle the item before this time has passed
type workFunc func(ctx context.Context, key string) (wait time.Duration, err error)

// runLoop calls work until the Room is closed. If work handled an item, runLoop calls it again
// immediately. Otherwise, runLoop first waits for the wakeup, but not longer than the interval.
func (r *Room) runLoop(w wakeup, interval time.Duration, work workFunc) {
	ctx := r.closing
	for ctx.Err() == nil {
		wait, err := work(ctx, "")
		if err != nil && ctx.Err() == nil {
			r.opts.Logger.ErrorContext(ctx, "mailroom: store failed", "error", err)
		}
		if wait == 0 && err == nil {
			w.wake() // other work may remain for another worker
			continue
		}
		select {
		case <-ctx.Done():
		case <-w:
		case <-time.After(interval):
		}
	}
}

// wakeup interrupts the wait of a loop. If no loop is waiting, the next wait of a loop ends
// immediately.
type wakeup chan struct{}

func (w wakeup) wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// exponential returns the delay after a number of failures. The delay begins with the
// argument first, and doubles with each further failure up to the argument limit.
func exponential(first time.Duration, failures int, limit time.Duration) time.Duration {
	d := min(first, limit)
	for ; failures > 1 && d < limit; failures-- {
		d = min(2*d, limit)
	}
	return d
}
