// Package underway counts what is under way, for those who wait until nothing is.
package underway

import (
	"context"
	"sync"
)

// Count counts what is under way. The zero value is ready.
type Count struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to 0; nil if nobody waits
}

// Start counts one more. Each needs its Done.
func (c *Count) Start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

// Done counts one less, and wakes whoever waits for the last one.
func (c *Count) Done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.n == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// Finish waits for what is under way, however long it takes.
func (c *Count) Finish() { _, _ = c.Wait(context.Background()) }

// Wait returns when nothing is under way, and whether something was. It fails
// if ctx ends first.
func (c *Count) Wait(ctx context.Context) (busy bool, err error) {
	c.mu.Lock()
	if c.n == 0 {
		c.mu.Unlock()
		return false, nil
	}
	if c.idle == nil {
		c.idle = make(chan struct{})
	}
	idle := c.idle
	c.mu.Unlock()
	select {
	case <-idle:
		return true, nil
	case <-ctx.Done():
		return true, ctx.Err()
	}
}
