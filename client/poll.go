package client

import (
	"context"
	"fmt"
	"time"
)

// pollUntil calls get() repeatedly, and returns the first result that until() accepts. The
// interval between the calls doubles from one second up to the parameter longest. The
// parameter r is the request that get() sends. If ctx ends between two calls, pollUntil
// returns an error with the operation of r.
func pollUntil[T any](
	ctx context.Context, r request, get func() (T, error), until func(T) bool, longest time.Duration,
) (last T, err error) {
	if until == nil {
		return last, newBadRequest(r, errNilUntil)
	}
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
			return last, e.wrapping(context.Cause(ctx))
		}
	}
}
