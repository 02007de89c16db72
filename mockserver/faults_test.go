package mockserver_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/fault"
)

// errConnReset is the error of a connection that the peer reset.
var errConnReset = map[bool]syscall.Errno{
	false: syscall.ECONNRESET,
	true:  10054, // WSAECONNRESET, because syscall.ECONNRESET is a number that Go invented for Windows
}[runtime.GOOS == "windows"]

// faultyPlatform is a server with an HTTP client that uses a socket or runs in process.
type faultyPlatform struct {
	*testing.T
	*mockserver.Server
	http *http.Client
}

// onEachTransport runs a test over a socket and in process.
func onEachTransport(t *testing.T, test func(p faultyPlatform)) {
	t.Run("socket", func(t *testing.T) {
		srv := mockserver.Start(mockserver.Config{FaultSeed: 7})
		t.Cleanup(srv.Close)
		// A connection of its own for each request: net/http repeats a GET when a connection that it kept is lost.
		transport := &http.Transport{DisableKeepAlives: true}
		test(faultyPlatform{t, srv, noRedirects(transport)})
	})
	t.Run("in process", func(t *testing.T) {
		srv := mockserver.New(mockserver.Config{FaultSeed: 7})
		t.Cleanup(srv.Close)
		test(faultyPlatform{t, srv, noRedirects(srv.Transport())})
	})
}

func noRedirects(via http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     via,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (p faultyPlatform) inject(faults ...mockserver.Fault) {
	p.Helper()
	if _, err := p.Inject(faults...); err != nil {
		p.Fatal(err)
	}
}

// try sends a request and returns the response with the part of the body that arrived.
func (p faultyPlatform) try(ctx context.Context, method, path, body string) (*http.Response, string, error) {
	p.Helper()
	req, err := http.NewRequestWithContext(ctx, method, p.URL()+path, strings.NewReader(body))
	must(p, err)
	req.Header.Set("Authorization", "Bearer "+p.Token())
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := p.http.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	read, err := io.ReadAll(res.Body)
	return res, string(read), err
}

// status sends a request and returns the status of the response.
func (p faultyPlatform) status(method, path, body string) int {
	p.Helper()
	res, _, err := p.try(p.Context(), method, path, body)
	must(p, err)
	return res.StatusCode
}

// lists removes all faults and counts the lists.
func (p faultyPlatform) lists() int {
	p.Helper()
	p.ClearFaults()
	_, body, err := p.try(p.Context(), http.MethodGet, "/lists", "")
	must(p, err)
	return strings.Count(body, `"list_id"`)
}

// until waits for a condition.
func (p faultyPlatform) until(done func() bool) {
	for !done() && p.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
}

const newList = `{"name":"News"}`

var faultAnswers = []struct {
	name     string
	fault    mockserver.Fault
	status   int
	header   string // "Name: value"
	contains string
	acted    bool
}{
	{
		name:  "a status with a Retry-After",
		fault: mockserver.Fault{Action: mockserver.FaultStatus, Status: 429, RetryAfter: "7"}, status: 429,
		header: "Retry-After: 7", contains: `"rate_limited"`,
	},
	{
		name:  "a Retry-After that makes no sense is sent as it is",
		fault: mockserver.Fault{Action: mockserver.FaultStatus, RetryAfter: "-1e9 soon"}, status: 503,
		header: "Retry-After: -1e9 soon", contains: `"detail"`,
	},
	{
		name:  "a 401 has its challenge",
		fault: mockserver.Fault{Action: mockserver.FaultStatus, Status: 401}, status: 401,
		header: "Www-Authenticate: Bearer", contains: `"detail"`,
	},
	{
		name:  "a gateway's time-out after all was done",
		fault: mockserver.Fault{Action: mockserver.FaultStatus, Status: 504, AfterProcessing: true}, status: 504,
		header: "Content-Type: application/json", contains: `"detail"`, acted: true,
	},
	{
		name:  "a body of one's own",
		fault: mockserver.Fault{Action: mockserver.FaultStatus, Status: 500, Body: "{}"}, status: 500,
		header: "Content-Type: application/json", contains: "{}",
	},
	{
		name:  "a status without a body",
		fault: mockserver.Fault{Action: mockserver.FaultStatus, Status: 204, Body: "lost"}, status: 204,
		header: "Content-Type: application/json",
	},
	{
		name:  "a page of a portal with status 200",
		fault: mockserver.Fault{Action: mockserver.FaultNotJSON}, status: 200,
		header: "Content-Type: text/html; charset=utf-8", contains: "<html>",
	},
	{
		name:   "a page of a proxy after all was done",
		fault:  mockserver.Fault{Action: mockserver.FaultNotJSON, Status: 502, AfterProcessing: true},
		status: 502, header: "Content-Type: text/html; charset=utf-8", contains: "<html>", acted: true,
	},
	{
		name:  "a redirect to another host",
		fault: mockserver.Fault{Action: mockserver.FaultRedirect}, status: 307,
		header: "Location: https://elsewhere.invalid/lists",
	},
	{
		name:   "a redirect to where the test says",
		fault:  mockserver.Fault{Action: mockserver.FaultRedirect, Status: 301, Location: "/elsewhere"},
		status: 301, header: "Location: /elsewhere",
	},
	{
		name:  "a body of one megabyte",
		fault: mockserver.Fault{Action: mockserver.FaultOversize, Size: 1 << 20}, status: 201,
		header: "Content-Type: application/json", contains: `{"padding":"xxx`, acted: true,
	},
	{
		name:  "a delay and nothing else",
		fault: mockserver.Fault{Action: mockserver.FaultDelay, Delay: time.Millisecond}, status: 201,
		header: "Content-Type: application/json", contains: `"list_id"`, acted: true,
	},
}

func TestFaultResponses(t *testing.T) {
	tests := faultAnswers
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onEachTransport(t, func(p faultyPlatform) {
				p.inject(tt.fault)
				res, body, err := p.try(p.Context(), http.MethodPost, "/lists", newList)
				must(p, err)
				name, value, _ := strings.Cut(tt.header, ": ")
				if res.StatusCode != tt.status || res.Header.Get(name) != value || !strings.Contains(body, tt.contains) {
					p.Errorf("got %d %v %.100s, want %d, %q and %q", res.StatusCode, res.Header, body, tt.status, tt.header,
						tt.contains)
				}
				if res.Header.Get("X-Request-Id") == "" {
					p.Error("no X-Request-Id")
				}
				if tt.status == http.StatusNoContent && body != "" {
					p.Errorf("an answer without a body has %q, want none", body)
				}
				if size := tt.fault.Size; size != 0 && int64(len(body)) != size {
					p.Errorf("%d bytes, want %d", len(body), size)
				}
				log := p.Requests()[0]
				if log.Status != tt.status || log.Fault != "fault-1" {
					p.Errorf("logged as %+v, want %d by fault-1", log, tt.status)
				}
				if acted := p.lists() == 1; acted != tt.acted {
					p.Errorf("acted: %v, want %v", acted, tt.acted)
				}
			})
		})
	}
}

