package mockserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The kinds of changes that the stream tells of.
const (
	changeMessage  = "message"
	changeDelivery = "delivery"
	changeEvent    = "event"
	changeRequest  = "request"
	changeFault    = "fault"
	changeRecords  = "records" // lists, contacts, webhooks and the like
	changeState    = "state"   // everything
)

// changes tells whoever listens to the stream what has changed. It may be told
// of a change with any other lock held: it takes none but its own.
type changes struct {
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

// maxBehind is how many changes a listener may be behind. One that is slower is
// disconnected, and loads anew.
const maxBehind = 1024

// tell tells of a change. record is called only if somebody listens; nil is none.
func (c *changes) tell(kind string, record func() any) {
	if c.listeners.Load() == 0 {
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

// listen returns where changes come from now on. It is closed when the listener
// is too slow or the server ends.
func (c *changes) listen() (from chan []byte, seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from = make(chan []byte, maxBehind)
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

func (c *changes) leave(from chan []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaveLocked(from)
}

func (c *changes) leaveLocked(from chan []byte) {
	if c.to[from] {
		delete(c.to, from)
		close(from)
		c.listeners.Add(-1)
	}
}

// close ends all streams: a graceful stop waits for requests under way, and
// these never end by themselves.
func (c *changes) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for to := range c.to {
		c.leaveLocked(to)
	}
}

// heartbeat keeps proxies from closing a quiet stream.
const heartbeat = 15 * time.Second

// serveStream sends changes as server-sent events.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) {
	from, seq := s.platform.changes.listen()
	defer s.platform.changes.leave(from)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_, _ = fmt.Fprintf(w, "retry: 1000\nevent: hello\ndata: {\"seq\":%d}\n\n", seq)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for out.Flush() == nil {
		var err error
		select {
		case line, more := <-from:
			if !more {
				return
			}
			_, err = fmt.Fprintf(w, "event: change\ndata: %s\n\n", line)
		case <-beat.C:
			_, err = io.WriteString(w, ": still here\n\n")
		case <-r.Context().Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// FiredEvent is an event that happened in an account.
type FiredEvent struct {
	ID        string    `json:"id"` // in this journal
	Time      time.Time `json:"time"`
	Event     string    `json:"event"`
	EventID   string    `json:"event_id,omitzero"` // of the event itself; the general envelope has none
	AccountID int64     `json:"account_id"`
	MessageID string    `json:"message_id,omitzero"` // the message that it is about, if it is about one
	Body      Text      `json:"body"`                // as it is delivered
	// Deliveries are the ids of its deliveries, one for each webhook that
	// subscribed to it.
	Deliveries []string `json:"deliveries"`
}

// maxEvents is how many events the journal holds: the latest ones.
const maxEvents = 10_000

// journalLocked notes an event.
func (d *deliverer) journalLocked(e *event, deliveries []string) {
	d.lastEvent++
	fired := &FiredEvent{
		ID:         fmt.Sprintf("evt-%d", d.lastEvent),
		Time:       e.what.Time,
		Event:      e.name,
		EventID:    e.id,
		AccountID:  e.account,
		MessageID:  e.message,
		Body:       e.body,
		Deliveries: deliveries,
	}
	d.events = append(d.events, fired)
	if len(d.events) > maxEvents {
		d.events[0] = nil
		d.events = d.events[1:]
	}
	d.changes.tell(changeEvent, func() any { return eventSummary{FiredEvent: *fired} })
}

// Events returns the events that fired, the oldest first: the latest 10,000.
// Those that no webhook hears are among them only with [Config.RecordEvents].
func (s *Server) Events() []FiredEvent {
	return s.eventsWhere(func(*FiredEvent) bool { return true })
}

func (s *Server) eventsWhere(keep func(*FiredEvent) bool) []FiredEvent {
	d := s.platform.deliver
	d.mu.Lock()
	defer d.mu.Unlock()
	out := []FiredEvent{}
	for _, e := range d.events {
		if keep(e) {
			copied := *e
			copied.Body = slices.Clone(e.Body)
			copied.Deliveries = append([]string{}, e.Deliveries...)
			out = append(out, copied)
		}
	}
	return out
}
