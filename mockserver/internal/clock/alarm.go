package clock

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/activity"
)

// Alarm calls a function once when the clock reaches a time.
type Alarm struct {
	clock *Clock
	at    time.Time
	place uint64 // order of alarms with the same time
	what  fmt.Stringer
	ring  func()
	timer *time.Timer // nil while the clock is frozen
}

// At sets an alarm. When the clock reaches the time, the alarm calls ring() in a new
// goroutine. The alarm counts as work in progress until ring() returns. The parameter
// work describes the purpose of ring(). The clock calls work.String under a lock, so
// the method must read only constant data.
func (c *Clock) At(at time.Time, work fmt.Stringer, ring func()) *Alarm {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &Alarm{clock: c, at: plain(at), what: work, ring: ring}
	c.alarms.add(a)
	c.armLocked(a)
	return a
}

// Stop cancels an alarm that has not rung. The alarm may be nil.
func (a *Alarm) Stop() {
	if a == nil {
		return
	}
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	a.clock.alarms.remove(a)
	a.disarm()
}

func (a *Alarm) disarm() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
}

// RingDue rings the due alarms, even if their timers have not fired yet.
func (c *Clock) RingDue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.nowLocked()
	for len(c.alarms) > 0 && !c.alarms[0].at.After(now) {
		c.ringLocked(c.alarms[0])
	}
}

// Next returns the time of the earliest alarm. If ok is false, no alarm is set.
func (c *Clock) Next() (at time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.alarms) == 0 {
		return time.Time{}, false
	}
	return c.alarms[0].at, true
}

// rearmLocked sets the timers of all alarms, in order, after a change of the
// clock.
func (c *Clock) rearmLocked() {
	for _, a := range slices.Clone(c.alarms) { // ringing removes the alarm
		c.armLocked(a)
	}
}

func (c *Clock) armLocked(a *Alarm) {
	a.disarm()
	switch wait := a.at.Sub(c.nowLocked()); {
	case wait <= 0:
		c.ringLocked(a)
	case c.frozenAt.IsZero():
		a.timer = time.AfterFunc(wait, func() { c.fired(a) })
	}
}

// fired runs when the alarm's timer fires. Another call may have stopped the alarm or
// set the clock in the meantime.
func (c *Clock) fired(a *Alarm) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alarms.has(a) {
		c.armLocked(a)
	}
}

func (c *Clock) ringLocked(a *Alarm) {
	c.alarms.remove(a)
	a.disarm()
	c.options.Work.Start(activity.EveryAccount)
	go func() {
		defer c.options.Work.Done(activity.EveryAccount)
		a.ring()
	}()
}

// alarms contains the pending alarms, sorted by time.
type alarms []*Alarm

func (all *alarms) add(a *Alarm) {
	i, _ := slices.BinarySearchFunc(*all, a.at, func(other *Alarm, at time.Time) int {
		if other.at.After(at) {
			return 1
		}
		return -1
	})
	if i > 0 && (*all)[i-1].at.Equal(a.at) {
		a.place = (*all)[i-1].place + 1
	}
	*all = slices.Insert(*all, i, a)
}

// find returns the index of an alarm, and reports whether the alarm is set.
func (all alarms) find(a *Alarm) (int, bool) {
	i, ok := slices.BinarySearchFunc(all, a, func(other, a *Alarm) int {
		return cmp.Or(other.at.Compare(a.at), cmp.Compare(other.place, a.place))
	})
	return i, ok && all[i] == a
}

func (all alarms) has(a *Alarm) bool {
	_, ok := all.find(a)
	return ok
}

func (all *alarms) remove(a *Alarm) {
	if i, ok := all.find(a); ok {
		*all = slices.Delete(*all, i, i+1)
	}
}
