package gateway

import (
	"slices"
	"strings"
	"sync"

	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/model"
)

// Limits of the request log, which deletes its oldest requests when it exceeds
// maxRequests or maxRequestLog.
const (
	maxRequests   = 10_000
	MaxLoggedBody = 64 << 10 // bytes of a body
	maxRequestLog = 32 << 20 // total bytes of requests and responses
)

// Log contains the latest requests. The zero value is empty.
type Log struct {
	mu    sync.Mutex
	all   []*model.Request // oldest first; they are immutable
	bytes int
}

func (l *Log) add(r model.Request) {
	if len(r.Body) > MaxLoggedBody {
		r.Body = slices.Clone(r.Body[:MaxLoggedBody])
	}
	// The strings are copied, because substrings would keep the whole request
	// line in memory.
	r.Method, r.Path, r.Query = strings.Clone(r.Method), strings.Clone(r.Path), strings.Clone(r.Query)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, &r)
	l.bytes += sizeOf(&r)
	for len(l.all) > maxRequests || l.bytes > maxRequestLog {
		l.bytes -= sizeOf(l.all[0])
		l.all[0] = nil
		l.all = l.all[1:]
	}
}

// sizeOf returns the size in bytes of the parts that the client chooses.
func sizeOf(r *model.Request) int {
	size := len(r.Method) + len(r.Path) + len(r.Query) + len(r.Body) + len(r.Response)
	for _, name := range slices.Concat(r.UnknownFields, r.UnknownParameters) {
		size += len(name)
	}
	return size
}

// Clear removes the requests of an account. Account 0 means all accounts.
func (l *Log) Clear(account int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.all, func(r *model.Request) bool {
		gone := account == 0 || r.AccountID == account
		if gone {
			l.bytes -= sizeOf(r)
		}
		return gone
	})
}

// All returns copies of the requests, oldest first.
func (l *Log) All() []model.Request {
	all := l.snapshot()
	out := make([]model.Request, len(all))
	for i, r := range all {
		out[i] = *r
		out[i].Body = slices.Clone(out[i].Body)
		out[i].Response = slices.Clone(out[i].Response)
		out[i].UnknownFields = slices.Clone(out[i].UnknownFields)
		out[i].UnknownParameters = slices.Clone(out[i].UnknownParameters)
	}
	return out
}

func (l *Log) snapshot() []*model.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// Newest returns the requests, newest first. Callers must not change the
// requests.
func (l *Log) Newest() []*model.Request {
	all := l.snapshot()
	slices.Reverse(all)
	return all
}

// RequestSummary is the JSON form of a request, without its body and response.
type RequestSummary struct {
	model.Request
	Body       *struct{}          `json:"body,omitempty"`     // hides Request.Body
	Response   *struct{}          `json:"response,omitempty"` // hides Request.Response
	DurationMS clock.Milliseconds `json:"duration_ms" doc:"the duration of the request"`
}

// SummaryOf returns the summary of a request.
func SummaryOf(r model.Request) RequestSummary {
	return RequestSummary{Request: r, DurationMS: clock.Milliseconds(r.Duration)}
}

// RequestDetails is the JSON form of a request, with all details.
type RequestDetails struct {
	model.Request
	DurationMS clock.Milliseconds     `json:"duration_ms" doc:"the duration of the request"`
	Closest    *contract.OperationRef `json:"closest,omitzero" doc:"the most similar operation, if no operation matches the request"`
}

// Details returns the whole request with the given id, or nil if there is none.
func (l *Log) Details(id string) *RequestDetails {
	for _, r := range l.snapshot() {
		if r.ID != id {
			continue
		}
		out := &RequestDetails{Request: *r, DurationMS: clock.Milliseconds(r.Duration)}
		if out.Operation == "" {
			out.Closest = contract.Closest(out.Method, out.Path)
		}
		return out
	}
	return nil
}
