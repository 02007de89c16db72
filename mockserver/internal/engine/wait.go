package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/emailplatform/mockserver/internal/platform"
)

// Wait waits until an account has no work that is in progress or due. Account 0 means
// all accounts.
func (e *Engine) Wait(ctx context.Context, account int64) error {
	e.mu.Lock()
	known := account == 0 || e.hasAccount(account)
	e.mu.Unlock()
	if !known {
		return fmt.Errorf("account %d: %w", account, ErrNoAccount)
	}
	return e.waitUntilIdle(ctx, account)
}

func (e *Engine) waitUntilIdle(ctx context.Context, account int64) error {
	for {
		e.Clock.RingDue()
		busy, err := e.Work.Wait(ctx, account)
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
func (e *Engine) Drain(ctx context.Context, account int64) error {
	for {
		moved := e.Clock.Moved()
		if err := e.Wait(ctx, account); err != nil {
			return err
		}
		wait, what := e.Deliveries.Next(account)
		if what == "" {
			return nil
		}
		if e.Clock.View().Frozen {
			return fmt.Errorf("%s are due in %v: %w", what, wait, ErrFrozen)
		}
		if err := e.pass(ctx, wait, moved); err != nil {
			return fmt.Errorf("%s are due in %v: %w", what, wait.Round(time.Millisecond), err)
		}
	}
}

// pass waits for the given duration, or until the clock is set, frozen or
// resumed.
func (e *Engine) pass(ctx context.Context, wait time.Duration, moved <-chan struct{}) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-moved:
	case <-e.Deliveries.Done():
		return platform.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// WaitFor waits until condition returns true. It calls condition once at the start, and
// again after every change.
func (e *Engine) WaitFor(ctx context.Context, condition func() bool) error {
	for {
		changed, open := e.Changes.Changed() // before condition(), because condition() may miss later changes
		switch {
		case condition():
			return nil
		case !open:
			return fmt.Errorf("the condition can no longer be met: %w", platform.ErrClosed)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("the condition was not met: %w", ctx.Err())
		}
	}
}
