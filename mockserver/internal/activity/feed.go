// Package activity publishes changes in the mock server, and counts the work in
// progress. The package acquires only its own locks, so callers may hold any
// other lock.
package activity

import (
	"encoding/json"
	"sync"
	"sync/atomic"
)

// The kinds of changes.
const (
	Message  = "message"
	Delivery = "delivery"
	Event    = "event"
	Request  = "request"
	Fault    = "fault"
	Clock    = "clock"
	Records  = "records" // lists, contacts, webhooks and other resources
	State    = "state"   // the whole state
)

// MaxLag is the maximum number of unread changes per subscriber. The feed
// disconnects a subscriber that exceeds MaxLag. The subscriber must then reload
// the state.
const MaxLag = 1024

// Feed sends changes to subscribers, and signals to watchers. The zero value is ready
// to use. A Feed is safe for concurrent use.
type Feed struct {
	observed   atomic.Int32 // number of subscribers and watchers
	subscribed atomic.Int32 // number of subscribers

	mu          sync.Mutex
	seq         uint64
	subscribers map[chan []byte]bool
	watchers    map[chan struct{}]bool
	closed      bool
}

// change is the JSON object that subscribers receive.
type change struct {
	Seq    uint64 `json:"seq"`
	Kind   string `json:"kind"`
	Record any    `json:"record,omitzero"`
}

// Observed reports whether there are subscribers or watchers.
func (f *Feed) Observed() bool { return f.observed.Load() > 0 }

// Publish publishes a change. If record is not nil, record() returns the changed
// record. Publish calls record() only if there are subscribers.
func (f *Feed) Publish(kind string, record func() any) {
	if !f.Observed() {
		return
	}
	out := change{Kind: kind}
	if record != nil && f.subscribed.Load() > 0 {
		out.Record = record()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for signal := range f.watchers {
		select {
		case signal <- struct{}{}:
		default: // the watcher has not received the last signal yet
		}
	}
	if len(f.subscribers) > 0 {
		f.sendLocked(out)
	}
}

func (f *Feed) sendLocked(out change) {
	f.seq++
	out.Seq = f.seq
	line, err := json.Marshal(out)
	if err != nil { // encoding a record never fails
		panic("mockserver: change " + out.Kind + ": " + err.Error())
	}
	for to := range f.subscribers {
		select {
		case to <- line:
		default:
			f.unsubscribeLocked(to)
		}
	}
}

// Subscribe returns a channel for later changes, and the sequence number of the
// last change before the call. The feed closes the channel if the subscriber is
// too slow or the feed is closed.
func (f *Feed) Subscribe() (changes chan []byte, seq uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	changes = make(chan []byte, MaxLag)
	if f.closed {
		close(changes)
		return changes, f.seq
	}
	if f.subscribers == nil {
		f.subscribers = map[chan []byte]bool{}
	}
	f.subscribers[changes] = true
	f.subscribed.Add(1)
	f.observed.Add(1)
	return changes, f.seq
}

// Unsubscribe ends a subscription. Repeated calls have no effect.
func (f *Feed) Unsubscribe(changes chan []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unsubscribeLocked(changes)
}

func (f *Feed) unsubscribeLocked(changes chan []byte) {
	if f.subscribers[changes] {
		delete(f.subscribers, changes)
		close(changes)
		f.subscribed.Add(-1)
		f.observed.Add(-1)
	}
}

// Watch returns a channel that receives a signal after later changes. One signal can
// represent several changes, so the feed does not disconnect slow watchers. The channel
// is closed when the feed is closed. Call stop to end the watch.
func (f *Feed) Watch() (changed <-chan struct{}, stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	signal := make(chan struct{}, 1)
	if f.closed {
		close(signal)
		return signal, func() {}
	}
	if f.watchers == nil {
		f.watchers = map[chan struct{}]bool{}
	}
	f.watchers[signal] = true
	f.observed.Add(1)
	return signal, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.watchers[signal] {
			delete(f.watchers, signal)
			f.observed.Add(-1)
		}
	}
}

// Close ends all subscriptions and watches. Without Close, a graceful shutdown
// would wait for the requests of subscribers and watchers. Later subscriptions
// end immediately.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for to := range f.subscribers {
		close(to)
	}
	for signal := range f.watchers {
		close(signal)
	}
	f.subscribers, f.watchers = nil, nil
	f.observed.Store(0)
	f.subscribed.Store(0)
}
