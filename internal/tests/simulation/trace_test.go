package simulation

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// trace is what happened in a run, in the order of virtual time. The same plan gives the same trace, byte for byte.
type trace struct {
	start time.Time

	mu    sync.Mutex
	lines []line
}

type line struct {
	at   time.Duration
	text string
}

// add notes what an actor does at this instant.
func (t *trace) add(actor, format string, args ...any) {
	text := fmt.Sprintf("%-10s ", actor) + fmt.Sprintf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line{time.Since(t.start), text})
}

// String returns the trace. Which goroutine comes first within an instant is the
// scheduler's to say, so that lines of one instant are put in alphabetical order.
func (t *trace) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	sorted := slices.Clone(t.lines)
	slices.SortStableFunc(sorted, func(a, b line) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return strings.Compare(a.text, b.text)
	})
	var b strings.Builder
	for _, l := range sorted {
		fmt.Fprintf(&b, "%17.9f %s\n", l.at.Seconds(), l.text)
	}
	return b.String()
}
