// Package activity contains what the overview shows: counts of each minute, and pending work with the
// reasons for waiting.
package activity

import (
	"maps"
	"time"
)

// Minute contains the counts of one minute.
type Minute struct {
	Start    time.Time `json:"minute" doc:"the start of the minute"`
	Messages int64     `json:"messages" doc:"the number of sent messages"`
	Events   int64     `json:"events" doc:"the number of events"`
	Attempts int64     `json:"attempts" doc:"the number of attempts"`
	Failed   int64     `json:"failed" doc:"the number of failed attempts"`
}

// MaxMinutes is the maximum number of recent minutes whose counts are stored.
const MaxMinutes = 24 * 60

// PerMinute counts occurrences by minute. The zero value is ready to use, but a PerMinute
// is not safe for concurrent use.
type PerMinute struct {
	total int64
	by    map[int64]int64 // nonzero counts by minute
}

// Add adds an occurrence at the given time.
func (c *PerMinute) Add(at time.Time) {
	c.total++
	if c.by == nil {
		c.by = map[int64]int64{}
	}
	minute := MinuteOf(at)
	c.by[minute]++
	if len(c.by) > MaxMinutes { // later minutes exist if the clock was set back
		maps.DeleteFunc(c.by, func(m, _ int64) bool { return m > minute || m <= minute-MaxMinutes })
	}
}

// Total returns the total number of occurrences.
func (c *PerMinute) Total() int64 { return c.total }

// Each calls f for each minute that has a count, from the first minute to the
// last, inclusive. The order is unspecified.
func (c *PerMinute) Each(from, until int64, f func(minute, n int64)) {
	for minute, n := range c.by {
		if minute >= from && minute <= until {
			f(minute, n)
		}
	}
}

// MinuteOf returns the number of minutes from the start of 1970 to a time.
func MinuteOf(t time.Time) int64 { return t.Truncate(time.Minute).Unix() / 60 }

// StartOf returns the start of a minute.
func StartOf(minute int64) time.Time { return time.Unix(minute*60, 0).UTC() }
