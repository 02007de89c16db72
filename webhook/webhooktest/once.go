package webhooktest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.com/emailplatform/webhook"
)

// patience is how long a rule may take on a slow database before the store is
// said to hang.
const patience = 30 * time.Second

// TestOnce runs the suite, each rule as a subtest on a store of its own from
// newOnce. The stores may share a database: no two rules use the same key, and
// neither do two runs. A rule that takes longer than 30 seconds fails.
func TestOnce(t *testing.T, newOnce func(t *testing.T) webhook.Once) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if err := r.run(t.Context(), newOnce(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

type rule struct {
	name  string
	check func(context.Context, webhook.Once) error
}

// run also ends when the store hangs without looking at its context.
func (r rule) run(ctx context.Context, once webhook.Once) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- r.check(ctx, once) }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the store hangs: no answer after %v", patience)
	}
}
