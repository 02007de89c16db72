package environment

// This file contains operations that wait for the clock or change it.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/platform"
)

// Wait waits until an account has no work that is in progress or due. Account 0 means
// all accounts.
func (w *Environment) Wait(ctx context.Context, account int64) error {
	w.mu.Lock()
	known := account == 0 || w.hasAccount(account)
	w.mu.Unlock()
	if !known {
		return fmt.Errorf("mockserver: wait: account %d: %w", account, ErrNoAccount)
	}
	if err := w.quiet(ctx, account); err != nil {
		return fmt.Errorf("mockserver: wait: %w", err)
	}
	return nil
}

func (w *Environment) quiet(ctx context.Context, account int64) error {
	for {
		w.Clock.RingDue()
		busy, err := w.Work.Wait(ctx, account)
		if err != nil {
			return fmt.Errorf("deliveries are in progress: %w", err)
		}
		if !busy {
			return nil
		}
	}
}

// ErrFrozen means that Drain cannot succeed, because no further work becomes
// due while the clock is frozen.
var ErrFrozen = errors.New("the clock is frozen")

// Drain waits until no delivery of an account is pending. Account 0 means all accounts.
func (w *Environment) Drain(ctx context.Context, account int64) error {
	for {
		moved := w.Clock.Moved()
		if err := w.Wait(ctx, account); err != nil {
			return err
		}
		wait, what := w.Deliveries.Next(account)
		if what == "" {
			return nil
		}
		if w.Clock.View().Frozen {
			return fmt.Errorf("mockserver: drain: %s are due in %v: %w", what, wait, ErrFrozen)
		}
		if err := w.pass(ctx, wait, moved); err != nil {
			return fmt.Errorf("mockserver: drain: %s are due in %v: %w", what, wait.Round(time.Millisecond), err)
		}
	}
}

// pass waits for the given duration, or until the clock is set, frozen or
// resumed.
func (w *Environment) pass(ctx context.Context, wait time.Duration, moved <-chan struct{}) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-moved:
	case <-w.Deliveries.Done():
		return platform.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// WaitFor waits until condition() returns true. WaitFor calls condition() once at the
// start, and again after every change.
func (w *Environment) WaitFor(ctx context.Context, condition func() bool) error {
	for {
		changed, open := w.Changes.Changed() // before condition(), because condition() may miss later changes
		switch {
		case condition():
			return nil
		case !open:
			return fmt.Errorf("mockserver: wait: the condition can no longer be met: %w", platform.ErrClosed)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("mockserver: wait: the condition was not met: %w", ctx.Err())
		}
	}
}

// ErrPast means that a time is in the past.
var ErrPast = errors.New("the time must not be in the past")

// Advance advances the clock by a duration.
func (w *Environment) Advance(ctx context.Context, d time.Duration) error {
	return w.advance(ctx, func(now time.Time) (time.Time, error) { return now.Add(d), nil })
}

// AdvanceTo advances the clock to a time.
func (w *Environment) AdvanceTo(ctx context.Context, to time.Time) error {
	return w.advance(ctx, func(time.Time) (time.Time, error) { return to, nil })
}

// AdvanceToNext advances the clock until the next scheduled work is done.
func (w *Environment) AdvanceToNext(ctx context.Context) error {
	return w.advance(ctx, func(now time.Time) (time.Time, error) {
		next := w.Clock.View().Next
		if next == nil {
			return now, errors.New("no scheduled work")
		}
		return next.At, nil
	})
}

// advance advances the clock alarm by alarm to the time that choose() returns. After
// each alarm, it waits until the work that the alarm started is done.
func (w *Environment) advance(ctx context.Context, choose func(now time.Time) (end time.Time, err error)) error {
	hold, err := w.Clock.Hold(ctx)
	if err != nil {
		return fmt.Errorf("mockserver: advance: another call is advancing the clock: %w", err)
	}
	defer hold.Release()
	if err := w.quiet(ctx, 0); err != nil {
		return fmt.Errorf("mockserver: advance: %w", err)
	}
	now := w.Clock.Now()
	end, err := choose(now)
	if err == nil {
		err = clock.Check(end)
	}
	if err == nil && end.Before(now) {
		err = ErrPast
	}
	if err == nil {
		err = w.step(ctx, hold, end)
	}
	if err != nil {
		return fmt.Errorf("mockserver: advance: %w", err)
	}
	return nil
}

// SetNow sets the clock. If the clock is set back, rate limits ignore
// attempts after the new time.
func (w *Environment) SetNow(to time.Time) error {
	if err := w.Clock.Set(to); err != nil {
		return err
	}
	w.Deliveries.ClockSet()
	return nil
}

func (w *Environment) step(ctx context.Context, hold *clock.Hold, end time.Time) error {
	for {
		at := end
		if next := w.Clock.View().Next; next != nil && next.At.Before(end) {
			at = next.At
		}
		if err := hold.To(at); err != nil {
			return err
		}
		if err := w.quiet(ctx, 0); err != nil {
			shows := w.Clock.Now().Format(time.RFC3339)
			return fmt.Errorf("the clock shows %s: %w", shows, err)
		}
		if at.Equal(end) {
			return nil
		}
	}
}
