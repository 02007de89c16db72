// Package clock implements the virtual clock of the mock server, which is frozen or
// runs at an offset from time.Now. All times are in UTC. To schedule work, callers set
// an alarm of the clock. A caller that advances the clock can then move from one alarm
// to the next.
package clock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/work"
)

// The clock accepts times from the year minYear to the year maxYear, because the
// difference between any two of these times fits in a [time.Duration].
const (
	minYear = 1970
	maxYear = 2199
	pastEnd = 10 // number of years that a running clock can exceed maxYear
)

// Clock is a virtual clock. Callers may hold their own locks when they call it, because
// the clock never acquires them.
type Clock struct {
	options   Options
	advancing chan struct{} // held by the caller that advances the clock

	mu       sync.Mutex
	ahead    time.Duration // offset from time.Now while the clock runs
	frozenAt time.Time     // the time of a frozen clock; zero while it runs
	frozen   bool
	held     *Hold
	alarms   []*Alarm      // pending alarms, sorted by time
	timer    *time.Timer   // for the earliest alarm; stopped while the clock is frozen
	moved    chan struct{} // closed at the next change
}

// Options configures a clock.
type Options struct {
	Start  time.Time // the initial time; the default is time.Now
	Frozen bool      // initially frozen

	Changes *changes.Feed
	Work    *work.Pending // counts alarms whose functions are running
}

// New returns a clock. If the initial time is outside the valid range, New uses
// the nearest valid time.
func New(o Options) *Clock {
	switch year := o.Start.UTC().Year(); {
	case o.Start.IsZero():
	case year < minYear:
		o.Start = time.Date(minYear, 1, 1, 0, 0, 0, 0, time.UTC)
	case year > maxYear:
		o.Start = time.Date(maxYear, 1, 1, 0, 0, 0, 0, time.UTC) // not the last second, because the clock continues to run
	}
	c := &Clock{options: o, advancing: make(chan struct{}, 1)}
	c.restoreLocked(nil) // without the lock, because no other goroutine uses c yet
	return c
}

// Unix converts Unix seconds to a time in UTC.
func Unix(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// plain returns a time in UTC without a monotonic clock reading, so comparisons of
// times always use the wall clock.
func plain(t time.Time) time.Time { return t.Round(0).UTC() }

// Now returns the time without a monotonic clock reading, because the monotonic
// clock stops while the machine sleeps.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowLocked()
}

func (c *Clock) nowLocked() time.Time { return c.atLocked(plain(time.Now())) }

// atLocked returns the time of the clock at a time of the machine's clock.
func (c *Clock) atLocked(wall time.Time) time.Time {
	if !c.frozenAt.IsZero() {
		return c.frozenAt
	}
	return wall.Add(c.ahead)
}

// Set sets the clock to a time, which may be in the past. Alarms that become due fire
// immediately. An advance in progress fails with an error.
func (c *Clock) Set(to time.Time) error {
	if err := Check(to); err != nil {
		return err
	}
	c.change(func() {
		c.held = nil
		c.freezeLocked()
		c.moveLocked(to)
	})
	return nil
}

// ErrTime means that a time is outside the valid range.
var ErrTime = fmt.Errorf("year must be between %d and %d", minYear, maxYear)

// Check returns ErrTime if a time is outside the valid range.
func Check(t time.Time) error {
	if year := t.UTC().Year(); year < minYear || year > maxYear {
		return ErrTime
	}
	return nil
}

// Dated reports whether the clock has a configured initial time.
func (c *Clock) Dated() bool { return !c.options.Start.IsZero() }

// Freeze freezes or resumes the clock.
func (c *Clock) Freeze(frozen bool) {
	c.change(func() { c.frozen = frozen })
}

// change updates the state of the clock and notifies subscribers.
func (c *Clock) change(how func()) {
	c.mu.Lock()
	how()
	c.settleLocked()
	c.mu.Unlock()
	c.options.Changes.Publish(changes.Clock, func() any { return c.View() })
}

// settleLocked freezes or resumes the clock, fires the due alarms, and notifies callers
// of Moved. It must be called after every change to the clock.
func (c *Clock) settleLocked() {
	c.freezeLocked()
	c.ringLocked()
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}

// freezeLocked stops the clock if it is frozen explicitly or held, and otherwise
// resumes the clock from its current time.
func (c *Clock) freezeLocked() {
	stand, now := c.frozen || c.held != nil, c.nowLocked()
	if stand == !c.frozenAt.IsZero() {
		return
	}
	c.frozenAt = time.Time{}
	if stand {
		c.frozenAt = now
	} else {
		c.moveLocked(now)
	}
}

func (c *Clock) moveLocked(to time.Time) {
	to = plain(to)
	if c.frozenAt.IsZero() {
		c.ahead = time.Until(to)
	} else {
		c.frozenAt = to
	}
}

// Moved returns a channel that is closed when the clock is set, frozen or
// resumed.
func (c *Clock) Moved() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.moved == nil {
		c.moved = make(chan struct{})
	}
	return c.moved
}

// Hold is the right to advance the clock. While the clock is held, it is frozen between
// calls to [Hold.To].
type Hold struct{ clock *Clock }

