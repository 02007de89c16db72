// Package feed tells whoever listens what has changed.
package feed

import (
	"encoding/json"
	"sync"
	"sync/atomic"
)

// The kinds of changes that the stream tells of.
const (
	Message  = "message"
	Delivery = "delivery"
	Event    = "event"
	Request  = "request"
	Fault    = "fault"
	Records  = "records" // lists, contacts, webhooks and the like
	State    = "state"   // everything
)

// Feed tells whoever listens to the stream what has changed. It may be told
// of a change with any other lock held: it takes none but its own.
type Feed struct {
	listeners atomic.Int32 // how many: nobody listening costs nothing

	mu     sync.Mutex
	seq    uint64
	to     map[chan []byte]bool
	closed bool
}

// change is one line of the stream.
type change struct {
	Seq    uint64 `json:"seq"`
	Kind   string `json:"kind"`
	Record any    `json:"record,omitzero"`
}

// MaxBehind is how many changes a listener may be behind. One that is slower is
// disconnected, and loads anew.
const MaxBehind = 1024

// Tell tells of a change. record is called only if somebody listens; nil is none.
func (c *Feed) Tell(kind string, record func() any) {
	if !c.Heard() {
		return
	}
	out := change{Kind: kind}
	if record != nil {
		out.Record = record()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	out.Seq = c.seq
	line, err := json.Marshal(out)
	if err != nil { // records are made to be shown
		panic("mockserver: change " + kind + ": " + err.Error())
	}
	for to := range c.to {
		select {
		case to <- line:
		default:
			c.leaveLocked(to)
		}
	}
}

// Listen returns where changes come from now on. It is closed when the listener
// is too slow or the server ends.
func (c *Feed) Listen() (from chan []byte, seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from = make(chan []byte, MaxBehind)
	if c.closed {
		close(from)
		return from, c.seq
	}
	if c.to == nil {
		c.to = map[chan []byte]bool{}
	}
	c.to[from] = true
	c.listeners.Add(1)
	return from, c.seq
}

// Leave ends what Listen began.
func (c *Feed) Leave(from chan []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaveLocked(from)
}

func (c *Feed) leaveLocked(from chan []byte) {
	if c.to[from] {
		delete(c.to, from)
		close(from)
		c.listeners.Add(-1)
	}
}

// Close ends all streams: a graceful stop waits for requests under way, and
// these never end by themselves.
func (c *Feed) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for to := range c.to {
		c.leaveLocked(to)
	}
}

// Heard reports whether anybody listens.
func (c *Feed) Heard() bool { return c.listeners.Load() > 0 }
