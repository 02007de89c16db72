package webhook

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// ErrInFlight is what [Once.Do] returns while the same event is being handled
// by someone else.
var ErrInFlight = errors.New("webhook: the same event is being handled at this moment")

// Once remembers which events were handled. The platform delivers an event at
// least once and in no order, so that the same one can come again, hours later
// or at the same moment on another connection.
//
// To share one store between processes, implement Once over a database and
// prove it with the package webhooktest. In a database that has transactions,
// Do can begin one, hand it to fn in the context and commit it together with
// the key: then what fn writes there happens exactly once, even when the
// process is killed between the two.
type Once interface {
	// Do calls fn, unless a call with the same key has already succeeded. Keys
	// hold any bytes, and are compared byte for byte.
	//
	//   - fn returns nil: the key is remembered, and Do returns true and nil.
	//   - fn returns an error: the key is free again, and Do returns true and
	//     that error.
	//   - fn panics: the key is free again, and the panic goes on.
	//   - A call with this key succeeded before: Do returns false and nil.
	//   - A call with this key has not returned yet: Do does not wait, it
	//     returns false and ErrInFlight.
	//   - ctx is done before fn is called, or the store cannot tell: Do returns
	//     false and an error.
	//   - fn returned nil but that could not be remembered: Do returns true and
	//     an error, and the key is free again.
	//
	// The context of fn is ctx or derived from it. A key becomes free also when
	// ctx is done by then. A store shared by several processes frees the keys
	// of one that died, by a lease longer than any fn takes or by ending its
	// transaction.
	Do(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error)
}

// MemoryOnceOptions bounds what a [MemoryOnce] remembers. The zero value is a
// good default.
type MemoryOnceOptions struct {
	// MaxEntries is how many handled events are remembered, 1,000,000 if not
	// positive; when there are more, those handled longest ago are forgotten.
	// One with a UUID for a key takes about 200 bytes, and only once it was
	// handled.
	MaxEntries int
	// MaxAge is how long a handled event is remembered, 7 days if not positive.
	// The platform's last attempt to deliver comes more than 7 hours after the
	// first.
	MaxAge time.Duration
}

// MemoryOnce is a [Once] in the memory of one process: what it remembers does
// not outlive the process. It is safe for concurrent use.
type MemoryOnce struct {
	maxEntries int
	maxAge     time.Duration

	mu      sync.Mutex
	running map[string]struct{}
	handled map[string]struct{}
	order   []record // one for each key in handled, the oldest first
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
	defer func() { m.end(key, succeeded) }() // also when fn panics
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
	key = strings.Clone(key) // it may be a piece of a whole delivery, which must not stay for days
	m.handled[key] = struct{}{}
	m.order = append(m.order, record{key, time.Now()})
	m.forgetLocked()
}

// forgetLocked drops what is too old, and the oldest of what is too much.
func (m *MemoryOnce) forgetLocked() {
	for len(m.order) > 0 && (len(m.order) > m.maxEntries || time.Since(m.order[0].at) >= m.maxAge) {
		delete(m.handled, m.order[0].key)
		m.order[0] = record{} // append moves the slice only now and then: let go of the text at once
		m.order = m.order[1:]
	}
}
