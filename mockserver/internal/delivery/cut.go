package delivery

import (
	"iter"
	"slices"
	"unicode/utf8"

	"example.com/emailplatform/mockserver/internal/cut"
	"example.com/emailplatform/mockserver/record"
)

// Cut is what an engine remembers at one moment, but for its webhooks, while it
// goes on. It can be read until Release.
type Cut struct {
	Events    []*record.FiredEvent // the latest ones
	LastEvent int

	engine     *Engine
	acts       uint64 // of the engine until then
	deliveries *cut.Cut[delivery]
	queues     map[*queue]line
}

// line is what waits in a queue.
type line struct {
	pending []*delivery
	behind  int // what was in front of it at an earlier cut, and is not there any more
	held    *delivery
}

// Take returns what there is now. An earlier cut, if there is one, is released in
// the same moment, so that each change is after one of them or after the other.
func (d *Engine) Take(earlier *Cut) *Cut {
	d.mu.Lock()
	defer d.mu.Unlock()
	if earlier != nil {
		earlier.deliveries.Release()
	}
	c := &Cut{
		Events:     slices.Clone(d.journal.events),
		LastEvent:  d.journal.lastEvent,
		engine:     d,
		acts:       d.acts,
		deliveries: d.changing.Take(d.journal.deliveries),
		queues:     map[*queue]line{},
	}
	for _, q := range d.order {
		if pending := q.inLine(); len(pending) > 0 || q.held != nil {
			c.queues[q] = line{pending: pending, held: q.held}
		}
	}
	return c
}

// Release ends a cut, for which nothing need be kept any more.
func (c *Cut) Release() {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.deliveries.Release()
}

// IsNow reports whether nobody has done anything since.
func (c *Cut) IsNow() bool {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	return c.acts == c.engine.acts
}

// All iterates over the deliveries, in the order in which the events fired. What
// it yields is good until the next one.
func (c *Cut) All() iter.Seq[*Saved] { return c.saved(c.deliveries.All(&c.engine.mu)) }

// Since iterates over the deliveries that were changed after an earlier cut, or
// made. The earlier one has been released, and is of the same engine: no state
// has taken the place of its own since.
func (c *Cut) Since(earlier *Cut) iter.Seq[*Saved] {
	var moved []*delivery
	for q, now := range c.queues {
		behind, follows := now.follows(earlier.queues[q])
		now.behind = behind
		c.queues[q] = now
		if !follows {
			moved = append(moved, now.pending...)
		}
	}
	return c.saved(c.deliveries.Since(earlier.deliveries, &c.engine.mu, moved...))
}

// NewEvents are those that fired after an earlier cut, but for those that were
// forgotten since.
func (c *Cut) NewEvents(earlier *Cut) []*record.FiredEvent {
	return c.Events[max(0, len(c.Events)-(c.LastEvent-earlier.LastEvent)):]
}

// follows reports whether a line is an earlier one with nothing but what was taken
// from its front and added at its end, so that those in the middle have kept
// their places.
func (now line) follows(earlier line) (behind int, ok bool) {
	if len(now.pending) > 0 {
		taken := slices.Index(earlier.pending, now.pending[0])
		if taken >= 0 {
			left := earlier.pending[taken:]
			if len(left) <= len(now.pending) && slices.Equal(left, now.pending[:len(left)]) {
				return earlier.behind + taken, true
			}
		}
	}
	return earlier.behind + len(earlier.pending), false
}

// saved says of each delivery what there is left to do for it.
func (c *Cut) saved(deliveries iter.Seq[*delivery]) iter.Seq[*Saved] {
	places, held := map[string]int{}, map[string]bool{}
	for _, l := range c.queues {
		for i, x := range l.pending {
			places[x.ID] = l.behind + i + 1
		}
		if l.held != nil {
			held[l.held.ID] = true
		}
	}
	var out Saved
	return func(yield func(*Saved) bool) {
		for x := range deliveries {
			out = Saved{
				Delivery: &x.Delivery,
				Attempts: onWire(x.Attempts),
				progress: x.progress,
				Place:    places[x.ID],
				Held:     held[x.ID],
			}
			if !utf8.Valid(x.Body) {
				out.Bytes = x.Body
			}
			if !yield(&out) {
				return
			}
		}
	}
}
