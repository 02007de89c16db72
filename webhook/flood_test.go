package webhook

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/emailplatform/events"
)

var floodSize = flag.Int("flood.events", 10_000, "how many events a flood has")

// TestFlood: eight senders deliver concurrently. Each repeats an event until it succeeds.
func TestFlood(t *testing.T) {
	f := newFlood(t, testSecret)
	next := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range next {
				body := fmt.Sprintf(`{"id":"event-%d","event":"Email.Error","data":{"error":"internal error;"}}`, i)
				f.deliverUntilSuccess(t, body)
			}
		})
	}
	for i := range *floodSize {
		next <- i
	}
	close(next)
	wg.Wait()
	f.check(t, *floodSize)
}

func (f *flood) deliverUntilSuccess(t *testing.T, body string) {
	for range 200 {
		if f.attempt(newRequest(t, body)) {
			return
		}
	}
	t.Errorf("lost, no success in 200 attempts: %s", body)
}

func (f *flood) attempt(req *http.Request) (success bool) {
	w := httptest.NewRecorder()
	defer func() {
		if recover() == http.ErrAbortHandler { // the connection is cut
			success = false
		}
	}()
	f.ServeHTTP(w, req)
	return w.Code/100 == 2
}

// flood adds failures to deliveries: 30 % of the calls fail, a third of them by a panic; 10 % of the connections are
// closed after handling; 10 % of the deliveries arrive twice at the same time, at two of three receivers with one
// store.
type flood struct {
	receivers []http.Handler

	mu      sync.Mutex
	handled map[string]int // by key: how often the application handled that event successfully

	failed, panicked, cut, doubled, duplicates, inFlight, succeeded atomic.Int32
}

func newFlood(t *testing.T, secrets ...Secret) *flood {
	f := &flood{handled: map[string]int{}}
	opts := Options{
		Once:    NewMemoryOnce(MemoryOnceOptions{}),
		Logger:  slog.New(slog.DiscardHandler),
		Observe: f.observe,
	}
	for range 3 {
		f.receivers = append(f.receivers, NewHandler(newVerifier(t, secrets...), f.handle, opts))
	}
	return f
}

func chance(percent int) bool { return rand.IntN(100) < percent }

func (f *flood) handle(ctx context.Context, _ *events.Event) error {
	runtime.Gosched() // let the duplicate catch up
	switch {
	case chance(10):
		f.panicked.Add(1)
		panic("the application fails")
	case chance(22): // of the other 90 %: together 30 %
		f.failed.Add(1)
		return errFunction
	}
	d, _ := FromContext(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handled[d.Key]++
	return nil
}

func (f *flood) observe(_ context.Context, o Outcome) {
	switch {
	case o.Duplicate:
		f.duplicates.Add(1)
	case errors.Is(o.Err, ErrInFlight):
		f.inFlight.Add(1)
	case o.Err == nil:
		f.succeeded.Add(1)
	}
}

func (f *flood) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	copies := []http.ResponseWriter{w}
	if chance(10) {
		f.doubled.Add(1)
		copies = append(copies, httptest.NewRecorder())
		if chance(50) {
			slices.Reverse(copies) // the sender sees now the first, now the second
		}
	}
	var wg sync.WaitGroup
	for _, w := range copies {
		wg.Go(func() {
			again := r.Clone(r.Context())
			again.Body = io.NopCloser(bytes.NewReader(body))
			f.receivers[rand.IntN(len(f.receivers))].ServeHTTP(w, again)
		})
	}
	wg.Wait()
	if chance(10) {
		f.cut.Add(1)
		panic(http.ErrAbortHandler)
	}
}

func (f *flood) check(t *testing.T, want int) {
	for key, n := range f.handled {
		if n != 1 {
			t.Errorf("event %s: handled %d times", key, n)
		}
	}
	if len(f.handled) != want || int(f.succeeded.Load()) != want {
		t.Errorf("%d events handled, %d first successes; want %d", len(f.handled), f.succeeded.Load(), want)
	}
	happened := map[string]int32{
		"failed": f.failed.Load(), "panicked": f.panicked.Load(), "cut": f.cut.Load(), "doubled": f.doubled.Load(),
		"handled before": f.duplicates.Load(), "in flight": f.inFlight.Load(),
	}
	t.Log(happened)
	for n := range maps.Values(happened) {
		if n == 0 {
			t.Error("one of these never happened, so that it was not tested")
		}
	}
}
