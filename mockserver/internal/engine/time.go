package engine

// This file contains operations that wait for the clock or change it.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/emailplatform/mockserver/internal/clock"
)

// ErrPast means that a time is in the past.
var ErrPast = errors.New("the time must not be in the past")

// Advance advances the clock by a duration.
func (e *Engine) Advance(ctx context.Context, d time.Duration) error {
	return e.advance(ctx, func(now time.Time) (time.Time, error) { return now.Add(d), nil })
}

// AdvanceTo advances the clock to a time.
func (e *Engine) AdvanceTo(ctx context.Context, to time.Time) error {
	return e.advance(ctx, func(time.Time) (time.Time, error) { return to, nil })
}

// AdvanceToNext advances the clock until the next scheduled work is done.
func (e *Engine) AdvanceToNext(ctx context.Context) error {
	return e.advance(ctx, func(now time.Time) (time.Time, error) {
		next := e.Clock.View().Next
		if next == nil {
			return now, errors.New("no scheduled work")
		}
		return next.At, nil
	})
}

// advance advances the clock alarm by alarm to the time that choose() returns. After
// each alarm, it waits until the work that the alarm started is done.
func (e *Engine) advance(ctx context.Context, choose func(now time.Time) (end time.Time, err error)) error {
	hold, err := e.Clock.Hold(ctx)
	if err != nil {
		return fmt.Errorf("another call is advancing the clock: %w", err)
	}
	defer hold.Release()
	if err := e.waitUntilIdle(ctx, 0); err != nil {
		return err
	}
	now := e.Clock.Now()
	end, err := choose(now)
	if err == nil {
		err = clock.Check(end)
	}
	if err == nil && end.Before(now) {
		err = ErrPast
	}
	if err != nil {
		return err
	}
	return e.step(ctx, hold, end)
}

// SetNow sets the clock. If the new time is before the clock's current time, rate limits
// ignore attempts that are later than the new time.
func (e *Engine) SetNow(to time.Time) error {
	if err := e.Clock.Set(to); err != nil {
		return err
	}
	e.Deliveries.ClockSet()
	return nil
}

func (e *Engine) step(ctx context.Context, hold *clock.Hold, end time.Time) error {
	for {
		at := end
		if next := e.Clock.View().Next; next != nil && next.At.Before(end) {
			at = next.At
		}
		if err := hold.To(at); err != nil {
			return err
		}
		if err := e.waitUntilIdle(ctx, 0); err != nil {
			shows := e.Clock.Now().Format(time.RFC3339)
			return fmt.Errorf("the clock shows %s: %w", shows, err)
		}
		if at.Equal(end) {
			return nil
		}
	}
}
