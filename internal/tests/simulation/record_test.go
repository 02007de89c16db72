package simulation

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"example.com/emailplatform/mockserver"
)

// record is what was seen on the way, for the invariants.
type record struct {
	mu      sync.Mutex
	stats   Stats
	left    map[uint64]int // requests that have left a process
	arrived map[uint64]int // requests that have arrived whole
	lookups []*visit
	heard   map[string]bool                                // the ids of answers that came whole
	finally []func(outbox map[string][]mockserver.Message) // what is to hold in the end, by subject
}

// visit is a request that has arrived at the platform.
type visit struct {
	request uint64
	n       int    // of those that are equal
	from    string // the link and the life of its process
	at      time.Time
	done    time.Time
	id      string
	status  int
}

func newRecord() *record {
	return &record{left: map[uint64]int{}, arrived: map[uint64]int{}, heard: map[string]bool{}}
}

// leaves counts a request that leaves a process.
func (r *record) leaves(request uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left[request]++
}

// arrives notes a request that has arrived whole, and returns whether the client
// sent it so often. net/http may send a GET again by itself, which does no harm.
func (r *record) arrives(l *link, req *http.Request, body []byte) (v *visit, known bool) {
	id := fingerprint(req, body)
	from := numbered(l.name, l.from.life().n)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Requests++
	r.arrived[id]++
	v = &visit{request: id, n: r.arrived[id], from: from, at: time.Now(), id: fmt.Sprintf("%x.%d", id, r.arrived[id])}
	return v, req.Method == http.MethodGet || v.n <= r.left[id]
}

// answers notes what a request was answered, if that is asked in the end.
func (r *record) answers(v *visit, req *http.Request, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v.done, v.status = time.Now(), status
	if isLookup(req) {
		r.lookups = append(r.lookups, v)
	}
}

// hears notes an answer that came whole.
func (r *record) hears(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard[id] = true
}

// count changes the counts of the run.
func (r *record) count(f func(*Stats)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.stats)
}

// inTheEnd has a check made when all is over.
func (r *record) inTheEnd(check func(outbox map[string][]mockserver.Message)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finally = append(r.finally, check)
}
