package webhooktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"example.com/emailplatform/webhook"
)

// timeLimit is the maximum duration of a subtest, long enough for a slow database.
const timeLimit = 30 * time.Second

// Option changes the rules of [TestOnce].
type Option int

// OneWriter is for a store with one writer, such as SQLite, that holds a transaction while
// the function runs. Calls with other keys may then wait until the function returns, but
// must return after it.
const OneWriter Option = 1

// TestOnce runs a subtest for each rule of [webhook.Once]. For each subtest, newOnce
// creates a store. The stores can share a database, because each subtest uses its own keys
// in each run. If a subtest takes longer than 30 seconds, it fails, and TestOnce does not
// run the other subtests, because the store may hang in them too.
func TestOnce(t *testing.T, newOnce func(t *testing.T) webhook.Once, options ...Option) {
	t.Helper()
	for _, r := range rules {
		c := r.check
		if r.oneWriter != nil && slices.Contains(options, OneWriter) {
			c = r.oneWriter
		}
		var err error
		t.Run(r.name, func(t *testing.T) {
			if err = c.run(t.Context(), newOnce(t)); err != nil {
				t.Error(err)
			}
		})
		if errors.Is(err, errHangs) {
			t.Fatal("the other rules were not tested, because the store hangs")
		}
	}
}

var errHangs = fmt.Errorf("the store did not return within %v; if it has one writer and holds a transaction while the function runs, "+
	"use webhooktest.OneWriter", timeLimit)

// check tests a rule with a key that is not used yet.
type check func(ctx context.Context, once webhook.Once, key string) error

// run returns even if the store ignores its context and hangs.
func (c check) run(ctx context.Context, once webhook.Once) error {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- c(ctx, once, newKey()) }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return errHangs
	}
}
