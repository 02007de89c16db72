// Package feed tells whoever listens what has changed. It stands on the ground:
// everybody may tell it something, with any lock held.
package feed

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
	Records  = "records" // lists, contacts, webhooks and the like
	State    = "state"   // everything
)

// Feed tells whoever listens what has changed, and whoever watches that
// something has. It may be told of a change with any other lock held: it takes
// none but its own. The zero value is ready.
type Feed struct {
	listeners atomic.Int32 // how many: nobody listening costs nothing
	watchers  atomic.Int32 // the same

	mu       sync.Mutex
	seq      uint64
	to       map[chan []byte]bool
	watching map[chan struct{}]bool
	closed   bool
}

// change is what a listener gets, as JSON.
type change struct {
	Seq    uint64 `json:"seq"`
	Kind   string `json:"kind"`
	Record any    `json:"record,omitzero"`
}

// MaxBehind is how many changes a listener may be behind. One that is slower is
// disconnected, and loads anew.
const MaxBehind = 1024

// Tell tells of a change. record, which may be nil, is what the change is about;
// it is called only if somebody listens.
func (f *Feed) Tell(kind string, record func() any) {
	if f.watchers.Load() > 0 {
		f.wake()
	}
	if f.listeners.Load() == 0 {
		return
	}
	out := change{Kind: kind}
	if record != nil {
		out.Record = record()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	out.Seq = f.seq
	line, err := json.Marshal(out)
	if err != nil { // records are made to be shown
		panic("mockserver: change " + kind + ": " + err.Error())
	}
	for to := range f.to {
		select {
		case to <- line:
		default:
			f.leaveLocked(to)
		}
	}
}

// Listen returns where changes come from now on, and the number of the last one
// before. It is closed when the listener is too slow or the feed ends.
func (f *Feed) Listen() (from chan []byte, seq uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from = make(chan []byte, MaxBehind)
	if f.closed {
		close(from)
		return from, f.seq
	}
	if f.to == nil {
		f.to = map[chan []byte]bool{}
	}
	f.to[from] = true
	f.listeners.Add(1)
	return from, f.seq
}

// Leave ends what Listen began.
func (f *Feed) Leave(from chan []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leaveLocked(from)
}

func (f *Feed) leaveLocked(from chan []byte) {
	if f.to[from] {
		delete(f.to, from)
		close(from)
		f.listeners.Add(-1)
	}
}

// Watch returns where a signal comes after changes from now on: one that has
// not been taken stands for all that follow, so that nobody is ever too slow. It
// is closed when the feed ends. stop ends the watching.
func (f *Feed) Watch() (changed <-chan struct{}, stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	signal := make(chan struct{}, 1)
	if f.closed {
		close(signal)
		return signal, func() {}
	}
	if f.watching == nil {
		f.watching = map[chan struct{}]bool{}
	}
	f.watching[signal] = true
	f.watchers.Add(1)
	return signal, func() { f.unwatch(signal) }
}

func (f *Feed) unwatch(signal chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watching[signal] {
		delete(f.watching, signal)
		f.watchers.Add(-1)
	}
}

// wake signals to those who watch.
func (f *Feed) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for signal := range f.watching {
		select {
		case signal <- struct{}{}:
		default: // the last one has not been taken yet
		}
	}
}

// Close ends all listening and watching, for good: a graceful stop waits for the
// requests under way, and those that listen never end by themselves.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for to := range f.to {
		f.leaveLocked(to)
	}
	for signal := range f.watching {
		close(signal)
	}
	f.watching = nil
	f.watchers.Store(0)
}

// Heard reports whether anybody listens or watches.
func (f *Feed) Heard() bool { return f.listeners.Load() > 0 || f.watchers.Load() > 0 }
