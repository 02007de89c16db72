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

// Feed tells whoever listens what has changed. It may be told of a change with
// any other lock held: it takes none but its own. The zero value is ready.
type Feed struct {
	listeners atomic.Int32 // how many: nobody listening costs nothing

	mu     sync.Mutex
	seq    uint64
	to     map[chan []byte]bool
	closed bool
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
	if !f.Heard() {
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

// Close ends all listening, for good: a graceful stop waits for the requests
// under way, and those that listen never end by themselves.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for to := range f.to {
		f.leaveLocked(to)
	}
}

// Heard reports whether anybody listens.
func (f *Feed) Heard() bool { return f.listeners.Load() > 0 }
