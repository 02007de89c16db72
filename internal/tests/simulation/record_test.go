package simulation

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/mockserver"
)

// record is what was seen on the way, for the invariants.
type record struct {
	mu      sync.Mutex
	left    map[uint64]int                                 // requests that have left a process
	arrived map[uint64]int                                 // requests that have arrived whole
	finally []func(outbox map[string][]mockserver.Message) // what is to hold in the end, by subject
}

// visit is a request that has arrived at the platform.
type visit struct {
	request uint64
	n       int // of those that are equal
}

func newRecord() *record { return &record{left: map[uint64]int{}, arrived: map[uint64]int{}} }

// leaves counts a request that leaves a process.
func (r *record) leaves(request uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left[request]++
}

// arrives notes a request that has arrived whole, and returns whether the client
// sent it so often. net/http may send a GET again by itself, which does no harm.
func (r *record) arrives(req *http.Request, body []byte) (v visit, known bool) {
	id := fingerprint(req, body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrived[id]++
	v = visit{request: id, n: r.arrived[id]}
	return v, req.Method == http.MethodGet || v.n <= r.left[id]
}

// inTheEnd has a check made when all is over.
func (r *record) inTheEnd(check func(outbox map[string][]mockserver.Message)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finally = append(r.finally, check)
}

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