// The request log contains the response that the client received, or nothing if it was lost.
func TestFaultLoggedResponse(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault mockserver.Fault
		lost  bool
	}{
		{name: "another answer", fault: mockserver.Fault{Action: mockserver.FaultStatus, AfterProcessing: true}},
		{name: "a lost one", fault: mockserver.Fault{Action: mockserver.FaultReset, AfterProcessing: true}, lost: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onEachTransport(t, func(p faultyPlatform) {
				p.inject(tt.fault)
				_, body, err := p.try(p.Context(), http.MethodPost, "/lists", `{}`) // which is a 422
				if (err != nil) != tt.lost {
					p.Fatalf("got %v, want it lost: %v", err, tt.lost)
				}
				p.until(func() bool { return len(p.Requests()) > 0 })
				if got := string(p.Requests()[0].Response); got != body {
					p.Errorf("logged %q, want %q", got, body)
				}
			})
		})
	}
}

func TestFaultLostConnection(t *testing.T) {
	tests := []struct {
		name  string
		fault mockserver.Fault
		want  []error // one of them
		acted bool
	}{
		{
			name:  "reset before acting",
			fault: mockserver.Fault{Action: mockserver.FaultReset}, want: []error{errConnReset, io.EOF},
		},
		{
			name:  "reset after acting",
			fault: mockserver.Fault{Action: mockserver.FaultReset, AfterProcessing: true},
			want:  []error{errConnReset, io.EOF}, acted: true,
		},
		{
			name:  "half of the answer",
			fault: mockserver.Fault{Action: mockserver.FaultTruncate}, want: []error{io.ErrUnexpectedEOF},
			acted: true,
		},
		{name: "no answer", fault: mockserver.Fault{Action: mockserver.FaultHang}, want: []error{context.Canceled}},
		{
			name:  "no answer though all was done",
			fault: mockserver.Fault{Action: mockserver.FaultHang, AfterProcessing: true},
			want:  []error{context.Canceled}, acted: true,
		},
		{
			name:  "a delay that the client does not wait for",
			fault: mockserver.Fault{Action: mockserver.FaultDelay, Delay: time.Hour},
			want:  []error{context.Canceled},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onEachTransport(t, func(p faultyPlatform) {
				p.inject(tt.fault)
				ctx, cancel := context.WithCancel(p.Context())
				defer cancel()
				if tt.want[0] == context.Canceled {
					go func() {
						p.until(func() bool { return p.Faults()[0].Hits > 0 })
						cancel() // requests that are delayed now never get a response
					}()
				}
				_, body, err := p.try(ctx, http.MethodPost, "/lists", newList)
				p.until(func() bool { return len(p.Requests()) > 0 }) // it is over for the platform too
				if !slices.ContainsFunc(tt.want, func(want error) bool { return errors.Is(err, want) }) {
					p.Errorf("got %v, want one of %v", err, tt.want)
				}
				if tt.fault.Action == mockserver.FaultTruncate && !strings.HasPrefix(body, `{"`) {
					p.Errorf("the half of the answer is %q, want the beginning of JSON", body)
				}
				if acted := p.lists() == 1; acted != tt.acted {
					p.Errorf("acted: %v, want %v", acted, tt.acted)
				}
			})
		})
	}
}

