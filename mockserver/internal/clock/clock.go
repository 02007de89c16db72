// Package clock is the platform's time. It runs as package time's does, some
// distance ahead of it or behind, or it stands still. All times that it returns
// are in UTC, whatever the zone of the times that it is given. Whoever has something to do
// later sets an alarm: what rings, and when, is all that is going to happen by
// itself, so that time can be let pass from one alarm to the next.
package clock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/emailplatform/mockserver/internal/activity"
)

// The years that a clock may show: any two times within them are less than the
// longest [time.Duration] apart.
const (
	minYear = 1970
	maxYear = 2199
	pastEnd = 10 // how many years later than it may be set to a clock may run on to
)

// Clock tells the platform's time. It takes no lock but its own, and may be
// asked with any other held.
type Clock struct {
	options Options
	hands   chan struct{} // who lets time pass has it: one at a time

	mu     sync.Mutex
	ahead  time.Duration // of package time, while the clock runs
	stands time.Time     // the time at which it stands still; zero while it runs
	frozen bool
	held   *Hold
	alarms alarms
	moved  chan struct{} // closed with the next change
}

// Options say how a clock begins, and whom it tells.
type Options struct {
	Start  time.Time // the time at the beginning; package time's if zero
	Frozen bool      // stands still at the beginning

	Changes *activity.Feed
	Work    *activity.Work // counts what rings
}

// New returns a clock as the options say. A start that no clock may show is
// moved to the nearest time that it may.
func New(o Options) *Clock {
	switch year := o.Start.UTC().Year(); {
	case o.Start.IsZero():
	case year < minYear:
		o.Start = time.Date(minYear, 1, 1, 0, 0, 0, 0, time.UTC)
	case year > maxYear:
		o.Start = time.Date(maxYear, 1, 1, 0, 0, 0, 0, time.UTC) // and it runs on
	}
	c := &Clock{options: o, hands: make(chan struct{}, 1)}
	c.resetLocked() // nobody else knows it yet
	return c
}

// Unix returns the time that is so many seconds after the start of 1970, in UTC.
func Unix(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// plain returns a time in UTC and without a reading of the monotonic clock. Some
// times lack that reading, and comparing those with the others would fail.
func plain(t time.Time) time.Time { return t.Round(0).UTC() }

// Now returns the platform's time, by the calendar alone: the monotonic clock
// stands while a machine sleeps, and what is due by the one would not be by the
// other for as long.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowLocked()
}

func (c *Clock) nowLocked() time.Time {
	if !c.stands.IsZero() {
		return c.stands
	}
	return plain(time.Now()).Add(c.ahead)
}

// Set moves the clock to a time, also back. What has become due rings now, late;
// whatever it is in the middle of letting pass ends.
func (c *Clock) Set(to time.Time) error {
	if err := Check(to); err != nil {
		return err
	}
	c.change(func() {
		c.held = nil
		c.standLocked()
		c.moveLocked(to)
	})
	return nil
}

// ErrTime is what is wrong with a time that no clock may show.
var ErrTime = fmt.Errorf("want a time of the years %d to %d", minYear, maxYear)

// Check returns ErrTime for a time that no clock may show.
func Check(t time.Time) error {
	if year := t.UTC().Year(); year < minYear || year > maxYear {
		return ErrTime
	}
	return nil
}

// Dated reports whether the clock begins at a time of its own, not package time's.
func (c *Clock) Dated() bool { return !c.options.Start.IsZero() }

// Frozen reports whether the clock is to stand still.
func (c *Clock) Frozen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frozen
}

// Freeze makes the clock stand still, or run on from where it stands.
func (c *Clock) Freeze(frozen bool) {
	c.change(func() { c.frozen = frozen })
}

// Reset makes the clock as it was configured.
func (c *Clock) Reset() { c.change(c.resetLocked) }

func (c *Clock) resetLocked() {
	c.held, c.frozen = nil, c.options.Frozen
	c.ahead, c.stands = 0, time.Time{}
	c.standLocked()
	if !c.options.Start.IsZero() {
		c.moveLocked(c.options.Start)
	}
}

// change changes how the clock stands, and tells everybody.
func (c *Clock) change(how func()) {
	c.mu.Lock()
	how()
	c.settleLocked()
	c.mu.Unlock()
	c.options.Changes.Publish(activity.Clock, func() any { return c.View() })
}

// settleLocked sets the alarms by the clock as it is now.
func (c *Clock) settleLocked() {
	c.standLocked()
	c.rearmLocked()
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}

