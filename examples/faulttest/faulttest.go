// Package faulttest runs recipes under each fault in a table, such as a lost response. The recipes are code from the
// documents and the examples. Each test checks only what its recipe guarantees. The tests of an application can import
// the package, but it may change in any release.
package faulttest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// requests returns the faults of requests. Each fault applies to the first request of an operation, or to its first
// four requests: one more than the client sends for a call.
func requests() map[string]mockserver.Fault {
	faults := map[string]mockserver.Fault{
		"lost request":       {Action: mockserver.FaultReset},
		"lost response":      {Action: mockserver.FaultReset, AfterProcessing: true},
		"truncated response": {Action: mockserver.FaultTruncate},
		"HTML":               {Action: mockserver.FaultNotJSON, AfterProcessing: true},
		"slow":               {Action: mockserver.FaultDelay, Delay: 2 * time.Second},
		"too slow":           {Action: mockserver.FaultDelay, Delay: 90 * time.Second},
		"hangs":              {Action: mockserver.FaultHang, AfterProcessing: true},
	}
	for _, f := range statuses() {
		faults[fmt.Sprintf("%d, Retry-After %q, processed %v", f.Status, f.RetryAfter, f.AfterProcessing)] = f
	}
	return faults
}

// statuses returns up to four faults for each status of a platform's response: with or without
// Retry-After, and before or after the platform processes the request. The faults after processing
// include no 4xx status except 408, because any other 4xx status means that the platform did not
// process the request (section 7 of docs/decisions.md).
func statuses() (faults []mockserver.Fault) {
	for _, status := range []int{401, 403, 408, 409, 422, 429, 500, 502, 503, 504} {
		for _, retryAfter := range []string{"", "1"} {
			f := mockserver.Fault{Action: mockserver.FaultStatus, Status: status, RetryAfter: retryAfter}
			faults = append(faults, f)
			if f.AfterProcessing = status == http.StatusRequestTimeout || status >= 500; f.AfterProcessing {
				faults = append(faults, f)
			}
		}
	}
	return faults
}

// UnderFaults calls recipe for each fault of each operation, with a new mock server in a bubble of [synctest]. The
// function recipe prepares its records, and returns another function, which runs under the fault.
func UnderFaults(t *testing.T, operations []string, recipe func(t *testing.T, p *mockserver.Server) func()) {
	t.Helper()
	for _, operation := range operations {
		for name, fault := range requests() {
			for _, fault.Times = range []int{1, 4} {
				fault.Operation = operation
				under(t, fmt.Sprintf("%s/%s/%d", operation, name, fault.Times), fault, recipe)
			}
		}
	}
}

func under(t *testing.T, name string, fault mockserver.Fault, recipe func(t *testing.T, p *mockserver.Server) func()) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := mockserver.New(mockserver.Config{})
			defer p.Close()
			run := recipe(t, p)
			Inject(t, p, fault)
			run()
			for _, rule := range p.Faults() {
				if rule.Applied == 0 {
					t.Error("the recipe never met the fault")
				}
			}
		})
	})
}

// Repeat calls f until it returns nil, at most 10 times and with 1 minute between the calls, like a caller that
// retries after errors. It returns the errors.
func Repeat(t *testing.T, f func() error) (errs []error) {
	t.Helper()
	for range 10 {
		err := f()
		if err == nil {
			return errs
		}
		errs = append(errs, err)
		time.Sleep(time.Minute)
	}
	t.Errorf("fails 10 times: %v", errs)
	return errs
}

// Check ends the test if there is an error.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Client returns a client of p that needs no sockets.
func Client(t testing.TB, p *mockserver.Server) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{BaseURL: p.URL(), Token: p.Token(), HTTPClient: p.HTTPClient()})
	Check(t, err)
	return c
}

// Replacing returns a client of p. In each response body, the text in the argument after replaces the text in the
// argument before.
func Replacing(t testing.TB, p *mockserver.Server, before, after string) *client.Client {
	t.Helper()
	replacing := transport(func(r *http.Request) (*http.Response, error) {
		response, err := p.Transport().RoundTrip(r)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(response.Body)
		body = bytes.ReplaceAll(body, []byte(before), []byte(after))
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return response, err
	})
	c, err := client.New(client.Config{BaseURL: p.URL(), Token: p.Token(), HTTPClient: &http.Client{Transport: replacing}})
	Check(t, err)
	return c
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Inject adds faults to p.
func Inject(t testing.TB, p *mockserver.Server, faults ...mockserver.Fault) {
	t.Helper()
	_, err := p.Inject(faults...)
	Check(t, err)
}