func TestFaultHangShutdown(t *testing.T) {
	onEachTransport(t, func(p faultyPlatform) {
		p.inject(mockserver.Fault{Action: mockserver.FaultHang})
		done := make(chan error, 1)
		go func() {
			_, _, err := p.try(context.WithoutCancel(p.Context()), http.MethodPost, "/lists", newList)
			done <- err
		}()
		p.until(func() bool { return p.Faults()[0].Hits > 0 })
		p.Close()
		if err := <-done; err == nil {
			p.Error("the request was answered")
		}
	})
}

// A truncated response without a body is a lost connection.
func TestFaultTruncateEmptyBody(t *testing.T) {
	onEachTransport(t, func(p faultyPlatform) {
		p.status("POST", "/lists", newList)
		p.inject(mockserver.Fault{Action: mockserver.FaultTruncate})
		_, _, err := p.try(p.Context(), http.MethodPost, "/lists/1/accept-policy", "")
		if !errors.Is(err, io.EOF) && !errors.Is(err, errConnReset) {
			p.Errorf("got %v, want a connection that is lost", err)
		}
	})
}

func TestFaultEnableAndRemove(t *testing.T) {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	rules, err := srv.Inject(mockserver.Fault{Action: mockserver.FaultReset, Operation: "listTags"}, mockserver.Fault{Action: mockserver.FaultStatus})
	if err != nil || !slices.Equal(rules, srv.Faults()) {
		t.Fatalf("got %+v, %v, want %+v", rules, err, srv.Faults())
	}
	id := rules[1].ID
	must(t, srv.EnableFault(id, false))
	if rule := srv.Faults()[1]; rule.Enabled {
		t.Errorf("got %+v, want it disabled", rule)
	}
	must(t, srv.RemoveFault(id))
	if left := srv.Faults(); !slices.Equal(left, rules[:1]) || srv.RemoveFault(id) == nil || srv.EnableFault(id, true) == nil {
		t.Errorf("got %+v, want the first rule, and errors for the other", left)
	}
}

