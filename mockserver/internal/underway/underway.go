// Package underway counts what is under way, for those who wait until nothing is.
package underway

import (
	"context"
	"sync"
)

// Count counts what is under way.
type Count struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to 0; nil if nobody waits
}

func (w *Count) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
}

func (w *Count) Done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n--; w.n == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// Finish waits for what is under way, however long it takes.
func (w *Count) Finish() { _, _ = w.Wait(context.Background()) }

// Wait returns when nothing is under way, and whether something was.
func (w *Count) Wait(ctx context.Context) (busy bool, err error) {
	w.mu.Lock()
	if w.n == 0 {
		w.mu.Unlock()
		return false, nil
	}
	if w.idle == nil {
		w.idle = make(chan struct{})
	}
	idle := w.idle
	w.mu.Unlock()
	select {
	case <-idle:
		return true, nil
	case <-ctx.Done():
		return true, ctx.Err()
	}
}
