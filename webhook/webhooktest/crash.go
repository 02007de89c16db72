package webhooktest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/emailplatform/webhook"
)

// TestCrash tests a store that several processes share. Each subtest closes the
// store's connection at a different moment.
//
// The function newOnce() returns the store of one process and a function that
// permanently closes the store's connections. Closing the connections must not
// delete the shared data. The store must release the keys of a crashed process
// within 30 seconds, so use a short lease.
//
// TestCrash does not apply to stores without a connection, such as
// [webhook.MemoryOnce].
func TestCrash(t *testing.T, newOnce func(t *testing.T) (once webhook.Once, crash func())) {
	t.Helper()
	for _, r := range crashRules {
		t.Run(r.name, func(t *testing.T) {
			dying, crash := newOnce(t)
			other, _ := newOnce(t)
			alone := rule{r.name, func(ctx context.Context, _ webhook.Once) error { return r.check(ctx, dying, crash, other) }}
			if err := alone.run(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
}

type crashRule struct {
	name  string
	check func(ctx context.Context, dying webhook.Once, crash func(), other webhook.Once) error
}

var crashRules = []crashRule{
	{"crash before the success is recorded", crashBeforeRemembering},
	{"crash before the failure is recorded", crashBeforeFailure},
	{"store that is down runs nothing", downRunsNothing},
}

// crashBeforeRemembering tests that an event is not lost. The store must not
// treat the event as handled, and the key must become free.
func crashBeforeRemembering(ctx context.Context, dying webhook.Once, crash func(), other webhook.Once) error {
	key := newKey()
	ran, err := dying.Do(ctx, key, func(context.Context) error {
		crash()
		return nil
	})
	if !ran || err == nil {
		return fmt.Errorf("Do = %v, %v when the store cannot record the key; want true and an error", ran, err)
	}
	return becomesFree(ctx, other, key)
}

func crashBeforeFailure(ctx context.Context, dying webhook.Once, crash func(), other webhook.Once) error {
	key := newKey()
	ran, err := dying.Do(ctx, key, func(context.Context) error {
		crash()
		return errFn
	})
	if !ran || !errors.Is(err, errFn) {
		return fmt.Errorf("Do = %v, %v; want true and the function's error", ran, err)
	}
	return becomesFree(ctx, other, key)
}

func downRunsNothing(ctx context.Context, dying webhook.Once, crash func(), other webhook.Once) error {
	crash()
	key := newKey()
	ran, err := dying.Do(ctx, key, func(context.Context) error { return errors.New("the function was called") })
	if ran || err == nil || errors.Is(err, webhook.ErrInFlight) {
		return fmt.Errorf("Do = %v, %v when the store is down; want false and an error from the store", ran, err)
	}
	return becomesFree(ctx, other, key)
}

// becomesFree waits until the key is free, and then records it as handled.
func becomesFree(ctx context.Context, once webhook.Once, key string) error {
	for {
		ran, err := once.Do(ctx, key, succeed)
		switch {
		case ran && err == nil:
			return expect(ctx, once, key, succeed, false, nil)
		case !errors.Is(err, webhook.ErrInFlight):
			return fmt.Errorf("Do = %v, %v; want true and nil, or ErrInFlight", ran, err)
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return errors.New("the key was not released")
		}
	}
}
