package activity

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWaitReasons: the list contains each constant, and the console describes it.
func TestWaitReasons(t *testing.T) {
	source, err := os.ReadFile("waiting.go")
	require.NoError(t, err)
	console, err := os.ReadFile("../../console/src/overview.js")
	require.NoError(t, err)
	found := regexp.MustCompile(`WaitReason = "(\w+)"`).FindAllSubmatch(source, -1)
	require.NotEmpty(t, found)
	for _, m := range found {
		assert.Contains(t, WaitReasons(), WaitReason(m[1]), "WaitReasons in waiting.go")
		if !strings.Contains(string(console), "\n  "+string(m[1])+": [") {
			t.Errorf("%s is missing in reasons of console/src/overview.js", m[1])
		}
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// seen returns the counts of a range of minutes, relative to noon.
func seen(c *PerMinute, from, until int64) []string {
	var out []string
	first := MinuteOf(noon)
	c.Each(first+from, first+until, func(minute, n int64) { out = append(out, fmt.Sprintf("%d:%d", minute-first, n)) })
	slices.Sort(out)
	return out
}

// At most MaxMinutes minutes are kept. When another minute is added, all counts that are older than a day are
// deleted. If the clock was set back, all later counts are deleted too.
func TestPerMinuteLimits(t *testing.T) {
	var c PerMinute
	for _, row := range []struct {
		name               string
		from, step, added  int64
		first, last, count int64
	}{
		{"every second minute", 0, 2, MaxMinutes, 0, 2*MaxMinutes - 2, MaxMinutes},
		{"one minute more", 2 * MaxMinutes, 1, 1, MaxMinutes + 2, 2 * MaxMinutes, MaxMinutes / 2},
		{"backward", -1, -1, MaxMinutes/2 + 1, -MaxMinutes/2 - 1, -MaxMinutes/2 - 1, 1},
		{"ten days", 0, 1, 10 * MaxMinutes, 9 * MaxMinutes, 10*MaxMinutes - 1, MaxMinutes},
	} {
		before := c.Total()
		for i := range row.added {
			c.Add(StartOf(MinuteOf(noon) + row.from + i*row.step))
		}
		all := len(seen(&c, -MaxMinutes, 10*MaxMinutes))
		if within := len(seen(&c, row.first, row.last)); within != int(row.count) || all != within || c.Total() != before+row.added {
			t.Errorf("%s: %d minutes, %d of them from %d to %d, want %d; %d in total", row.name, all, within, row.first, row.last, row.count, c.Total())
		}
	}
}