// The same seed and the same requests cause the same faults, whatever other rules there are.
func TestFaultSeed(t *testing.T) {
	srv := mockserver.New(mockserver.Config{FaultSeed: 42})
	defer srv.Close()
	p := faultyPlatform{t, srv, noRedirects(srv.Transport())}
	run := func() string {
		var got strings.Builder
		for range 64 {
			fmt.Fprintf(&got, "%d ", p.status("GET", "/lists", ""))
		}
		return got.String()
	}
	p.inject(mockserver.Fault{Action: mockserver.FaultStatus, Probability: 0.5})
	first := run()
	if n := strings.Count(first, "503"); n < 16 || n > 48 {
		t.Errorf("%d of 64 were hit with a probability of 0.5, want 16 to 48", n)
	}
	if srv.SeedFaults(42); run() != first {
		t.Error("another run with the same seed differs")
	}
	p.inject(mockserver.Fault{Action: mockserver.FaultStatus, Operation: "getList", Probability: 0.5})
	if srv.SeedFaults(42); run() != first {
		t.Error("another rule changes what this one hits")
	}
	srv.ClearFaults()
	p.inject(mockserver.Fault{Action: mockserver.FaultStatus, Probability: 0.5})
	if srv.SeedFaults(42); run() != first {
		t.Error("the same rule, added again, matches other requests")
	}
	if seed := srv.SeedFaults(0); seed == 0 || seed == 42 || seed != srv.FaultSeed() || run() == first {
		t.Errorf("seed 0 chose %d and changed nothing, want another seed and other hits", seed)
	}
}

func TestFaultInvalid(t *testing.T) {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	status := mockserver.FaultStatus
	tests := []struct {
		name  string
		fault mockserver.Fault
		want  string
	}{
		{"no action", mockserver.Fault{}, "action"},
		{"an unknown action", mockserver.Fault{Action: "explode"}, "action"},
		{"an unknown operation", mockserver.Fault{Action: status, Operation: "sendEmail"}, "operation"},
		{"a method that no operation takes", mockserver.Fault{Action: status, Method: "PSOT"}, "method"},
		{"two ways to choose", mockserver.Fault{Action: status, Nth: 1, Every: 2}, "probability: must be the only one of"},
		{"a negative number", mockserver.Fault{Action: status, Nth: -1}, "nth"},
		{"a probability over 1", mockserver.Fault{Action: status, Probability: 1.5}, "probability"},
		{"a status that ends no request", mockserver.Fault{Action: status, Status: 100}, "status"},
		{"a path without a slash", mockserver.Fault{Action: status, Path: "lists"}, "path"},
		{"a header of two lines", mockserver.Fault{Action: status, RetryAfter: "1\r\nX: y"}, "retry_after"},
		{"a negative delay", mockserver.Fault{Action: status, Delay: -1}, "delay"},
		{"too large", mockserver.Fault{Action: mockserver.FaultOversize, Size: 1 << 40}, "size"},
		{"two mistakes, in one line", mockserver.Fault{Action: status, Nth: -1, Times: -1}, "nth: must be 1 or more; mockserver: fault: times: must"},
		{"a request of an event", mockserver.Fault{Action: mockserver.FaultTruncate, Event: "Email.Bounced"}, "event"},
		{"an attempt of an operation", mockserver.Fault{Action: status, Event: "*", Operation: "getEmail"}, "operation"},
		{"a delivery of an operation", mockserver.Fault{Action: mockserver.FaultDrop, Operation: "getEmail"}, "operation"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := srv.Inject(mockserver.Fault{Action: status}, tt.fault)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error about %s", err, tt.want)
			}
		})
	}
	if rules := srv.Faults(); len(rules) != 0 {
		t.Errorf("a call with a mistake added %v, want none", rules)
	}
}

// misdelivered records which deliveries a receiver got, and when.
type misdelivered struct {
	mu  sync.Mutex
	got []string
	at  []time.Duration
}

func (m *misdelivered) all() ([]string, []time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.got), slices.Clone(m.at)
}

