package mockserver_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// hookServer is a receiver that records deliveries with their times.
type hookServer struct {
	mu     sync.Mutex
	status func(n int) int // status code of the nth response, from 0
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
	if h.status != nil {
		w.WriteHeader(h.status(n))
	}
}

func (h *hookServer) targets() map[string]http.Handler { return map[string]http.Handler{"app.test": h} }

// since returns the times of the deliveries, relative to start.
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
	require.NoError(t, p.Wait(t.Context()))
	require.NoError(t, p.Restore(strings.NewReader(snapshotOf(t, p.Server))))
	p.must("POST", "/suppressed-emails", `{"email":"b@example.org"}`)
	require.NoError(t, p.Wait(t.Context()))
	assert.Len(t, h.bodies, 2, "deliveries")
}

func TestRedeliver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hookServer{status: func(n int) int { return []int{200, 500, 200}[n] }}
		p := newProbe(t, mockserver.Config{Targets: h.targets()})
		p.causeDelivery()
		require.NoError(t, p.Wait(t.Context()))
		require.NoError(t, p.Redeliver("dlv-1"))
		require.NoError(t, p.Drain(t.Context()))
		d := p.Deliveries()[0]
		if a := d.Attempts; d.State != mockserver.DeliveryDelivered || len(a) != 3 || a[0].Manual || !a[1].Manual || a[2].Manual {
			t.Errorf("got %s after %+v, want delivered, and only the second attempt manual", d.State, a)
		}
		if len(h.bodies) != 3 || h.bodies[1] != h.bodies[0] || h.sigs[1] != h.sigs[0] {
			t.Error("the bytes differ")
		}
		assert.Error(t, p.Redeliver("dlv-99"), "Redeliver accepts an unknown delivery")
	})
}

// Config.DeliveryConcurrency limits the attempts in progress.
func TestDeliveryConcurrency(t *testing.T) {
	for given, want := range map[int]int{0: 4, -1: 4, 2: 2, 50: 12} {
		synctest.Test(t, func(t *testing.T) {
			var started atomic.Int64
			hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { started.Add(1); <-r.Context().Done() })
			p := newProbe(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": hang}, DeliveryConcurrency: given})
			p.webhook(events.NameSuppressedEmailAdded)
			for i := range 12 {
				p.must("POST", "/suppressed-emails", fmt.Sprintf(`{"email":"a%d@example.org"}`, i))
			}
			synctest.Wait()
			if got := int(started.Load()); got != want {
				t.Errorf("concurrency %d: %d attempts are in progress, want %d", given, got, want)
			}
		})
	}
}

// An attempt fails if its response does not end in time, even if the status is 200. But if the connection is lost
// after the status, the status decides.
func TestIncompleteResponse(t *testing.T) {
	for hangs, want := range map[bool]struct {
		state  mockserver.DeliveryState
		error  string
		failed int64
	}{
		true:  {mockserver.DeliveryRetrying, "no response within 1.5s", 1},
		false: {mockserver.DeliveryDelivered, "", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, "recei")
				_ = http.NewResponseController(w).Flush()
				if hangs {
					<-r.Context().Done()
					return
				}
				panic(http.ErrAbortHandler)
			})
			p := newProbe(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": begin}, AttemptTimeout: 1500 * time.Millisecond})
			p.causeDelivery()
			require.NoError(t, p.Wait(t.Context()))
			d := p.Deliveries()[0]
			if a := d.Attempts[0]; d.State != want.state || a.Status != 200 || a.Error != want.error || a.Response != "recei" {
				t.Errorf("hangs %v: %s after %+v, want %+v", hangs, d.State, a, want)
			}
			if got := p.overview("").Failed; got != want.failed {
				t.Errorf("hangs %v: %d attempts failed, want %d", hangs, got, want.failed)
			}
		})
	}
}

// A retry does not wait for another delivery.
func TestRetryDuringOtherDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hookServer{status: func(n int) int {
			if n == 0 {
				return http.StatusInternalServerError
			}
			time.Sleep(9 * time.Second)
			return http.StatusOK
		}}
		p := newProbe(t, mockserver.Config{Targets: h.targets(), DeliveryConcurrency: 2})
		p.webhook(events.NameSuppressedEmailAdded)
		start := time.Now()
		p.must("POST", "/suppressed-emails", `{"email":"a@example.org"}`)
		synctest.Wait()
		p.must("POST", "/suppressed-emails", `{"email":"b@example.org"}`)
		require.NoError(t, p.Drain(t.Context()))
		assert.Equal(t, []time.Duration{0, 0, time.Second}, h.since(start), "attempts at")
	})
}
