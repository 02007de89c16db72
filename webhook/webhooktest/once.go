package webhooktest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.com/emailplatform/webhook"
)

// timeLimit is the maximum duration of a subtest, long enough for a slow database.
const timeLimit = 30 * time.Second

// TestOnce runs a subtest for each rule of [webhook.Once], with a separate store
// from newOnce(). The stores can share a database, because each subtest uses its
// own keys in each run. A subtest that takes longer than 30 seconds fails.
func TestOnce(t *testing.T, newOnce func(t *testing.T) webhook.Once) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if err := r.check.run(t.Context(), newOnce(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// check tests a rule with a key that is not used yet.
type check func(ctx context.Context, once webhook.Once, key string) error

// run also returns if the store ignores its context and does not return.
func (c check) run(ctx context.Context, once webhook.Once) error {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- c(ctx, once, newKey()) }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the store did not return within %v", timeLimit)
	}
}
