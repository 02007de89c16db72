package gateway

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/record"
)

// What the log of requests holds: the latest ones.
const (
	maxRequests    = 10_000
	maxRequestBody = 64 << 10
	maxRequestLog  = 32 << 20 // bytes of what clients sent and of the answers
)

// Log holds the latest requests. The zero value is empty.
type Log struct {
	mu    sync.Mutex
	all   []record.Request
	gone  int // how many of the first ones are forgotten
	bytes int
}

func (l *Log) add(r record.Request) {
	if len(r.Body) > maxRequestBody {
		r.Body = slices.Clone(r.Body[:maxRequestBody])
	}
	// They share the memory of the whole request line, which is not counted.
	r.Method, r.Path, r.Query = strings.Clone(r.Method), strings.Clone(r.Path), strings.Clone(r.Query)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r)
	l.bytes += sizeOf(r)
	for len(l.latestLocked()) > maxRequests || l.bytes > maxRequestLog {
		l.bytes -= sizeOf(l.all[l.gone])
		l.all[l.gone] = record.Request{}
		l.gone++
	}
	if l.gone > maxRequests { // the others move seldom, and to no new memory
		l.all, l.gone = slices.Delete(l.all, 0, l.gone), 0
	}
}

func (l *Log) latestLocked() []record.Request { return l.all[l.gone:] }

// sizeOf is how many bytes of a request the client decides.
func sizeOf(r record.Request) int {
	size := len(r.Method) + len(r.Path) + len(r.Query) + len(r.Body) + len(r.Answer)
	for _, name := range slices.Concat(r.UnknownMembers, r.UnknownParameters) {
		size += len(name)
	}
	return size
}

// Clear forgets them.
func (l *Log) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all, l.gone, l.bytes = nil, 0, 0
}

// ClearAccount forgets those of an account.
func (l *Log) ClearAccount(account int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.latestLocked(), func(r record.Request) bool {
		if r.AccountID == account {
			l.bytes -= sizeOf(r)
		}
		return r.AccountID == account
	})
	l.gone = 0
}

// All returns copies of the requests, the oldest first.
func (l *Log) All() []record.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.latestLocked())
	for i := range out {
		out[i].Body = slices.Clone(out[i].Body)
		out[i].Answer = slices.Clone(out[i].Answer)
		out[i].UnknownMembers = slices.Clone(out[i].UnknownMembers)
		out[i].UnknownParameters = slices.Clone(out[i].UnknownParameters)
	}
	return out
}

// Newest iterates over the requests, the latest first. The log stands still
// meanwhile.
func (l *Log) Newest() iter.Seq[record.Request] {
	return func(yield func(record.Request) bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, r := range slices.Backward(l.latestLocked()) {
			if !yield(r) {
				return
			}
		}
	}
}

// Summary is a request without its body and answer, as JSON has it.
type Summary struct {
	record.Request
	Body       *struct{}           `json:"body,omitempty"`   // hides the request's
	Answer     *struct{}           `json:"answer,omitempty"` // hides the request's
	DurationMS record.Milliseconds `json:"duration_ms"`
}

// SummaryOf returns the summary of a request.
func SummaryOf(r record.Request) Summary {
	return Summary{Request: r, DurationMS: record.Milliseconds(r.Duration)}
}

// Record is everything about a request, as JSON has it.
type Record struct {
	record.Request
	DurationMS record.Milliseconds `json:"duration_ms"`
	Closest    *contract.Known     `json:"closest,omitzero"` // what was probably meant, if no operation takes it
}

// Record returns everything about a request, or nil if there is none with the id.
func (l *Log) Record(id string) *Record {
	var out *Record
	for r := range l.Newest() {
		if r.ID == id {
			out = &Record{Request: r, DurationMS: record.Milliseconds(r.Duration)}
			break
		}
	}
	if out != nil && out.Operation == "" { // which takes too long for the log to stand still
		out.Closest = contract.Load().Closest(out.Method, out.Path)
	}
	return out
}
