package webhook

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"testing"

	"example.com/emailplatform/events"
)

var floodSize = flag.Int("flood.events", 10_000, "how many events a flood has")

// TestFlood: eight senders deliver events concurrently. Each sender repeats an event until a delivery succeeds. In
// the end, each event has been handled successfully once.
func TestFlood(t *testing.T) {
	f := newFlood(t)
	next := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range next {
				f.deliverUntilSuccess(t, fmt.Sprintf(`{"id":"event-%d","event":"Email.Error","data":{"error":"internal error;"}}`, i))
			}
		})
	}
	for i := range *floodSize {
		next <- i
	}
	close(next)
	wg.Wait()
	for key, n := range f.handled {
		if n != 1 {
			t.Errorf("event %s: handled %d times", key, n)
		}
	}
	if len(f.handled) != *floodSize || f.counts["succeeded"] != *floodSize {
		t.Errorf("%d events handled, %d first successes; want %d", len(f.handled), f.counts["succeeded"], *floodSize)
	}
	for _, failure := range []string{"failed", "panicked", "cut", "doubled", "duplicate", "in flight"} {
		if f.counts[failure] == 0 {
			t.Errorf("the failure %q never happened: %v", failure, f.counts)
		}
	}
}

// flood adds failures to deliveries. Of the calls to the function, 30 % fail, a third of them by a panic. Of the
// connections, 10 % are closed after handling, and 10 % of the deliveries have a simultaneous duplicate. All
// receivers share one store.
type flood struct {
	receivers []http.Handler

	mu      sync.Mutex
	handled map[string]int // successful calls to the function by key
	counts  map[string]int
}

func newFlood(t *testing.T) *flood {
	f := &flood{handled: map[string]int{}, counts: map[string]int{}}
	opts := Options{Once: NewMemoryOnce(MemoryOnceOptions{}), Logger: slog.New(slog.DiscardHandler), Observe: f.observe}
	for range 3 {
		f.receivers = append(f.receivers, NewHandler(newVerifier(t, testSecret), f.handle, opts))
	}
	return f
}

func (f *flood) deliverUntilSuccess(t *testing.T, body string) {
	for range 200 {
		if f.deliver(t, body) {
			return
		}
	}
	t.Errorf("no success in 200 attempts: %s", body)
}

// deliver reports whether the sender sees a success.
func (f *flood) deliver(t *testing.T, body string) bool {
	statuses := make([]int, 1, 2)
	if f.happens(10, "doubled") {
		statuses = statuses[:2]
	}
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() { statuses[i] = serve(f.receivers[rand.IntN(len(f.receivers))], newRequest(t, body)).Code })
	}
	wg.Wait()
	return statuses[0] == http.StatusNoContent && !f.happens(10, "cut")
}

func (f *flood) handle(ctx context.Context, _ *events.Event) error {
	runtime.Gosched() // the duplicate may catch up
	switch {
	case f.happens(10, "panicked"):
		panic("the application fails")
	case f.happens(22, "failed"): // of the other 90 %: together 30 %
		return errFunction
	}
	d, _ := FromContext(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handled[d.Key]++
	return nil
}

// happens reports whether an injected failure happens, and counts it.
func (f *flood) happens(percent int, failure string) bool {
	if rand.IntN(100) >= percent {
		return false
	}
	f.count(failure)
	return true
}

func (f *flood) count(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[what]++
}

func (f *flood) observe(_ context.Context, o Outcome) {
	switch {
	case o.Duplicate:
		f.count("duplicate")
	case errors.Is(o.Err, ErrInFlight):
		f.count("in flight")
	case o.Err == nil:
		f.count("succeeded")
	}
}