// misdeliver adds three contacts under faults of deliveries. It returns which deliveries arrived, and when.
func misdeliver(t *testing.T, faults ...mockserver.Fault) (*mockserver.Server, []string, []time.Duration) {
	t.Helper()
	begin := time.Now()
	m := &misdelivered{}
	srv := mockserver.New(mockserver.Config{DeliveryConcurrency: 1, Targets: map[string]http.Handler{
		"hook.test": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_, address, _ := strings.Cut(string(body), `"email_address":"`)
			m.mu.Lock()
			defer m.mu.Unlock()
			m.got, m.at = append(m.got, address[:1]), append(m.at, time.Since(begin))
		}),
	}})
	t.Cleanup(srv.Close)
	p := faultyPlatform{t, srv, noRedirects(srv.Transport())}
	p.status("POST", "/webhooks", `{"url":"http://hook.test/","events":["Contact.Added"]}`)
	_, created, err := p.try(t.Context(), http.MethodPost, "/lists", newList)
	must(t, err)
	_, id, _ := strings.Cut(created, `"list_id":`)
	id, _, _ = strings.Cut(id, ",")
	p.inject(faults...)
	for _, address := range []string{"a@example.com", "b@example.com", "c@example.com"} {
		if got := p.status("POST", "/lists/"+strings.Trim(id, "}\n")+"/contacts",
			`{"email":"`+address+`"}`); got != http.StatusCreated {
			t.Fatalf("creating a contact: %d, want 201", got)
		}
	}
	must(t, srv.Drain(t.Context()))
	got, at := m.all()
	return srv, got, at
}

func TestFaultDeliveries(t *testing.T) {
	tests := []struct {
		name   string
		fault  mockserver.Fault
		want   []string
		last   time.Duration // when the last one arrived
		states string
	}{
		{
			name:  "drop",
			fault: mockserver.Fault{Action: mockserver.FaultDrop, Nth: 2}, want: []string{"a", "c"},
			states: "delivered dropped delivered",
		},
		{
			name:  "duplicate",
			fault: mockserver.Fault{Action: mockserver.FaultDuplicate, Nth: 2},
			want:  []string{"a", "b", "b", "c"}, states: "delivered delivered delivered",
		},
		{
			name:  "reorder",
			fault: mockserver.Fault{Action: mockserver.FaultReorder, Nth: 1}, want: []string{"b", "a", "c"},
			states: "delivered delivered delivered",
		},
		{
			name:  "reorder the last",
			fault: mockserver.Fault{Action: mockserver.FaultReorder, Nth: 3}, want: []string{"a", "b", "c"},
			last: time.Second, states: "delivered delivered delivered",
		},
		{
			name:  "reorder all",
			fault: mockserver.Fault{Action: mockserver.FaultReorder}, want: []string{"a", "b", "c"},
			last: time.Second, states: "delivered delivered delivered",
		},
		{
			name:  "delay",
			fault: mockserver.Fault{Action: mockserver.FaultDelay, Event: "*", Nth: 1, Delay: time.Minute},
			want:  []string{"b", "c", "a"}, last: time.Minute, states: "delivered delivered delivered",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, got, at := misdeliver(t, tt.fault)
				if !slices.Equal(got, tt.want) {
					t.Errorf("arrived: %v, want %v", got, tt.want)
				}
				if last := slices.Max(at); last != tt.last {
					t.Errorf("the last one arrived after %v, want %v", last, tt.last)
				}
				var states []string
				for _, d := range srv.Deliveries() {
					states = append(states, string(d.State))
				}
				if joined := strings.Join(states, " "); joined != tt.states {
					t.Errorf("states: %s, want %s", joined, tt.states)
				}
			})
		})
	}
}

