// The tests in this file call every operation with every fault.

package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"

	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
)

type fault struct {
	name string
	rule mockserver.Fault

	dial        bool // the connection fails
	unprocessed bool // the client must know that the platform did not process the request
	promised    bool // the client has the option Unprocessed503WithRetryAfter
	hidden      bool // no effect on a response without a body
}

func faults() []fault {
	all := []fault{
		{name: "connection refused", dial: true, unprocessed: true},
		{name: "reset before processing", rule: mockserver.Fault{Action: mockserver.FaultReset}},
		{name: "reset after processing", rule: mockserver.Fault{Action: mockserver.FaultReset, AfterProcessing: true}},
		{name: "truncated", rule: mockserver.Fault{Action: mockserver.FaultTruncate}},
		{name: "too large", rule: mockserver.Fault{Action: mockserver.FaultOversize, Size: 20 << 10}, hidden: true},
		{name: "HTML", rule: mockserver.Fault{Action: mockserver.FaultNotJSON}},
		{name: "HTML after processing", rule: mockserver.Fault{Action: mockserver.FaultNotJSON, AfterProcessing: true}},
		{name: "redirect", rule: mockserver.Fault{Action: mockserver.FaultRedirect, Status: 302}},
	}
	for _, code := range []int{408, 429, 500, 502, 503, 504} {
		for _, rule := range []mockserver.Fault{{}, {RetryAfter: "1"}, {AfterProcessing: true}, {RetryAfter: "1", AfterProcessing: true}} {
			rule.Action, rule.Status = mockserver.FaultStatus, code
			f := fault{name: fmt.Sprintf("%d, Retry-After %q, processed %v", code, rule.RetryAfter, rule.AfterProcessing), rule: rule}
			f.unprocessed = code == http.StatusTooManyRequests
			if f.unprocessed && rule.AfterProcessing {
				continue // contradicts section 7 of docs/decisions.md
			}
			all = append(all, f)
			if code == http.StatusServiceUnavailable && rule.RetryAfter != "" && !rule.AfterProcessing {
				f.name, f.unprocessed, f.promised = "503 as promised", true, true
				all = append(all, f)
			}
		}
	}
	return all
}

// dialer simulates a failed connection if the function fail returns true.
type dialer struct {
	http.RoundTripper
	mu   sync.Mutex
	fail func() bool
	sent int // number of requests, including failed connections
}

func (d *dialer) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	d.sent++
	failed := d.fail()
	d.mu.Unlock()
	if failed {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	return d.RoundTripper.RoundTrip(r)
}

// unsafe reports whether the operation creates or sends something.
func unsafe(op operation) bool { return op.count != nil && op.id != "addSuppressedEmail" }

// TestFaultMatrix: each operation runs with each fault. The fault applies to the first two or three requests of the
// operation. By default, MaxAttempts is 3.
func TestFaultMatrix(t *testing.T) {
	t.Parallel()
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			for _, times := range []int{2, 3} {
				withPlatform(t, func(t *testing.T, p *platform) {
					rec := p.createRecords()
					for _, op := range allOperations() {
						callUnderFault(t, p, rec, op, f, times)
					}
				})
			}
		})
	}
}

// callUnderFault calls op while f applies to its next requests.
func callUnderFault(t *testing.T, p *platform, rec *records, op operation, f fault, times int) {
	t.Helper()
	if op.id == "renderTemplate" && f.rule.Action == mockserver.FaultNotJSON {
		return // the operation expects HTML
	}
	d := &dialer{RoundTripper: p.Transport(), fail: func() bool { return false }}
	if f.dial {
		left := times
		d.fail = func() bool { left--; return left >= 0 }
	} else {
		rule := f.rule
		rule.Operation, rule.Times = op.id, times
		check.Need(p.Inject(rule))(t)
		defer p.ClearFaults()
	}
	c := p.client(d, func(cfg *Config) {
		cfg.MaxResponseBytes, cfg.Retry.Unprocessed503WithRetryAfter = 16<<10, f.promised
	})
	done, err := effect(p, c, rec, op)
	name := fmt.Sprintf("%s, %d times %s", op.id, times, f.name)
	checkEffect(t, name, op, err, done)

	waits := f.rule.Status == http.StatusTooManyRequests && f.rule.RetryAfter != "" // does not count toward MaxAttempts
	fails := times >= 3 && !waits || unsafe(op) && !f.unprocessed
	switch {
	case mayPass(op, f, err):
	case fails && err == nil:
		t.Errorf("%s: no error", name)
	case !fails && err != nil:
		t.Errorf("%s: %v", name, err)
	case fails && unsafe(op) && errors.Is(err, ErrOutcomeUnknown) == f.unprocessed:
		t.Errorf("%s: %v, want the outcome to be known: %v", name, err, f.unprocessed)
	}
	if unsafe(op) && !f.unprocessed && d.sent != 1 {
		t.Errorf("%s: sent %d times", name, d.sent)
	}
}

// mayPass reports whether err is an allowed exception for op under f.
func mayPass(op operation, f fault, err error) bool {
	switch {
	case err == nil && f.hidden:
		return true // a response without a body cannot be too large
	case err == nil && op.id == "getEmail":
		return f.rule.Status == http.StatusTooManyRequests || f.rule.AfterProcessing || f.rule.Action == mockserver.FaultTruncate // Get retries a 429 more often
	case op.id == "removeSuppressedEmail" || op.id == "deleteContact" || op.id == "deleteTemplate":
		acted := f.rule.AfterProcessing || f.rule.Action == mockserver.FaultTruncate || f.hidden
		return acted && (err == nil || errors.Is(err, ErrOutcomeUnknown)) // a repeated deletion succeeds
	}
	return false
}

// effect calls op with c. It returns the number of records that op created, or of emails that it sent.
func effect(p *platform, c *Client, rec *records, op operation) (done int, err error) {
	ctx := p.Context()
	count := func() int {
		if op.count == nil {
			return 0
		}
		return op.count(env{p.clean, rec, ctx, p})
	}
	before := count()
	_, err = op.call(env{c, rec, ctx, p})
	return count() - before, err
}

// checkEffect checks that the operation was processed at most once and that the error reports its outcome.
func checkEffect(t *testing.T, name string, op operation, err error, done int) {
	t.Helper()
	if err != nil {
		if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("%s: %T is not a *Error", name, err)
		}
	}
	if op.count == nil {
		return
	}
	switch {
	case done > 1:
		t.Errorf("%s: processed %d times (%v)", name, done, err)
	case err == nil && done != 1:
		t.Errorf("%s: no error, but not processed", name)
	case err != nil && !errors.Is(err, ErrOutcomeUnknown) && done != 0:
		t.Errorf("%s: processed, but the error says that it was not: %v", name, err)
	}
}
