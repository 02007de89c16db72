package mockserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// hookServer is a receiver that records deliveries with their times.
type hookServer struct {
	mu     sync.Mutex
	answer func(n int) int // status code of the nth response, from 0
	times  []time.Time
	bodies []string
	sigs   []string
}

func (h *hookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	n := len(h.times)
	h.times = append(h.times, time.Now())
	h.bodies = append(h.bodies, string(body))
	h.sigs = append(h.sigs, r.Header.Get(webhook.DefaultSignatureHeader))
	h.mu.Unlock()
	if h.answer != nil {
		w.WriteHeader(h.answer(n))
	}
}

func (h *hookServer) targets() map[string]http.Handler { return map[string]http.Handler{"app.test": h} }

// since returns the times of the deliveries after start.
func (h *hookServer) since(start time.Time) []time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []time.Duration
	for _, t := range h.times {
		out = append(out, t.Sub(start))
	}
	return out
}

// A rate limit may exceed the int of a 32-bit machine.
func TestRateLimitOver32Bits(t *testing.T) {
	h := &hookServer{}
	p := newProbe(t, mockserver.Config{Targets: h.targets()})
	p.must("POST", "/webhooks", map[string]any{
		"url": "http://app.test/", "events": []events.Name{events.NameSuppressedEmailAdded}, "rate_limit": int64(1<<32 - 1),
	})
	p.must("POST", "/suppressed-emails", `{"email":"a@example.org"}`)
	must(t, p.Wait(t.Context()))
	must(t, p.Restore(strings.NewReader(snapshotOf(t, p.Server))))
	p.must("POST", "/suppressed-emails", `{"email":"b@example.org"}`)
	must(t, p.Wait(t.Context()))
	if len(h.bodies) != 2 {
		t.Errorf("%d deliveries, want 2", len(h.bodies))
	}
}

func TestRedeliver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hookServer{answer: func(n int) int { return []int{200, 500, 200}[n] }}
		p := newProbe(t, mockserver.Config{Targets: h.targets()})
		p.causeDelivery()
		must(t, p.Wait(t.Context()))
		must(t, p.Redeliver(p.Deliveries()[0].ID))
		must(t, p.Drain(t.Context()))
		d := p.Deliveries()[0]
		var manual []bool
		for _, a := range d.Attempts {
			manual = append(manual, a.Manual)
		}
		if d.State != mockserver.DeliveryDelivered || !slices.Equal(manual, []bool{false, true, false}) {
			t.Errorf("%s, manual %v, want delivered, the second alone by hand", d.State, manual)
		}
		if len(h.bodies) != 3 || h.bodies[1] != h.bodies[0] || h.sigs[1] != h.sigs[0] {
			t.Error("the bytes differ")
		}
		if err := p.Redeliver("dlv-99"); err == nil {
			t.Error("an unknown delivery was delivered")
		}
	})
}

// Redeliver starts the retry schedule again. Deliveries without a webhook are not retried.
func TestMaxAttemptsAfterRedeliver(t *testing.T) {
	for _, tt := range []struct {
		name string
		send func(p probe)
		want string // at each attempt, and at the end
	}{
		{
			name: "a webhook",
			send: func(p probe) {
				p.causeDelivery()
			},
			want: "[0 of 3 1 of 3 2 of 3 3 of 6 4 of 6 5 of 6 6 of 6]",
		},
		{
			name: "a URL",
			send: func(p probe) {
				p.must("POST", "/_mock/events", `{"url":"http://app.test/","secret":"s","body":{}}`)
			},
			want: "[0 of 1 1 of 2 2 of 2]",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p probe
				var seen []string
				look := func() {
					d := p.must("GET", "/_mock/deliveries/dlv-1", nil).object
					seen = append(seen, fmt.Sprintf("%d of %v", len(d["attempts"].([]any)), d["max_attempts"]))
				}
				h := &hookServer{answer: func(int) int { look(); return 500 }}
				p = newProbe(t, mockserver.Config{Targets: h.targets(), RetrySchedule: []time.Duration{time.Minute, time.Hour}})
				tt.send(p)
				must(t, p.Drain(t.Context()))
				must(t, p.Redeliver("dlv-1"))
				must(t, p.Drain(t.Context()))
				if look(); fmt.Sprint(seen) != tt.want {
					t.Errorf("got %v, want %s", seen, tt.want)
				}
			})
		})
	}
}

func TestWaitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		p := newProbe(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": hang}})
		p.causeDelivery()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait: %v, want the deadline", err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := p.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "1 deliveries to webhook") {
			t.Errorf("Drain: %v, want the deadline and what is left", err)
		}
	})
}

// Close cancels attempts in progress.
func TestCloseInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := make(chan bool, 1)
		hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { started <- true; <-r.Context().Done() })
		p := newProbe(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": hang}})
		p.causeDelivery()
		<-started
		start := time.Now()
		p.Close()
		p.Close()
		if took := time.Since(start); took != 0 {
			t.Errorf("Close took %v, want no time", took)
		}
	})
}