// A failed attempt is recorded, and the delivery is retried. With AfterProcessing the receiver gets it twice.
func TestFaultAttempts(t *testing.T) {
	for name, tt := range map[string]struct {
		fault   mockserver.Fault
		want    string // the order of the deliveries
		last    time.Duration
		attempt mockserver.Attempt // the first attempt of the second delivery
	}{
		"status": {
			mockserver.Fault{Action: mockserver.FaultStatus, Status: 418, Body: "teapot", Event: "*", Nth: 2},
			"acb", time.Second,
			mockserver.Attempt{Status: 418, Response: "teapot"},
		},
		"default status, of an event": {
			mockserver.Fault{Action: mockserver.FaultStatus, Event: "Contact.Added", Nth: 2},
			"acb", time.Second,
			mockserver.Attempt{Status: 503},
		},
		"no connection": {
			mockserver.Fault{Action: mockserver.FaultReset, WebhookID: "1", Nth: 2},
			"acb", time.Second,
			mockserver.Attempt{Error: "connection lost, injected by a fault rule"},
		},
		"timeout": {
			mockserver.Fault{Action: mockserver.FaultHang, Event: "*", Nth: 2},
			"acb", 11 * time.Second,
			mockserver.Attempt{Error: "no response within 10s", Duration: 10 * time.Second},
		},
		"slow": {
			mockserver.Fault{Action: mockserver.FaultStatus, Event: "*", Nth: 2, Delay: time.Hour},
			"acb", 11 * time.Second,
			mockserver.Attempt{Error: "no response within 10s", Duration: 10 * time.Second},
		},
		"lost response": {
			mockserver.Fault{Action: mockserver.FaultReset, AfterProcessing: true, Event: "*", Nth: 2},
			"abcb", time.Second,
			mockserver.Attempt{Error: "connection lost, injected by a fault rule"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, got, at := misdeliver(t, tt.fault)
				if arrived := strings.Join(got, ""); arrived != tt.want || slices.Max(at) != tt.last {
					t.Errorf("arrived: %s, the last one after %v; want %s, %v", arrived, slices.Max(at), tt.want, tt.last)
				}
				second := srv.Deliveries()[1]
				first := second.Attempts[0]
				first.Time, first.Manual = time.Time{}, false
				if first != tt.attempt || second.State != mockserver.DeliveryDelivered {
					t.Errorf("first attempt %+v, state %s; want %+v, delivered", first, second.State, tt.attempt)
				}
			})
		})
	}
}

// A delivery fails after its last attempt, and each attempt counts.
func TestFaultAllAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, got, _ := misdeliver(t, mockserver.Fault{Action: mockserver.FaultStatus, Event: "*", Times: 3*8 - 1})
		if strings.Join(got, "") != "c" {
			t.Errorf("arrived: %v, want only the last one", got)
		}
		rule := srv.Faults()[0]
		for _, d := range srv.Deliveries() {
			want := mockserver.DeliveryFailed
			if d.Recipient == "c@example.com" {
				want = mockserver.DeliveryDelivered
			}
			if d.State != want || len(d.Attempts) != 8 || d.Fault != rule.ID {
				t.Errorf("%s: %s after %d attempts by %q, want %s after 8", d.Recipient, d.State, len(d.Attempts), d.Fault, want)
			}
		}
		if rule.Hits != 23 || rule.Calls != 24 {
			t.Errorf("%d of %d attempts hit, want 23 of 24", rule.Hits, rule.Calls)
		}
	})
}

