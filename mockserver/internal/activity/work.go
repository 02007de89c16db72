package activity

import (
	"context"
	"sync"
)

// Work counts the work in progress. Unlike a [sync.WaitGroup], it takes a context
// to wait with, and says whether there was any work. The zero value is ready.
type Work struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to 0; nil if no caller waits
}

// Start counts one more. Each needs its Done.
func (w *Work) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
}

// Done counts one less.
func (w *Work) Done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n--; w.n == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// Finish returns when no work is in progress, however long that takes.
func (w *Work) Finish() { _, _ = w.Wait(context.Background()) }

// Wait returns when no work is in progress, and whether some was. It fails if ctx
// ends first.
func (w *Work) Wait(ctx context.Context) (busy bool, err error) {
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
