package clock

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/activity"
)

// Alarm rings once, when its time has come.
type Alarm struct {
	clock *Clock
	at    time.Time
	place uint64 // order among alarms of the same time
	what  fmt.Stringer
	ring  func()
	timer *time.Timer // nil while the clock stands
}

// At sets an alarm: ring is called in a goroutine of its own when the clock shows
// the time or is past it, at once if it is already. That counts as work from the
// very moment at which the time has come. what says what happens then; it must
// read nothing that changes.
func (c *Clock) At(at time.Time, what fmt.Stringer, ring func()) *Alarm {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &Alarm{clock: c, at: plain(at), what: what, ring: ring}
	c.alarms.add(a)
	c.armLocked(a)
	return a
}

// Stop keeps an alarm from ringing if it has not begun to. A nil alarm has
// nothing to stop.
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

// RingDue rings what is due and whose timer may not have fired yet.
func (c *Clock) RingDue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.nowLocked()
	for len(c.alarms) > 0 && !c.alarms[0].at.After(now) {
		c.ringLocked(c.alarms[0])
	}
}

// Next returns when the earliest alarm rings; not ok means that none is set.
func (c *Clock) Next() (at time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.alarms) == 0 {
		return time.Time{}, false
	}
	return c.alarms[0].at, true
}

// rearmLocked sets all alarms again, in order, after a change of the clock.
func (c *Clock) rearmLocked() {
	for _, a := range slices.Clone(c.alarms) { // what rings leaves
		c.armLocked(a)
	}
}

func (c *Clock) armLocked(a *Alarm) {
	a.disarm()
	switch wait := a.at.Sub(c.nowLocked()); {
	case wait <= 0:
		c.ringLocked(a)
	case c.stands.IsZero():
		a.timer = time.AfterFunc(wait, func() { c.fired(a) })
	}
}

// fired is called by an alarm's timer, which may be late: the alarm was stopped
// or the clock moved, just when it fired.
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

// alarms are those that are set, the earliest first.
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

// find returns where an alarm is, if it is there.
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
