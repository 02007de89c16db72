package client

import (
	"context"
	"fmt"
	"time"
)

// wait gets a resource again and again until it is as until wants it, with pauses
// that double from a second up to the longest. r is the request that get makes.
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
			e := newError(r, fmt.Errorf("waiting to look again: %w", err))
			return last, e.joined(context.Cause(ctx))
		}
	}
}
