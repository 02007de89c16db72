package mockserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/fault"
)

// errConnReset is the error of a connection that the peer reset.
var errConnReset = map[bool]syscall.Errno{
	false: syscall.ECONNRESET,
	true:  10054, // WSAECONNRESET, because Go defines its own value of syscall.ECONNRESET on Windows
}[runtime.GOOS == "windows"]

// faultyPlatform is a server with an HTTP client that uses a socket or runs in process.
type faultyPlatform struct {
	probe.Probe

	http *http.Client
}

// onEachTransport runs a test over a socket and in process.
func onEachTransport(t *testing.T, test func(p faultyPlatform)) {
	t.Run("socket", func(t *testing.T) {
		srv := mockserver.Start(mockserver.Config{FaultSeed: 7})
		t.Cleanup(srv.Close)
		// Each request uses a new connection, because net/http retries a GET if a reused connection is lost.
		transport := &http.Transport{DisableKeepAlives: true}
		test(faultyPlatform{probe.Of(t, srv), rawhttp.NoRedirects(transport)})
	})
	t.Run("in process", func(t *testing.T) {
		srv := mockserver.New(mockserver.Config{FaultSeed: 7})
		t.Cleanup(srv.Close)
		test(faultyPlatform{probe.Of(t, srv), rawhttp.NoRedirects(srv.Transport())})
	})
}

// try sends a request and returns the response with the part of the body that arrived.
func (p faultyPlatform) try(ctx context.Context, method, path, body string) (*http.Response, string, error) {
	p.Helper()
	return rawhttp.Do(p.http, p.Request(method, path, body).WithContext(ctx))
}

// acted reports whether the server has created the list. It sends no request for this.
func (p faultyPlatform) acted() bool {
	var state bytes.Buffer
	return p.Snapshot(&state) == nil && strings.Contains(state.String(), `"News"`)
}

func (p faultyPlatform) until(done func() bool) {
	for !done() && p.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
}

const newList = `{"name":"News"}`

