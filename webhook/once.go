package webhook

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// ErrInFlight means that another call to Do is handling the same event.
var ErrInFlight = errors.New("webhook: event already being handled")

// Once is a deduplication store: it records the handled events, because a duplicate may
// arrive hours later, or at the same time on another connection.
//
// To share a store between processes, implement Once with a database, and test it with
// package webhooktest. If the database has transactions, Do can begin a transaction,
// pass it to fn in the context, and commit it together with the key. The writes of fn
// in this transaction happen exactly once, even if the process crashes.
type Once interface {
	// Do calls fn, unless a call with the same key has already succeeded. A key can
	// contain any bytes, and keys are compared byte by byte.
	//
	//   - fn returns nil: Do records the key, and returns true and nil.
	//   - fn returns an error: the key is free again, and Do returns true and
	//     that error.
	//   - fn panics: the key is free again, and the panic continues.
	//   - A call with this key succeeded before: Do returns false and nil.
	//   - A call with this key is in progress: Do immediately returns false and
	//     ErrInFlight.
	//   - ctx is canceled or expires before fn is called, or the store fails: Do
	//     returns false and an error.
	//   - A call with another key is in progress: Do does not wait. However, if the store
	//     allows only one writer at a time, Do may wait until the fn of the other call
	//     has returned.
	//   - fn returns nil, but the store cannot record the key: Do returns true and
	//     an error, and the key is free again.
	//
	// The context for fn is ctx or is derived from ctx. If fn fails, the key becomes free,
	// even if ctx has been canceled. A shared store must also free the keys of a process
	// that crashed. For this, it can use a transaction that ends with the process, or a
	// lease that is longer than the longest call to fn.
	Do(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error)
}

// MemoryOnceOptions limits a [MemoryOnce]. The zero value is a good default.
type MemoryOnceOptions struct {
	// MaxEntries is the maximum number of handled events in the store. If the number is
	// exceeded, the store deletes the oldest events. An event whose key is a UUID uses
	// about 200 bytes. 0 or a negative value means 1,000,000.
	MaxEntries int
	// MaxAge is the time after which a handled event is deleted. If MaxAge is less than 8
	// hours, an event can be handled again after a late delivery (see "Webhook retry schedule" in
	// docs/production.md). 0 or a negative value means 7 days.
	MaxAge time.Duration
}

// MemoryOnce is an in-memory [Once], so the recorded events are lost when the process
// ends. It is safe for concurrent use.
type MemoryOnce struct {
	maxEntries int
	maxAge     time.Duration

	mu      sync.Mutex
	running map[string]struct{}
	handled map[string]struct{}
	order   []record // one for each key in handled, oldest first
}

type record struct {
	key string
	at  time.Time
}

// NewMemoryOnce returns an empty MemoryOnce.
func NewMemoryOnce(opts MemoryOnceOptions) *MemoryOnce {
	m := &MemoryOnce{
		maxEntries: 1_000_000,
		maxAge:     7 * 24 * time.Hour,
		running:    make(map[string]struct{}),
		handled:    make(map[string]struct{}),
	}
	if opts.MaxEntries > 0 {
		m.maxEntries = opts.MaxEntries
	}
	if opts.MaxAge > 0 {
		m.maxAge = opts.MaxAge
	}
	return m
}

// Do implements [Once].
func (m *MemoryOnce) Do(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if handled, err := m.begin(key); handled || err != nil {
		return false, err
	}
	succeeded := false
	defer func() { m.end(key, succeeded) }() // even if fn panics
	err = fn(ctx)
	succeeded = err == nil
	return true, err
}

func (m *MemoryOnce) begin(key string) (handled bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetLocked()
	if _, ok := m.handled[key]; ok {
		return true, nil
	}
	if _, ok := m.running[key]; ok {
		return false, ErrInFlight
	}
	m.running[key] = struct{}{}
	return false, nil
}

func (m *MemoryOnce) end(key string, succeeded bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.running, key)
	if !succeeded {
		return
	}
	key = strings.Clone(key) // key may share memory with the whole body, which would stay in memory for days
	m.handled[key] = struct{}{}
	m.order = append(m.order, record{key, time.Now()})
	m.forgetLocked()
}

// forgetLocked deletes expired keys, and the oldest keys above the maximum.
func (m *MemoryOnce) forgetLocked() {
	for len(m.order) > 0 && (len(m.order) > m.maxEntries || time.Since(m.order[0].at) >= m.maxAge) {
		delete(m.handled, m.order[0].key)
		m.order[0] = record{} // append moves the slice only occasionally, so release the text now
		m.order = m.order[1:]
	}
}