// standLocked lets the clock stand if something keeps it, or else run, from the
// time that it shows.
func (c *Clock) standLocked() {
	stand, now := c.frozen || c.held != nil, c.nowLocked()
	if stand == !c.stands.IsZero() {
		return
	}
	c.stands = time.Time{}
	if stand {
		c.stands = now
	} else {
		c.moveLocked(now)
	}
}

// moveLocked sets the time that the clock shows.
func (c *Clock) moveLocked(to time.Time) {
	to = plain(to)
	if c.stands.IsZero() {
		c.ahead = time.Until(to)
	} else {
		c.stands = to
	}
}

// Moved returns a channel that is closed when the clock is set, frozen or let
// run, but not when time passes by itself.
func (c *Clock) Moved() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.moved == nil {
		c.moved = make(chan struct{})
	}
	return c.moved
}

// Hold is the right to let time pass: the clock stands still but for its steps.
type Hold struct{ clock *Clock }

// Hold takes the clock in hand, when nobody else has it. It fails if ctx ends
// first.
func (c *Clock) Hold(ctx context.Context) (*Hold, error) {
	select {
	case c.hands <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	h := &Hold{c}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = h
	c.standLocked()
	return h, nil
}

// ErrSet is why time does not go on passing: somebody has set the clock.
var ErrSet = errors.New("the clock was set meanwhile")

// To lets the clock step on to a time; what is due then rings. It fails if the
// clock was set since it was taken in hand.
func (h *Hold) To(t time.Time) error {
	c := h.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != h {
		return ErrSet
	}
	if t.After(c.stands) {
		c.moveLocked(t)
		c.settleLocked()
	}
	return nil
}

// Release lets go of the clock. It runs on from there unless it is frozen.
func (h *Hold) Release() {
	h.clock.change(func() {
		if h.clock.held == h {
			h.clock.held = nil
		}
	})
	<-h.clock.hands
}

// State is what a snapshot holds of a clock: one that runs is as far ahead of
// package time after a restore as before, one that is frozen shows the same time.
type State struct {
	Ahead    Milliseconds `json:"ahead_ms"`
	FrozenAt time.Time    `json:"frozen_at,omitzero"`
}

// Showing is the state of a clock that runs, and shows a time now.
func Showing(t time.Time) State { return State{Ahead: Milliseconds(time.Until(t))} }

// State returns what there is to remember.
func (c *Clock) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.frozen:
		return State{FrozenAt: c.stands}
	case c.held != nil:
		return State{Ahead: Milliseconds(time.Until(c.stands))}
	}
	return State{Ahead: Milliseconds(c.ahead)}
}

// Check returns the mistake in a state, if there is one. A clock that was set to
// the last moment that it may show has run on since: that is no mistake.
func (s State) Check() error {
	if year := s.shows().UTC().Year(); year < minYear || year > maxYear+pastEnd {
		return fmt.Errorf("clock: %w", ErrTime)
	}
	return nil
}

// shows is the time that a clock in this state shows now.
func (s State) shows() time.Time {
	if !s.FrozenAt.IsZero() {
		return s.FrozenAt
	}
	return time.Now().Add(time.Duration(s.Ahead))
}

// Restore goes back to a state, which must be without a mistake; nil is that of
// the beginning.
func (c *Clock) Restore(s *State) {
	if s == nil {
		c.Reset()
		return
	}
	c.change(func() {
		c.held, c.frozen = nil, !s.FrozenAt.IsZero()
		c.standLocked()
		if c.frozen {
			c.moveLocked(s.FrozenAt)
		} else {
			c.ahead = time.Duration(s.Ahead)
		}
	})
}

// View is a clock as whoever looks at it sees it.
type View struct {
	Now     time.Time `json:"now" doc:"the time of the platform"`
	AheadMS int64     `json:"ahead_ms" doc:"how far it is ahead of real time"` // package time
	Frozen  bool      `json:"frozen" doc:"whether it stands still"`
	Next    *Due      `json:"next" doc:"what happens next by itself"` // nil is nothing
}

// Due is what happens next by itself.
type Due struct {
	At   time.Time `json:"at" doc:"when"`
	What string    `json:"what" doc:"what it is, such as a retry"`
}

// View returns the clock as it stands, and what happens next.
func (c *Clock) View() View {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.nowLocked()
	out := View{Now: now, AheadMS: time.Until(now).Round(time.Millisecond).Milliseconds(), Frozen: c.frozen}
	if len(c.alarms) > 0 {
		out.Next = &Due{At: c.alarms[0].at, What: c.alarms[0].what.String()}
	}
	return out
}