// A fault changes the response, and the request log contains the error that the client received.
func TestFaultResponses(t *testing.T) {
	const asJSON, asHTML = "Content-Type: application/json", "Content-Type: text/html; charset=utf-8"
	for _, tt := range []struct {
		name     string
		fault    mockserver.Fault
		status   int
		header   string // "Name: value"
		contains string
	}{
		{
			"status with Retry-After",
			mockserver.Fault{Action: mockserver.FaultStatus, Status: 429, RetryAfter: "7"},
			429, "Retry-After: 7", `"rate_limited"`,
		},
		{"invalid Retry-After", mockserver.Fault{Action: mockserver.FaultStatus, RetryAfter: "-1e9 soon"}, 503, "Retry-After: -1e9 soon", `"detail"`},
		{"401 with its challenge", mockserver.Fault{Action: mockserver.FaultStatus, Status: 401}, 401, "Www-Authenticate: Bearer", `"detail"`},
		{"timeout of a gateway", mockserver.Fault{Action: mockserver.FaultStatus, Status: 504, AfterProcessing: true}, 504, asJSON, `"detail"`},
		{"given body", mockserver.Fault{Action: mockserver.FaultStatus, Status: 500, Body: "{}"}, 500, asJSON, "{}"},
		{"status without a body", mockserver.Fault{Action: mockserver.FaultStatus, Status: 204, Body: "lost"}, 204, asJSON, ""},
		{"page with status 200", mockserver.Fault{Action: mockserver.FaultNotJSON}, 200, asHTML, "<html>"},
		{"page of a proxy", mockserver.Fault{Action: mockserver.FaultNotJSON, Status: 502, AfterProcessing: true}, 502, asHTML, "<html>"},
		{"redirect to another host", mockserver.Fault{Action: mockserver.FaultRedirect}, 307, "Location: https://elsewhere.invalid/lists", ""},
		{"given redirect", mockserver.Fault{Action: mockserver.FaultRedirect, Status: 301, Location: "/elsewhere"}, 301, "Location: /elsewhere", ""},
		{"body of 1 MiB", mockserver.Fault{Action: mockserver.FaultOversize, Size: 1 << 20}, 201, asJSON, `{"padding":"xxx`},
		{"delay", mockserver.Fault{Action: mockserver.FaultDelay, Delay: time.Millisecond}, 201, asJSON, `"list_id"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onEachTransport(t, func(p faultyPlatform) {
				p.MustInject(tt.fault)
				res, body, err := p.try(p.Context(), http.MethodPost, "/lists", newList)
				require.NoError(p, err)
				name, value, _ := strings.Cut(tt.header, ": ")
				assert.Equal(p, tt.status, res.StatusCode)
				assert.Equal(p, value, res.Header.Get(name), name)
				assert.NotEmpty(p, res.Header.Get("X-Request-Id"))
				assert.Contains(p, body[:min(len(body), 1000)], tt.contains)
				if tt.status == http.StatusNoContent {
					assert.Empty(p, body)
				}
				if size := tt.fault.Size; size != 0 {
					assert.Equal(p, size, int64(len(body)), "bytes")
				}
				log := p.Requests()[0]
				assert.Equal(p, tt.status, log.Status, "the log")
				assert.Equal(p, "fault-1", log.Fault, "the log")
				if tt.status >= 400 {
					assert.Equal(p, body, string(log.Response), "the log")
				}
				assert.Equal(p, tt.status == 201 || tt.fault.AfterProcessing, p.acted(), "processed")
			})
		})
	}
}

func TestFaultLostConnection(t *testing.T) {
	lost := []error{errConnReset, io.EOF}
	for _, tt := range []struct {
		name  string
		fault mockserver.Fault
		want  []error // the error must match one of these
		acted bool
	}{
		{"reset", mockserver.Fault{Action: mockserver.FaultReset}, lost, false},
		{"reset after processing", mockserver.Fault{Action: mockserver.FaultReset, AfterProcessing: true}, lost, true},
		{"half of the response", mockserver.Fault{Action: mockserver.FaultTruncate}, []error{io.ErrUnexpectedEOF}, true},
		{"no response", mockserver.Fault{Action: mockserver.FaultHang}, []error{context.Canceled}, false},
		{"no response after processing", mockserver.Fault{Action: mockserver.FaultHang, AfterProcessing: true}, []error{context.Canceled}, true},
		{"delay longer than the client waits", mockserver.Fault{Action: mockserver.FaultDelay, Delay: time.Hour}, []error{context.Canceled}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onEachTransport(t, func(p faultyPlatform) {
				p.MustInject(tt.fault)
				ctx, cancel := context.WithCancel(p.Context())
				defer cancel()
				if tt.want[0] == context.Canceled {
					go func() {
						p.until(func() bool { return p.Faults()[0].Applied > 0 && p.acted() == tt.acted })
						cancel() // the client cancels its request
					}()
				}
				res, body, err := p.try(ctx, http.MethodPost, "/lists", newList)
				p.until(func() bool { return len(p.Requests()) > 0 }) // the server has logged the request
				if !slices.ContainsFunc(tt.want, func(want error) bool { return errors.Is(err, want) }) {
					p.Errorf("got %v, want one of %v", err, tt.want)
				}
				if tt.fault.Action == mockserver.FaultTruncate {
					assert.Regexp(p, `^{"`, body)
					assert.Equal(p, "application/json", res.Header.Get("Content-Type"))
				}
				assert.Equal(p, tt.acted, p.acted(), "acted")
			})
		})
	}
}

func TestFaultHangShutdown(t *testing.T) {
	onEachTransport(t, func(p faultyPlatform) {
		p.MustInject(mockserver.Fault{Action: mockserver.FaultHang})
		done := make(chan error, 1)
		go func() {
			_, _, err := p.try(context.WithoutCancel(p.Context()), http.MethodPost, "/lists", newList)
			done <- err
		}()
		p.until(func() bool { return p.Faults()[0].Applied > 0 })
		p.Close()
		assert.Error(p, <-done, "the request got a response")
	})
}

