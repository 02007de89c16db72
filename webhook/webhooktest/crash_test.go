package webhooktest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/webhook"
)

var errDown = errors.New("the store is down")

// leased is a simple shared store: a started key is free after its lease, unless it was handled.
type leased struct {
	shared *table
	faults faults
	down   atomic.Bool
}

type table struct {
	mu      sync.Mutex
	until   map[string]time.Time // end of each lease
	handled map[string]bool
}

func newTable() *table { return &table{until: map[string]time.Time{}, handled: map[string]bool{}} }

// faults are faults of the store.
type faults struct {
	forgetsInSilence, keepsForEver, runsUnasked, handledFirst, takesDownForBusy bool
}

func (s *leased) crash() { s.down.Store(true) }

func (s *leased) begin(key string) (handled bool, err error) {
	if s.down.Load() {
		if s.faults.takesDownForBusy {
			return false, webhook.ErrInFlight
		}
		return false, errDown
	}
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	if s.shared.handled[key] {
		return true, nil
	}
	if time.Now().Before(s.shared.until[key]) {
		return false, webhook.ErrInFlight
	}
	lease := 300 * time.Millisecond // TestSharedStore waits for its end
	if s.faults.keepsForEver {
		lease = time.Hour
	}
	s.shared.until[key] = time.Now().Add(lease)
	s.shared.handled[key] = s.faults.handledFirst
	return false, nil
}

func (s *leased) Do(ctx context.Context, key string, fn func(context.Context) error) (bool, error) {
	handled, err := s.begin(key)
	if handled || err != nil && !s.faults.runsUnasked {
		return false, err
	}
	if err := fn(ctx); err != nil {
		return true, err
	}
	if s.down.Load() {
		if s.faults.forgetsInSilence {
			return true, nil
		}
		return true, errDown
	}
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	s.shared.handled[key] = true
	return true, nil
}

// TestCrashRules: exactly the named rules report a store with a fault.
func TestCrashRules(t *testing.T) {
	const (
		remembering = "crash before the success is recorded"
		failure     = "crash before the failure is recorded"
		down        = "store that is down runs nothing"
	)
	for _, tt := range []struct {
		name     string
		faults   faults
		reported []string
	}{
		{"none", faults{}, nil},
		{"forgets in silence", faults{forgetsInSilence: true}, []string{remembering}},
		{"keeps keys for ever", faults{keepsForEver: true}, []string{remembering, failure}},
		{"runs what it cannot ask for", faults{runsUnasked: true}, []string{down}},
		{"remembers before it is handled", faults{handledFirst: true}, []string{remembering, failure}},
		{"takes a store that is down for a busy one", faults{takesDownForBusy: true}, []string{down}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var reported []string
			for _, r := range crashRules {
				synctest.Test(t, func(t *testing.T) {
					shared := newTable()
					dying, other := &leased{shared: shared, faults: tt.faults}, &leased{shared: shared, faults: tt.faults}
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					if r.check(ctx, dying, dying.crash, other) != nil {
						reported = append(reported, r.name)
					}
				})
			}
			if !slices.Equal(reported, tt.reported) {
				t.Errorf("reported by %q, want %q", reported, tt.reported)
			}
		})
	}
}

func TestSharedStore(t *testing.T) {
	shared := newTable()
	TestCrash(t, func(*testing.T) (webhook.Once, func()) {
		s := &leased{shared: shared}
		return s, s.crash
	})
}