// A reordered delivery that fails is retried on the schedule.
func TestFaultReorderRetrySchedule(t *testing.T) {
	for _, tt := range []struct {
		name      string
		redeliver bool // rather than when it has been held long enough
		want      []time.Duration
	}{
		{
			name: "attempted in its time",
			want: []time.Duration{time.Second, 2 * time.Second, 7 * time.Second, 37 * time.Second, 157 * time.Second},
		},
		{
			name:      "asked for again",
			redeliver: true,
			want:      []time.Duration{0, time.Second, 6 * time.Second, 36 * time.Second, 156 * time.Second},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hookServer{answer: func(int) int { return http.StatusInternalServerError }}
				p := newProbe(t, mockserver.Config{Targets: h.targets(), RetrySchedule: mockserver.DefaultRetrySchedule()[:4]})
				p.webhook("SuppressedEmail.Added")
				p.inject(mockserver.Fault{Action: mockserver.FaultReorder, Nth: 1})
				start := time.Now()
				p.must("POST", "/suppressed-emails", `{"email":"held@example.org"}`)
				if tt.redeliver {
					must(t, p.Redeliver("dlv-1"))
				}
				time.Sleep(45 * time.Second) // it waits for its last retry
				p.must("POST", "/suppressed-emails", `{"email":"next@example.org"}`)
				must(t, p.Drain(t.Context()))
				var got []time.Duration
				for _, a := range p.Deliveries()[0].Attempts {
					got = append(got, a.Time.Sub(start))
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("attempts at %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// Each fault action has an alias in mockserver, its targets, a description in the console, and a test.
func TestFaultActionsAreComplete(t *testing.T) {
	var names, values, public []string
	inspect(t, "record", func(_ string, n ast.Node) {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) == 0 {
			return
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "FaultAction" {
			value, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			names, values = append(names, strings.TrimPrefix(spec.Names[0].Name, "Fault")), append(values, value)
		}
	})
	tested := map[string]bool{} // by name or value
	look := func(path string, n ast.Node) {
		test := strings.HasSuffix(path, "_test.go")
		switch n := n.(type) {
		case *ast.ValueSpec:
			if name, ok := strings.CutPrefix(n.Names[0].Name, "Fault"); ok && name != "" && path == "faults.go" && len(n.Values) > 0 {
				public = append(public, name)
			}
		case *ast.SelectorExpr:
			if name, ok := strings.CutPrefix(n.Sel.Name, "Fault"); ok && test {
				tested[name] = true
			}
		case *ast.BasicLit:
			if _, value, ok := strings.Cut(n.Value, `"action":"`); ok && test {
				value, _, _ = strings.Cut(value, `"`)
				tested[value] = true
			}
		}
	}
	inspect(t, ".", look)
	inspect(t, filepath.Join("..", "internal", "tests", "conformance"), look)
	var rows []string
	for _, action := range fault.Actions() {
		rows = append(rows, string(action))
	}
	sameNames(t, "the actions of internal/fault", rows, values)
	sameNames(t, "the constants of package mockserver, without Fault", public, names)
	sameNames(t, "the words of console/static/faults.js", consoleActions(t), values)
	for i, name := range names {
		if !tested[name] && !tested[values[i]] {
			t.Errorf("no test injects %s", values[i])
		}
	}
}

// consoleActions returns the actions that the console describes.
func consoleActions(t *testing.T) (actions []string) {
	t.Helper()
	text, err := os.ReadFile("console/static/faults.js")
	must(t, err)
	_, table, _ := strings.Cut(string(text), "const actions = {")
	table, _, _ = strings.Cut(table, "\n};")
	for _, m := range regexp.MustCompile(`\['(\w+)', '`).FindAllStringSubmatch(table, -1) {
		actions = append(actions, m[1])
	}
	return actions
}

// inspect visits all Go files in a folder.
func inspect(t *testing.T, dir string, look func(path string, n ast.Node)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			ast.Inspect(file, func(n ast.Node) bool { look(path, n); return true })
		}
		return err
	})
	must(t, err)
}

// sameNames reports each name that only one of the two sets contains.
func sameNames(t testing.TB, what string, got, want []string) {
	t.Helper()
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s: %s is missing", what, name)
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("%s: %s is unknown", what, name)
		}
	}
}

// Rules with an account do not apply to requests, messages and deliveries of other accounts.
func TestFaultByAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, mockserver.Config{
			Tokens:  []mockserver.Token{{Value: "one"}, {Value: "two", UserID: 2, AccountID: 2}},
			Targets: receiver(),
		})
		for _, token := range []string{"one", "two"} {
			p.as(token).webhook("SuppressedEmail.Added", "Email.Error")
		}
		for _, rule := range []string{
			`{"account_id":2,"action":"status","operation":"listTags"}`,
			`{"account_id":2,"action":"internal_error"}`,
			`{"account_id":2,"action":"drop","event":"SuppressedEmail.Added"}`,
		} {
			p.must("POST", "/_mock/faults", rule)
		}
		for token, want := range map[string]string{"one": "200 queued delivered", "two": "503 error dropped"} {
			q := p.as(token)
			status := q.do("GET", "/tags", nil).status
			sent := q.must("POST", "/v2/emails", `{"email":"a@example.org","sender":{"email":"b@example.org"},"content":{"subject":"x","text":"x"}}`)
			q.must("POST", "/suppressed-emails", `{"email":"eve@example.org"}`)
			must(t, p.Wait(t.Context()))
			all := p.Deliveries()
			got := fmt.Sprint(status, " ", sent.object["status"], " ", all[len(all)-1].State)
			if got != want {
				t.Errorf("account of token %s: %s, want %s", token, got, want)
			}
		}
		p.must("DELETE", "/_mock/faults?account_id=1", nil)
		if n := len(p.Faults()); n != 3 {
			t.Errorf("%d rules are left, want 3", n)
		}
		p.must("DELETE", "/_mock/faults?account_id=2", nil)
		if n := len(p.Faults()); n != 0 {
			t.Errorf("%d rules are left, want none", n)
		}
	})
}
