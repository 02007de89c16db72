// Package changes publishes the changes in the mock server. Callers may hold any lock,
// because the package acquires only its own lock.
package changes

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

// MaxLag is the maximum number of unread changes per subscriber. If a subscriber
// exceeds it, the feed disconnects the subscriber, which must then reload the state.
const MaxLag = 1024

// Feed sends changes to subscribers, and wakes callers that wait for a change. The zero
// value is ready to use. A Feed is safe for concurrent use.
type Feed struct {
	subscribed atomic.Int32  // number of subscribers
	awaited    atomic.Bool   // a caller waits
	revision   atomic.Uint64 // see Revision

	mu          sync.Mutex
	seq         uint64
	subscribers map[chan []byte]bool
	changed     chan struct{} // closed at the next change; nil if no caller waits
	closed      bool
}

// change is the JSON object that subscribers receive.
type change struct {
	Seq    uint64 `json:"seq"`
	Kind   string `json:"kind"`
	New    bool   `json:"new,omitzero"`
	Record any    `json:"record,omitzero"`
}

// Observed reports whether there are subscribers or waiting callers.
func (f *Feed) Observed() bool { return f.subscribed.Load() > 0 || f.awaited.Load() }

// Revision returns a number that grows after each change to the state, which does not
// contain requests and fault rules.
func (f *Feed) Revision() uint64 { return f.revision.Load() }

// Revise increases the revision without publishing a change.
func (f *Feed) Revise() { f.revision.Add(1) }

// Publish publishes a change that has been made. The function record, if not nil,
// returns the changed record. Publish calls it only if there are subscribers.
func (f *Feed) Publish(kind string, record func() any) { f.publish(change{Kind: kind}, record) }

// PublishNew is like Publish, but the record must be new and the newest in its list.
func (f *Feed) PublishNew(kind string, record func() any) {
	f.publish(change{Kind: kind, New: true}, record)
}

func (f *Feed) publish(out change, record func() any) {
	if out.Kind != Request && out.Kind != Fault {
		f.Revise()
	}
	if !f.Observed() {
		return
	}
	if record != nil && f.subscribed.Load() > 0 {
		out.Record = record()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signalLocked()
	if len(f.subscribers) == 0 {
		return
	}
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
	}
}

// Changed returns a channel that is closed at the next change. If open is false, the
// feed is closed and there are no further changes.
func (f *Feed) Changed() (changed <-chan struct{}, open bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed == nil && !f.closed {
		f.changed = make(chan struct{})
		f.awaited.Store(true)
	}
	return f.changed, !f.closed
}

func (f *Feed) signalLocked() {
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
		f.awaited.Store(false)
	}
}

// Close ends all subscriptions and wakes all waiting callers. Without Close, a graceful
// shutdown would wait for the requests of these subscribers and callers. Later
// subscriptions end immediately.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for to := range f.subscribers {
		f.unsubscribeLocked(to)
	}
	f.signalLocked()
}