// A rule that is removed, disabled or replaced releases the requests and attempts that it delays or does not respond to.
func TestFaultReleased(t *testing.T) {
	hang, late := mockserver.Fault{Action: mockserver.FaultHang}, mockserver.Fault{Action: mockserver.FaultDelay, Delay: time.Hour}
	for name, release := range map[string]func(p probe.Probe) error{
		"removed":  func(p probe.Probe) error { return p.RemoveFault("fault-1") },
		"disabled": func(p probe.Probe) error { return p.EnableFault("fault-1", false) },
		"replaced": func(p probe.Probe) error {
			p.Do("PUT", "/_mock/faults/fault-1", `{"action":"status","operation":"getList"}`).OK()
			return nil
		},
		"reset": func(p probe.Probe) error { p.Reset(); return nil },
	} {
		for _, f := range []mockserver.Fault{hang, late} {
			onEachTransport(t, func(p faultyPlatform) {
				p.MustInject(f)
				done := make(chan error, 1)
				go func() {
					_, _, err := p.try(p.Context(), http.MethodPost, "/lists", newList)
					done <- err
				}()
				p.until(func() bool { return p.Faults()[0].Applied > 0 })
				require.NoError(p, release(p.Probe))
				assert.Equal(p, f.Action == mockserver.FaultHang, <-done != nil, "%s: the request is lost", name)
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		h := &probe.Receiver{}
		p := probe.New(t, mockserver.Config{Targets: h.Targets()})
		p.Webhook("SuppressedEmail.Added")
		p.MustInject(mockserver.Fault{Action: mockserver.FaultHang, Event: "*"})
		p.Post("/suppressed-emails", `{"email":"a@example.org"}`).OK()
		synctest.Wait()
		require.NoError(t, p.RemoveFault("fault-1"))
		require.NoError(t, p.Drain(t.Context()))
		attempts := p.Deliveries()[0].Attempts
		assert.Equal(t, "connection lost, injected by a fault rule", attempts[0].Error)
		assert.Zero(t, attempts[0].Duration)
		assert.Len(t, attempts, 2)
	})
}

// The request log does not contain a lost response.
func TestFaultLostResponseIsNotLogged(t *testing.T) {
	onEachTransport(t, func(p faultyPlatform) {
		p.MustInject(mockserver.Fault{Action: mockserver.FaultReset, AfterProcessing: true})
		_, _, err := p.try(p.Context(), http.MethodPost, "/lists", `{}`) // an invalid request, with status 422
		p.until(func() bool { return len(p.Requests()) > 0 })
		assert.Error(p, err)
		assert.Empty(p, p.Requests()[0].Response)
	})
}

// If a response without a body is truncated, the client loses the connection.
func TestFaultTruncateEmptyBody(t *testing.T) {
	onEachTransport(t, func(p faultyPlatform) {
		p.Post("/lists", newList).OK()
		p.MustInject(mockserver.Fault{Action: mockserver.FaultTruncate})
		_, _, err := p.try(p.Context(), http.MethodPost, "/lists/1/accept-policy", "")
		if !errors.Is(err, io.EOF) && !errors.Is(err, errConnReset) {
			p.Errorf("got %v, want a lost connection", err)
		}
	})
}

// The same seed and the same requests cause the same faults, even if there are other rules.
func TestFaultSeed(t *testing.T) {
	p := probe.New(t, mockserver.Config{FaultSeed: 42})
	rule := mockserver.Fault{Action: mockserver.FaultStatus, Probability: 0.5}
	run := func() string {
		var got strings.Builder
		for range 64 {
			fmt.Fprintf(&got, "%d ", p.Get("/lists").Status)
		}
		return got.String()
	}
	p.MustInject(rule)
	first := run()
	n := strings.Count(first, "503")
	assert.GreaterOrEqual(t, n, 16)
	assert.LessOrEqual(t, n, 48)
	for name, change := range map[string]func(){
		"no change": func() {},
		"another rule": func() {
			p.MustInject(mockserver.Fault{Action: mockserver.FaultStatus, Operation: "getList", Probability: 0.5})
		},
		"same rule again": func() { p.ClearFaults(); p.MustInject(rule) },
	} {
		change()
		p.SeedFaults(42)
		assert.Zero(t, p.Faults()[0].Applied, name)
		assert.Equal(t, first, run(), name)
	}
	p.ClearFaults()
	if p.MustInject(rule); run() != first {
		t.Error("the same rule in an empty plan matches other requests")
	}
	seed := p.SeedFaults(0)
	assert.NotContains(t, []uint64{0, 42}, seed)
	assert.Equal(t, seed, p.FaultSeed())
	assert.NotEqual(t, first, run(), "seed %d", seed)
}

// If a rule is invalid, Inject adds no rules. The error names each invalid field.
func TestFaultInvalid(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	const status = mockserver.FaultStatus
	_, err := p.Inject(mockserver.Fault{Action: status, Nth: -1}, mockserver.Fault{Action: status, Times: -1, Probability: 2, Path: "lists"})
	want := "nth: must be between 1 and 2147483647; path: must be a path that begins with a slash; probability: must be more than 0 and at most 1; times: must be between 0 and 2147483647"
	assert.Regexp(t, regexp.QuoteMeta(want)+"$", err)
	assert.Empty(t, p.Faults())
}

// Faults apply to the deliveries of three contacts. If a fault makes an attempt fail, the delivery records the failure
// and is retried. With AfterProcessing, the receiver got the failed attempt, so the retry is a duplicate.
func TestFaultDeliveries(t *testing.T) {
	const lost, late = "connection lost, injected by a fault rule", "no response within 10s"
	ok := mockserver.Attempt{Status: 200}
	for name, tt := range map[string]struct {
		fault   mockserver.Fault
		want    string             // contacts in the order of arrival
		last    time.Duration      // arrival of the last delivery
		attempt mockserver.Attempt // the first attempt of the second delivery
	}{
		"drop":             {mockserver.Fault{Action: mockserver.FaultDrop, Nth: 2}, "ac", 0, mockserver.Attempt{}},
		"duplicate":        {mockserver.Fault{Action: mockserver.FaultDuplicate, Nth: 2}, "abbc", 0, ok},
		"reorder":          {mockserver.Fault{Action: mockserver.FaultReorder, Nth: 1}, "bac", 0, ok},
		"reorder the last": {mockserver.Fault{Action: mockserver.FaultReorder, Nth: 3}, "abc", time.Second, ok},
		"reorder all":      {mockserver.Fault{Action: mockserver.FaultReorder}, "abc", time.Second, ok},
		"delay":            {mockserver.Fault{Action: mockserver.FaultDelay, Event: "*", Nth: 1, Delay: time.Minute}, "bca", time.Minute, ok},
		"status": {
			mockserver.Fault{Action: mockserver.FaultStatus, Status: 418, Body: "teapot", Event: "*", Nth: 2},
			"acb", time.Second,
			mockserver.Attempt{Status: 418, Response: "teapot"},
		},
		"status of an event": {
			mockserver.Fault{Action: mockserver.FaultStatus, Event: "Contact.Added", Nth: 2},
			"acb", time.Second,
			mockserver.Attempt{Status: 503},
		},
		"no connection": {
			mockserver.Fault{Action: mockserver.FaultReset, WebhookID: "1", Nth: 2},
			"acb", time.Second,
			mockserver.Attempt{Error: lost},
		},
		"timeout": {
			mockserver.Fault{Action: mockserver.FaultHang, Event: "*", Nth: 2},
			"acb", 11 * time.Second,
			mockserver.Attempt{Error: late, Duration: 10 * time.Second},
		},
		"slow": {
			mockserver.Fault{Action: mockserver.FaultStatus, Event: "*", Nth: 2, Delay: time.Hour},
			"acb", 11 * time.Second,
			mockserver.Attempt{Error: late, Duration: 10 * time.Second},
		},
		"lost response": {
			mockserver.Fault{Action: mockserver.FaultReset, AfterProcessing: true, Event: "*", Nth: 2},
			"abcb", time.Second,
			mockserver.Attempt{Error: lost},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin, h := time.Now(), &probe.Receiver{}
				p := probe.New(t, mockserver.Config{DeliveryConcurrency: 1, Targets: h.Targets()})
				p.Webhook("Contact.Added")
				list := p.List()
				p.MustInject(tt.fault)
				for _, address := range []string{"a@example.com", "b@example.com", "c@example.com"} {
					p.Contact(list, address)
				}
				require.NoError(t, p.Drain(t.Context()))
				got := ""
				for _, body := range h.Bodies {
					_, address, _ := strings.Cut(body, `"email_address":"`)
					got += address[:1]
				}
				assert.Equal(t, tt.want, got, "arrived")
				assert.Equal(t, tt.last, slices.Max(h.Since(begin)), "the last arrival")
				second := p.Deliveries()[1]
				assert.Equal(t, len(tt.want) == 2, second.State == mockserver.DeliveryDropped, "the second delivery is %s", second.State)
				if tt.attempt.Status != 200 {
					assert.Equal(t, "fault-1", second.Fault)
				}
				first := append(second.Attempts, mockserver.Attempt{})[0]
				first.Time, first.Manual = time.Time{}, false
				assert.Equal(t, tt.attempt, first)
			})
		})
	}
}

