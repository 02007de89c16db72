// Package minutes counts what happens by the minute, so that a timeline of a
// million things is there without looking at any of them.
package minutes

import (
	"maps"
	"time"
)

// Kept is how many minutes before the latest one that was counted are kept.
const Kept = 24 * 60

// Counts are how often something happened in each minute. The zero value is
// ready. They are not for concurrent use.
type Counts struct {
	total int64
	by    map[int64]int64 // minutes since 1970; those in which nothing happened are not there
}

// Add counts something that happened at a time.
func (c *Counts) Add(at time.Time) {
	c.total++
	if c.by == nil {
		c.by = map[int64]int64{}
	}
	minute := Of(at)
	c.by[minute]++
	if len(c.by) > 2*Kept { // the clock may have been set back: what is later goes, too
		maps.DeleteFunc(c.by, func(m, _ int64) bool { return m > minute || m <= minute-Kept })
	}
}

// Total is how often it happened in all.
func (c *Counts) Total() int64 { return c.total }

// Each calls f with every minute from one until another, both included, in which
// something happened, in no order.
func (c *Counts) Each(from, until int64, f func(minute, n int64)) {
	if until-from > int64(len(c.by)) {
		for minute, n := range c.by {
			if minute >= from && minute <= until {
				f(minute, n)
			}
		}
		return
	}
	for minute := from; minute <= until; minute++ {
		if n := c.by[minute]; n > 0 {
			f(minute, n)
		}
	}
}

// Of is the minute of a time, since 1970.
func Of(t time.Time) int64 {
	seconds := t.Unix()
	minute := seconds / 60
	if seconds%60 < 0 {
		minute--
	}
	return minute
}

// Start is when a minute begins.
func Start(minute int64) time.Time { return time.Unix(minute*60, 0).UTC() }
