package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// TestFlood delivers as the platform does when everything goes wrong: 30 % of the calls fail, 10 % of the connections
// are cut after handling, so that the sender does not learn of it, and 10 % of the deliveries come twice at the same
// moment, to two of three receivers that share one store. Every event must be handled successfully exactly once.
func TestFlood(t *testing.T) {
	deliveries := 100_000
	if testing.Short() {
		deliveries = 10_000
	}
	f := &flood{handled: make([]atomic.Int32, deliveries)}
	opts := webhook.Options{
		Once:    webhook.NewMemoryOnce(webhook.MemoryOnceOptions{}),
		Logger:  slog.New(slog.DiscardHandler),
		Observe: f.count,
	}
	for range 3 {
		f.receivers = append(f.receivers, webhook.NewHandler(newVerifier(t, secret), f.handle, opts))
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range next {
				f.deliverUntilSuccess(t, i)
			}
		})
	}
	for i := range deliveries {
		next <- i
	}
	close(next)
	wg.Wait()
	f.check(t)
}

type flood struct {
	receivers []http.Handler
	handled   []atomic.Int32 // for each event, how often it was handled successfully

	failed, panicked, cut, doubled, duplicates, inFlight, succeeded atomic.Int32
}

func chance(percent int) bool { return rand.IntN(100) < percent }

// handle is what the application does: it fails, or counts.
func (f *flood) handle(_ context.Context, ev *events.Event) error {
	var i int
	if _, err := fmt.Sscanf(ev.ID, "event-%d", &i); err != nil {
		return err
	}
	runtime.Gosched() // let the duplicate catch up
	switch {
	case chance(10):
		f.panicked.Add(1)
		panic("the application fails")
	case chance(22): // of the other 90 %: together 30 %
		f.failed.Add(1)
		return errFunction
	}
	f.handled[i].Add(1)
	return nil
}

func (f *flood) count(_ context.Context, o webhook.Outcome) {
	switch {
	case o.Duplicate:
		f.duplicates.Add(1)
	case errors.Is(o.Err, webhook.ErrInFlight):
		f.inFlight.Add(1)
	case o.Err == nil:
		f.succeeded.Add(1)
	}
}

func (f *flood) deliverUntilSuccess(t *testing.T, i int) {
	for attempt, delivered := 1, false; !delivered; attempt++ {
		if attempt > 200 {
			t.Errorf("event %d: lost, no success in 200 attempts", i)
			return
		}
		copies := 1
		if chance(10) {
			copies = 2
			f.doubled.Add(1)
		}
		var wg sync.WaitGroup
		answers := make([]bool, copies)
		for c := range copies {
			wg.Go(func() { answers[c] = f.deliver(t, i) })
		}
		wg.Wait()
		for _, success := range answers {
			delivered = delivered || success
		}
	}
}

// deliver makes one attempt and reports whether the sender learns that it succeeded.
func (f *flood) deliver(t *testing.T, i int) bool {
	req := newRequest(t, fmt.Sprintf(`{"id":"event-%d","event":"Email.Error","data":{"error":"internal error;"}}`, i))
	code := serve(f.receivers[rand.IntN(len(f.receivers))], req).Code
	success := code >= 200 && code < 300
	if success && f.handled[i].Load() != 1 {
		t.Errorf("event %d: answered with success when it had been handled %d times", i, f.handled[i].Load())
	}
	if success && chance(10) {
		f.cut.Add(1)
		return false
	}
	return success
}

func (f *flood) check(t *testing.T) {
	for i := range f.handled {
		if n := f.handled[i].Load(); n != 1 {
			t.Errorf("event %d: handled %d times", i, n)
		}
	}
	if int(f.succeeded.Load()) != len(f.handled) {
		t.Errorf("%d first successes for %d events", f.succeeded.Load(), len(f.handled))
	}
	for name, n := range map[string]*atomic.Int32{
		"failed": &f.failed, "panicked": &f.panicked, "cut after handling": &f.cut, "doubled": &f.doubled,
		"duplicates of handled events": &f.duplicates, "refused in flight": &f.inFlight,
	} {
		if n.Load() == 0 {
			t.Errorf("%s: none, so that nothing was tested", name)
		}
		t.Logf("%s: %d", name, n.Load())
	}
}
