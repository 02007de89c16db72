package mailroom

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
)

// TestRetryFor: if the platform does not accept an email during RetryFor, the outcome is Failed.
func TestRetryFor(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultStatus, Status: 403})
		f.enqueue("1", "ada@example.org")
		time.Sleep(23 * time.Hour)
		assert.Empty(t, f.got())
		time.Sleep(2 * time.Hour)
		assert.Equal(t, []string{"failed ada@example.org 1"}, f.got())
		f.platform.ClearFaults()
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Second)
		assert.Equal(t, []string{"failed ada@example.org 1", "sent ada@example.org 1"}, f.got())
	})
}

// TestInternalError: an email with the status "error" is sent again, and does not pause other emails. The event about the
// status is not an outcome.
func TestInternalError(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.inject(mockserver.Fault{Action: mockserver.FaultInternalError, Times: 1})
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Second)
		f.enqueue("2", "ada@example.org")
		time.Sleep(10 * time.Second)
		assert.Equal(t, []string{"sent ada@example.org 2"}, f.got())
		time.Sleep(10 * time.Minute)
		assert.Equal(t, []string{"sent ada@example.org 1", "sent ada@example.org 2"}, f.got())
	})
}

// TestLaterOutcome: if OnNotice fails for an outcome, and another outcome follows, OnNotice receives the later
// outcome.
func TestLaterOutcome(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := &testStore{MemoryStore: NewMemoryStore()}
		f.store = s
		failures := 0
		f.fail = func(n Notice) bool {
			if n.Reason == Unknown {
				failures++
			}
			return n.Reason == Unknown
		}
		s.ended = func(err error) {
			if err != nil && failures == 1 {
				failures++
				assert.True(t, check.Need(f.room.Resolve(t.Context(), "1", true))(t))
			}
		}
		f.start()
		f.loseResponses(1)
		f.enqueue("1", "ada@example.org")
		time.Sleep(10 * time.Minute)
		assert.Equal(t, []string{"sent ada@example.org 1"}, f.got())
	})
}

// TestOutcomeRecorded: an outcome is recorded after a failure of the store that is longer than the lease.
func TestOutcomeRecorded(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := &testStore{MemoryStore: NewMemoryStore()}
		f.store = s
		var up atomic.Bool
		s.fails = func() bool { return !up.Load() && len(f.platform.Outbox()) > 0 }
		f.start()
		f.enqueue("1", "ada@example.org")
		time.Sleep(5 * time.Minute)
		assert.Empty(t, f.got())
		up.Store(true)
		time.Sleep(2 * time.Minute)
		assert.Contains(t, f.got(), "sent ada@example.org 1")
	})
}

// TestUnknownOnce: the lease of a request ends before the loss of its response is recorded. OnNotice receives the
// unknown outcome only once.
func TestUnknownOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		require.NoError(t, f.room.Close())
		f.enqueue("1", "ada@example.org")
		m := f.claimed("1")
		f.start()
		time.Sleep(time.Minute)
		require.NoError(t, f.room.storeResult(t.Context(), "1", m, client.SubmittedEmail{}, client.ErrOutcomeUnknown))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"unknown ada@example.org 1"}, f.got())
	})
}

// TestLeaseBehindBacklog: after a process was killed while it sent an email, the outcome of this email becomes unknown when
// the lease ends. Neither emails that were queued earlier nor a pause delays this.
func TestLeaseBehindBacklog(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		require.NoError(t, f.room.Close())
		for i := range 100 {
			f.enqueue(fmt.Sprint(i), "ada@example.org")
		}
		f.claimed("99")
		f.setTransport(slowTransport{f.platform.Transport(), 10 * time.Second})
		f.start(func(o *Options) { o.Workers = 1 })
		time.Sleep(time.Minute)
		assert.Contains(t, f.got(), "unknown ada@example.org 99")
	})
}

// TestKeepSent: a key can be used again after KeepSent.
func TestKeepSent(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start(func(o *Options) { o.KeepSent = time.Hour })
		for _, want := range []int{1, 1, 2} {
			f.enqueue("1", "ada@example.org")
			time.Sleep(40 * time.Minute)
			assert.Equal(t, want, len(f.platform.Outbox()))
		}
	})
}