// Hold waits for the right to advance the clock. It returns an error if ctx is
// canceled.
func (c *Clock) Hold(ctx context.Context) (*Hold, error) {
	select {
	case c.advancing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	h := &Hold{c}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = h
	c.freezeLocked()
	return h, nil
}

// errSet means that another call has set the clock.
var errSet = errors.New("another call has set the clock")

// To advances the clock to a time and fires the alarms that are due. It returns
// an error if another call has set the clock since Hold returned.
func (h *Hold) To(t time.Time) error {
	c := h.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != h {
		return errSet
	}
	if t.After(c.frozenAt) {
		c.moveLocked(t)
		c.settleLocked()
	}
	return nil
}

// Release ends the hold. The clock continues from its current time unless it is
// frozen.
func (h *Hold) Release() {
	h.clock.change(func() {
		if h.clock.held == h {
			h.clock.held = nil
		}
	})
	<-h.clock.advancing
}

// State is the part of a snapshot that describes the clock. If the clock was running,
// it has the same offset from time.Now after a restore; if it was frozen, it has the
// same time.
type State struct {
	Ahead    Milliseconds `json:"ahead_ms"`
	FrozenAt time.Time    `json:"frozen_at,omitzero"`
}

// Showing returns the state of a running clock whose current time is t.
func Showing(t time.Time) State { return State{Ahead: Milliseconds(time.Until(t))} }

// State returns the state of the clock.
func (c *Clock) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.frozen:
		return State{FrozenAt: c.frozenAt}
	case c.held != nil:
		return State{Ahead: Milliseconds(time.Until(c.frozenAt))}
	}
	return State{Ahead: Milliseconds(c.ahead)}
}

// Check returns an error if the time of a state is invalid. A running clock can exceed
// maxYear by up to pastEnd years.
func (s State) Check() error {
	shows := s.FrozenAt
	if shows.IsZero() {
		shows = time.Now().Add(time.Duration(s.Ahead))
	}
	if year := shows.UTC().Year(); year < minYear || year > maxYear+pastEnd {
		return fmt.Errorf("clock: %w", ErrTime)
	}
	return nil
}

// Restore restores a valid state, or the configured state if s is nil. It does not
// publish the change, because the caller publishes the change of the whole state.
func (c *Clock) Restore(s *State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restoreLocked(s)
	c.settleLocked()
}

func (c *Clock) restoreLocked(s *State) {
	if s == nil {
		s = &State{}
		switch start := c.options.Start; {
		case c.options.Frozen && start.IsZero():
			s.FrozenAt = time.Now()
		case c.options.Frozen:
			s.FrozenAt = start
		case !start.IsZero():
			*s = Showing(start)
		}
	}
	c.held, c.frozen = nil, !s.FrozenAt.IsZero()
	c.ahead, c.frozenAt = time.Duration(s.Ahead), plain(s.FrozenAt)
}

// View is the JSON form of a clock and its next scheduled work.
type View struct {
	Now     time.Time `json:"now" doc:"the time of the virtual clock"`
	AheadMS int64     `json:"ahead_ms" doc:"the offset of the virtual clock from real time"`
	Frozen  bool      `json:"frozen" doc:"whether the clock is frozen"`
	Next    *Due      `json:"next" doc:"the next scheduled work"`
}

// Due describes the next scheduled work.
type Due struct {
	At   time.Time `json:"at" doc:"the time when the work becomes due"`
	What string    `json:"what" doc:"a description of the work, such as a retry"`
}

// View returns the current state of the clock, and the next scheduled work.
func (c *Clock) View() View {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall := plain(time.Now())
	now := c.atLocked(wall)
	out := View{Now: now, AheadMS: now.Sub(wall).Round(time.Millisecond).Milliseconds(), Frozen: c.frozen}
	if len(c.alarms) > 0 {
		out.Next = &Due{At: c.alarms[0].at, What: c.alarms[0].what}
	}
	return out
}

// Milliseconds is a duration in JSON: a number of milliseconds, possibly with a
// fraction.
type Milliseconds time.Duration

// MarshalJSON implements [encoding/json.Marshaler].
func (m Milliseconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(m)/1e6, 'f', -1, 64), nil
}

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (m *Milliseconds) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.Abs(n) >= math.MaxInt64/1e6 {
		return fmt.Errorf("must be a number of milliseconds, got %s", b)
	}
	*m = Milliseconds(math.Round(n * 1e6))
	return nil
}

// Alarm calls a function once when the clock reaches a time.
type Alarm struct {
	clock *Clock
	at    time.Time
	what  string
	ring  func()
}

// At sets an alarm, which calls ring in a new goroutine when the clock reaches the
// time. The call counts as work in progress until it returns. The parameter what
// describes this work.
func (c *Clock) At(at time.Time, what string, ring func()) *Alarm {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &Alarm{clock: c, at: plain(at), what: what, ring: ring}
	i := sort.Search(len(c.alarms), func(i int) bool { return c.alarms[i].at.After(a.at) })
	c.alarms = slices.Insert(c.alarms, i, a)
	c.ringLocked()
	return a
}

// Stop cancels an alarm that has not fired. The alarm may be nil.
func (a *Alarm) Stop() {
	if a == nil {
		return
	}
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	if i := slices.Index(a.clock.alarms, a); i >= 0 {
		a.clock.alarms = slices.Delete(a.clock.alarms, i, i+1)
	}
}

// RingDue fires the due alarms, even if the timer has not expired yet.
func (c *Clock) RingDue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ringLocked()
}

// ringLocked fires the due alarms, in order, and sets the timer for the next alarm.
func (c *Clock) ringLocked() {
	now := c.nowLocked()
	for len(c.alarms) > 0 && !c.alarms[0].at.After(now) {
		ring := c.alarms[0].ring
		c.alarms = slices.Delete(c.alarms, 0, 1)
		c.options.Work.Start(work.EveryAccount)
		go func() {
			defer c.options.Work.Done(work.EveryAccount)
			ring()
		}()
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	if len(c.alarms) > 0 && c.frozenAt.IsZero() {
		c.timer = time.AfterFunc(c.alarms[0].at.Sub(now), c.RingDue)
	}
}