// Drain on a closed server fails immediately and reports the pending deliveries.
func TestDrainClosedServer(t *testing.T) {
	for name, start := range map[string]func(func()){
		"closed before": func(closeIt func()) { closeIt() },
		"closed while":  func(closeIt func()) { go closeIt() },
	} {
		t.Run(name, func(t *testing.T) {
			h := &hookServer{answer: func(int) int { return http.StatusInternalServerError }}
			p := newProbe(t, mockserver.Config{Targets: h.targets(), RetrySchedule: []time.Duration{time.Hour}})
			p.causeDelivery()
			must(t, p.Wait(t.Context()))
			start(p.Close)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := p.Drain(ctx); err == nil || !strings.Contains(err.Error(), "1 deliveries to webhook") ||
				!strings.Contains(err.Error(), "the server is closed") {
				t.Errorf("got %v, want what is left and that the server is closed", err)
			}
		})
	}
}

// Config.DeliveryConcurrency limits the attempts in progress.
func TestDeliveryConcurrency(t *testing.T) {
	for given, want := range map[int]int{0: 4, -1: 4, 2: 2, 50: 12} {
		t.Run(fmt.Sprint(given), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hookServer{}
				hang := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					h.ServeHTTP(w, r)
					<-r.Context().Done()
				})
				p := newProbe(t, mockserver.Config{
					Targets: map[string]http.Handler{"app.test": hang}, DeliveryConcurrency: given,
				})
				p.webhook(events.NameSuppressedEmailAdded)
				for i := range 12 {
					p.must("POST", "/suppressed-emails", fmt.Sprintf(`{"email":"a%d@example.org"}`, i))
				}
				synctest.Wait()
				if got := len(h.since(time.Now())); got != want {
					t.Errorf("%d attempts are under way, want %d", got, want)
				}
			})
		})
	}
}

func TestRetryDuringOtherDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hookServer{}
		first := true
		receiver := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.mu.Lock()
			fails := first
			first = false
			h.mu.Unlock()
			h.ServeHTTP(w, r)
			if fails {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			time.Sleep(9 * time.Second)
		})
		p := newProbe(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": receiver}, DeliveryConcurrency: 2})
		p.webhook(events.NameSuppressedEmailAdded)
		start := time.Now()
		p.must("POST", "/suppressed-emails", `{"email":"a@example.org"}`)
		synctest.Wait()
		p.must("POST", "/suppressed-emails", `{"email":"b@example.org"}`)
		must(t, p.Drain(t.Context()))
		if got, want := h.since(start), []time.Duration{0, 0, time.Second}; !slices.Equal(got, want) {
			t.Errorf("attempts at %v, want %v: the retry beside the other delivery", got, want)
		}
	})
}

// A reordered delivery arrives after the next one, even if both could be attempted at the same time.
func TestReorderConcurrentDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var done []string
		slow := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			time.Sleep(3 * time.Second)
			mu.Lock()
			defer mu.Unlock()
			done = append(done, string(body[strings.Index(string(body), "@")-1:][:1]))
		})
		p := newProbe(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": slow}})
		p.webhook(events.NameSuppressedEmailAdded)
		p.inject(mockserver.Fault{Action: mockserver.FaultReorder, Nth: 1, Delay: time.Minute})
		for _, name := range []string{"a", "b"} {
			p.must("POST", "/suppressed-emails", `{"email":"`+name+`@example.org"}`)
		}
		start := time.Now()
		must(t, p.Drain(t.Context()))
		if want := []string{"b", "a"}; !slices.Equal(done, want) || time.Since(start) != 6*time.Second {
			t.Errorf("%q after %v, want %q one after the other", done, time.Since(start), want)
		}
	})
}

// A response that does not end in time is a failure, whatever its status. If the connection is lost, the status counts.
func TestIncompleteResponse(t *testing.T) {
	for name, row := range map[string]struct {
		goOn    func(http.ResponseWriter, *http.Request)
		state   mockserver.DeliveryState
		problem string
		failed  int64
	}{
		"hangs": {
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			mockserver.DeliveryRetrying, "no response within 10s", 1,
		},
		"breaks off": {
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			mockserver.DeliveryDelivered, "", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.WriteString(w, "recei")
					_ = http.NewResponseController(w).Flush()
					row.goOn(w, r)
				})
				p := newProbe(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": begin}})
				p.causeDelivery()
				must(t, p.Wait(t.Context()))
				d := p.Deliveries()[0]
				if a := d.Attempts[0]; d.State != row.state || a.Status != 200 || a.Error != row.problem || a.Response != "recei" {
					t.Errorf("%s after %+v, want %s and %q", d.State, a, row.state, row.problem)
				}
				if got := p.overview("").Failed; got != row.failed {
					t.Errorf("%d attempts failed, want %d", got, row.failed)
				}
			})
		})
	}
}

func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		p := newProbe(t, mockserver.Config{
			Targets:        map[string]http.Handler{"app.test": hang},
			RetrySchedule:  []time.Duration{},
			AttemptTimeout: 1500 * time.Millisecond,
		})
		p.causeDelivery()
		must(t, p.Wait(t.Context()))
		if a := p.Deliveries()[0].Attempts[0]; a.Duration != 1500*time.Millisecond || a.Error != "no response within 1.5s" {
			t.Errorf("got %+v, want no response within 1.5s", a)
		}
	})
}
