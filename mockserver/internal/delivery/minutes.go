package delivery

import (
	"maps"
	"time"
)

// KeptMinutes is the number of minutes that are kept before the latest one.
const KeptMinutes = 24 * 60

// PerMinute counts occurrences in each minute. The zero value is ready. It is
// not safe for concurrent use.
type PerMinute struct {
	total int64
	by    map[int64]int64 // counts by minute, without zeros
}

// Add counts an occurrence at a time.
func (c *PerMinute) Add(at time.Time) {
	c.total++
	if c.by == nil {
		c.by = map[int64]int64{}
	}
	minute := MinuteOf(at)
	c.by[minute]++
	if len(c.by) > 2*KeptMinutes { // minutes after this one exist if the clock was set back
		maps.DeleteFunc(c.by, func(m, _ int64) bool { return m > minute || m <= minute-KeptMinutes })
	}
}

// Total returns the total number of occurrences.
func (c *PerMinute) Total() int64 { return c.total }

// Each calls f for each minute that has a count, between the first and the last
// minute, inclusive. The order is unspecified.
func (c *PerMinute) Each(from, until int64, f func(minute, n int64)) {
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

// MinuteOf returns the minute of a time, counted from 1970.
func MinuteOf(t time.Time) int64 { return t.Truncate(time.Minute).Unix() / 60 }

// MinuteStart returns the time at which a minute begins.
func MinuteStart(minute int64) time.Time { return time.Unix(minute*60, 0).UTC() }
