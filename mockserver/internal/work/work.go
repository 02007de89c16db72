// Package work counts the work in progress. Callers may hold any lock, because the package
// acquires only its own lock.
package work

import (
	"context"
	"sync"
)

// EveryAccount is the account id for work that counts toward every account.
const EveryAccount = -1

// Pending counts the work in progress, in total and by account. Unlike
// [sync.WaitGroup.Wait], its Wait method accepts a context and reports whether
// there was any work. The zero value is ready to use.
type Pending struct {
	mu    sync.Mutex
	total int
	of    map[int64]int // number by account
	less  chan struct{} // closed when an account has no more work; nil if no caller waits
}

// Start increases the count of work in progress for an account, or account 0 for other
// work. After each call to Start, the caller must call Done.
func (w *Pending) Start(account int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[int64]int{}
	}
	w.total++
	w.of[account]++
}

// Done decreases the count for an account.
func (w *Pending) Done(account int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total--
	if w.of[account]--; w.of[account] > 0 {
		return
	}
	delete(w.of, account)
	if w.less != nil {
		close(w.less)
		w.less = nil
	}
}

// Finish waits until no work is in progress. It has no timeout.
func (w *Pending) Finish() { _, _ = w.Wait(context.Background(), 0) }

// Wait waits until the account has no work in progress; account 0 means all accounts. The
// result busy reports whether Wait had to wait. Wait returns an error if ctx is canceled.
func (w *Pending) Wait(ctx context.Context, account int64) (busy bool, err error) {
	for {
		less := w.watch(account)
		if less == nil {
			return busy, nil
		}
		busy = true
		select {
		case <-less:
		case <-ctx.Done():
			return true, ctx.Err()
		}
	}
}

// watch returns a channel that is closed when any account finishes its work. It returns
// nil if the given account has no work in progress.
func (w *Pending) watch(account int64) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.total
	if account != 0 {
		n = w.of[account] + w.of[EveryAccount]
	}
	if n == 0 {
		return nil
	}
	if w.less == nil {
		w.less = make(chan struct{})
	}
	return w.less
}
