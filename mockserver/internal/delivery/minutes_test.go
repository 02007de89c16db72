package delivery

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// seen are the counts of some minutes, counted from noon, in order.
func seen(c *PerMinute, from, until int64) []string {
	var out []string
	first := MinuteOf(noon)
	c.Each(first+from, first+until, func(minute, n int64) { out = append(out, fmt.Sprintf("%d:%d", minute-first, n)) })
	slices.Sort(out)
	return out
}

func TestCounts(t *testing.T) {
	var c PerMinute
	if got := seen(&c, 0, 100); got != nil || c.Total() != 0 {
		t.Errorf("nothing happened: got %v, %d in all", got, c.Total())
	}
	for _, after := range []time.Duration{0, 59 * time.Second, time.Minute, 5 * time.Minute} {
		c.Add(noon.Add(after))
	}
	for _, tt := range []struct {
		name        string
		from, until int64
		want        []string
	}{
		{"all", 0, 5, []string{"0:2", "1:1", "5:1"}},
		{"a long time", -1000, 1000, []string{"0:2", "1:1", "5:1"}},
		{"both ends count", 1, 5, []string{"1:1", "5:1"}},
		{"between", 2, 4, nil},
		{"one", 1, 1, []string{"1:1"}},
	} {
		if got := seen(&c, tt.from, tt.until); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	if c.Total() != 4 {
		t.Errorf("%d in all, want 4", c.Total())
	}
}

// However many minutes something happens in, a day of them is kept, and no more
// than two; a clock that is set back takes along what was to come.
func TestKept(t *testing.T) {
	var c PerMinute
	const many = 10 * KeptMinutes
	for i := range many {
		c.Add(noon.Add(time.Duration(i) * time.Minute))
	}
	if got := len(seen(&c, many-KeptMinutes, many)); got != KeptMinutes || len(c.by) > 2*KeptMinutes || c.Total() != many {
		t.Errorf("%d of the last day are there, %d are kept, %d in all", got, len(c.by), c.Total())
	}
	for i := range 2 * KeptMinutes {
		c.Add(noon.Add(-time.Duration(i) * time.Minute))
	}
	if got := seen(&c, 1, many); len(got) > 0 && len(c.by) > 2*KeptMinutes {
		t.Errorf("%d are kept, with %v", len(c.by), got)
	}
	if got := seen(&c, -2*KeptMinutes+1, -2*KeptMinutes+1); len(got) != 1 {
		t.Error("the minute that the clock was set back to is not there")
	}
}

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		at   time.Time
		want int64
	}{
		{time.Unix(0, 0), 0}, {time.Unix(59, 999), 0}, {time.Unix(60, 0), 1}, {time.Unix(-1, 0), -1}, {time.Unix(-60, 0), -1},
	} {
		if got := MinuteOf(tt.at); got != tt.want || tt.at.Before(MinuteStart(got)) || !tt.at.Before(MinuteStart(got+1)) {
			t.Errorf("%v is in minute %d, want %d", tt.at, got, tt.want)
		}
	}
}