// A reordered delivery that fails is retried on the schedule, which starts with its first attempt.
func TestFaultReorderRetrySchedule(t *testing.T) {
	for _, redeliver := range []bool{false, true} { // redeliver immediately instead of after the hold
		synctest.Test(t, func(t *testing.T) {
			h := &probe.Receiver{Status: func(int) int { return http.StatusInternalServerError }}
			p := probe.New(t, mockserver.Config{Targets: h.Targets(), RetrySchedule: mockserver.DefaultRetrySchedule()[:4]})
			p.Webhook("SuppressedEmail.Added")
			p.MustInject(mockserver.Fault{Action: mockserver.FaultReorder, Nth: 1})
			start := time.Now()
			p.Post("/suppressed-emails", `{"email":"held@example.org"}`).OK()
			if redeliver {
				require.NoError(t, p.Redeliver("dlv-1"))
			} else {
				start = start.Add(time.Second) // the hold
			}
			time.Sleep(45 * time.Second) // the delivery waits for its last retry
			p.Post("/suppressed-emails", `{"email":"next@example.org"}`).OK()
			require.NoError(t, p.Drain(t.Context()))
			var got []time.Duration
			for _, attempt := range p.Deliveries()[0].Attempts {
				got = append(got, attempt.Time.Sub(start))
			}
			assert.Equal(t, []time.Duration{0, time.Second, 6 * time.Second, 36 * time.Second, 156 * time.Second}, got, "redelivered %v: attempts at", redeliver)
		})
	}
}

