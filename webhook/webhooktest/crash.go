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
// Each call to newOnce() stands for a process. It returns the store of this process, and a
// function that simulates a crash by closing the store's connections permanently. The
// stores share their data, so the function must not delete the data. The store must release
// the keys of a crashed process within 30 seconds. If the store locks keys for a limited
// time (a lease), configure a time of less than 30 seconds.
//
// TestCrash does not apply to stores without a connection, such as
// [webhook.MemoryOnce].
func TestCrash(t *testing.T, newOnce func(t *testing.T) (once webhook.Once, crash func())) {
	t.Helper()
	for _, r := range crashRules {
		t.Run(r.name, func(t *testing.T) {
			crashing, crash := newOnce(t)
			other, _ := newOnce(t)
			if err := r.check(crashing, crash).run(t.Context(), other); err != nil {
				t.Error(err)
			}
		})
	}
}

// crashRule describes a call to Do by a process that crashes during the call.
// Afterwards, the store must not treat the event as handled, and the key must become
// free for other processes.
type crashRule struct {
	name   string
	early  bool  // the process crashes before it calls Do
	result error // result of the function
	ran    bool
}

var crashRules = []crashRule{
	{name: "crash before the success is recorded", ran: true},
	{name: "crash before the failure is recorded", result: errFn, ran: true},
	{name: "store that is down runs nothing", early: true},
}

func (r crashRule) check(crashing webhook.Once, crash func()) check {
	return func(ctx context.Context, other webhook.Once, key string) error {
		if r.early {
			crash()
		}
		called := false
		ran, err := crashing.Do(ctx, key, func(context.Context) error {
			called = true
			crash()
			return r.result
		})
		wrongError := err == nil || errors.Is(err, webhook.ErrInFlight) || r.result != nil && !errors.Is(err, r.result)
		if called != r.ran || ran != r.ran || wrongError {
			return fmt.Errorf("function called: %v, Do = %v, %v; want %v, %v and an error from the function or the store",
				called, ran, err, r.ran, r.ran)
		}
		return becomesFree(ctx, other, key)
	}
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
