package delivery_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
)

// A rate limit may exceed the int of a 32-bit machine.
func TestRateLimitOver32Bits(t *testing.T) {
	h := &probe.Receiver{}
	p := probe.New(t, mockserver.Config{Targets: h.Targets()})
	p.Post("/webhooks", map[string]any{
		"url": "http://app.test/", "events": []events.Name{events.NameSuppressedEmailAdded}, "rate_limit": int64(1<<32 - 1),
	}).OK()
	p.Post("/suppressed-emails", `{"email":"a@example.org"}`).OK()
	require.NoError(t, p.Wait(t.Context()))
	require.NoError(t, p.Restore(strings.NewReader(p.State())))
	p.Post("/suppressed-emails", `{"email":"b@example.org"}`).OK()
	require.NoError(t, p.Wait(t.Context()))
	assert.Len(t, h.Bodies, 2, "deliveries")
}

func TestRedeliver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &probe.Receiver{Status: func(n int) int { return []int{200, 500, 200}[n] }}
		p := probe.New(t, mockserver.Config{Targets: h.Targets()})
		p.CauseDelivery()
		require.NoError(t, p.Wait(t.Context()))
		require.NoError(t, p.Redeliver("dlv-1"))
		require.NoError(t, p.Drain(t.Context()))
		d := p.Deliveries()[0]
		assert.Equal(t, mockserver.DeliveryDelivered, d.State)
		var manual []bool
		for _, a := range d.Attempts {
			manual = append(manual, a.Manual)
		}
		assert.Equal(t, []bool{false, true, false}, manual)
		require.Len(t, h.Bodies, 3)
		assert.Equal(t, h.Bodies[0], h.Bodies[1])
		assert.Equal(t, h.Signatures[0], h.Signatures[1])
		assert.Error(t, p.Redeliver("dlv-99"), "Redeliver accepts an unknown delivery")
	})
}

// Config.DeliveryConcurrency limits the attempts in progress.
func TestDeliveryConcurrency(t *testing.T) {
	for given, want := range map[int]int{0: 4, -1: 4, 2: 2, 50: 12} {
		synctest.Test(t, func(t *testing.T) {
			var started atomic.Int64
			hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { started.Add(1); <-r.Context().Done() })
			p := probe.New(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": hang}, DeliveryConcurrency: given})
			p.Webhook(events.NameSuppressedEmailAdded)
			for i := range 12 {
				p.Post("/suppressed-emails", fmt.Sprintf(`{"email":"a%d@example.org"}`, i)).OK()
			}
			synctest.Wait()
			if got := int(started.Load()); got != want {
				t.Errorf("concurrency %d: %d attempts are in progress, want %d", given, got, want)
			}
		})
	}
}

// An attempt fails if its response does not end in time, even if the status is 200. But if the connection is lost
// after the status, only the status determines the result.
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
			p := probe.New(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": begin}, AttemptTimeout: 1500 * time.Millisecond})
			p.CauseDelivery()
			require.NoError(t, p.Wait(t.Context()))
			d := p.Deliveries()[0]
			a := d.Attempts[0]
			assert.Equal(t, want.state, d.State, "hangs %v", hangs)
			assert.Equal(t, mockserver.Attempt{Time: a.Time, Duration: a.Duration, Status: 200, Error: want.error, Response: "recei"}, a)
			assert.Equal(t, want.failed, p.Get("/_mock/overview").Int("failed"), "hangs %v: failed attempts", hangs)
		})
	}
}

// A retry does not wait for another delivery.
func TestRetryDuringOtherDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &probe.Receiver{Status: func(n int) int {
			if n == 0 {
				return http.StatusInternalServerError
			}
			time.Sleep(9 * time.Second)
			return http.StatusOK
		}}
		p := probe.New(t, mockserver.Config{Targets: h.Targets(), DeliveryConcurrency: 2})
		p.Webhook(events.NameSuppressedEmailAdded)
		start := time.Now()
		p.Post("/suppressed-emails", `{"email":"a@example.org"}`).OK()
		synctest.Wait()
		p.Post("/suppressed-emails", `{"email":"b@example.org"}`).OK()
		require.NoError(t, p.Drain(t.Context()))
		assert.Equal(t, []time.Duration{0, 0, time.Second}, h.Since(start), "attempts at")
	})
}