// Each action has a row in the table of actions, with an effect on each of its targets. It accepts exactly the fields in
// its row, in Go and in JSON.
func TestFaultActions(t *testing.T) {
	values := map[string]any{
		"after_processing": true, "delay_ms": 1, "status": 418, "retry_after": "1", "body": "x", "location": "/x", "size": 1 << 10,
	}
	for _, action := range fault.Actions() {
		for _, target := range action.Targets {
			t.Run(string(action.Name)+" of a "+target, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					assert.NotEqual(t, observed(t, target, fault.Action{}), observed(t, target, action), "the action has no effect")
				})
			})
		}
		t.Run(string(action.Name)+" reads fields", func(t *testing.T) {
			p := probe.New(t, mockserver.Config{})
			assert.NotEmpty(t, action.Label)
			assert.NotEmpty(t, action.Effect)
			for _, target := range action.Targets {
				for field, value := range values {
					rule := map[string]any{"action": action.Name, field: value}
					want := http.StatusUnprocessableEntity
					if slices.Contains(action.Fields, field) && (target != "delivery" || !slices.Contains(action.RequestFields, field)) {
						want = http.StatusOK
					}
					if target == "delivery" {
						rule["event"] = "*"
					}
					if action.Needs != "" {
						rule[action.Needs] = values[action.Needs]
					}
					body, err := json.Marshal(rule)
					require.NoError(t, err)
					response := p.Post("/_mock/faults", string(body))
					assert.Equal(t, want, response.Status, "%s: %s", body, response.Body)
				}
			}
		})
	}
}

// observed returns the effects of a request, a message or a delivery, with a fault rule for the action. The result
// includes start times, which show delays.
func observed(t *testing.T, target string, action fault.Action) string {
	t.Helper()
	receiver := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	p := probe.New(t, mockserver.Config{RecordEvents: true, Targets: map[string]http.Handler{"app.test": receiver}})
	defer p.Close()
	start := time.Now()
	p.Post("/webhooks", `{"url":"http://app.test/","events":["SuppressedEmail.Added"]}`)
	if f := (mockserver.Fault{Action: action.Name}); action.Name != "" {
		if target == "delivery" {
			f.Event = "*"
		}
		if action.Needs == "delay_ms" {
			f.Delay = time.Second
		}
		p.MustInject(f)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // ends a hanging request
	defer cancel()
	path, in := "/suppressed-emails", `{"email":"a@example.org"}`
	if target == "message" {
		path, in = "/v2/emails", `{"email":"a@example.org","sender":{"email":"s@example.com"},"content":{"subject":"x","text":"x"}}`
	}
	req := p.Request(http.MethodPost, path, in).WithContext(ctx)
	res, body, err := rawhttp.Do(rawhttp.NoRedirects(p.Transport()), req)
	if res == nil { // the connection was closed before the response
		res = &http.Response{}
	}
	took := time.Since(start)
	time.Sleep(time.Hour)
	var deliveries []string
	for _, d := range p.Deliveries() {
		for _, attempt := range d.Attempts {
			deliveries = append(deliveries, fmt.Sprint(attempt.Time.Sub(start), attempt.Status, attempt.Error))
		}
	}
	return fmt.Sprint(res.StatusCode, err, res.Header.Get("Content-Type"), body, took, deliveries)
}

func TestEnableAndRemoveFault(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	p.MustInject(mockserver.Fault{Action: mockserver.FaultStatus})
	require.NoError(t, p.EnableFault("fault-1", false))
	p.Get("/lists").OK()
	require.NoError(t, p.EnableFault("fault-1", true))
	require.NoError(t, p.RemoveFault("fault-1"))
	p.Get("/lists").OK()
	assert.Error(t, p.RemoveFault("fault-1"), "a removed rule")
	assert.Error(t, p.EnableFault("fault-1", true), "a removed rule")
}
