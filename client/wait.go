package client

import (
	"context"
	"fmt"
	"time"
)

// wait doubles the interval between requests from one second up to the given
// maximum. The parameter r is the request that get() sends.
func wait[T any](
	ctx context.Context, r request, get func() (T, error), until func(T) bool, longest time.Duration,
) (last T, err error) {
	for gap := lookupGap; ; gap = min(2*gap, longest) {
		now, err := get()
		if err != nil {
			return last, err
		}
		if until(now) {
			return now, nil
		}
		last = now
		if err := pause(ctx, gap); err != nil {
			e := newError(r, fmt.Errorf("waiting for the next request: %w", err))
			return last, e.joined(context.Cause(ctx))
		}
	}
}

func endsWithin(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) <= d
}

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
