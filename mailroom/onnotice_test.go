package mailroom

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

// TestFailedCommit: a notice whose transaction is not committed waits longer and longer, and does not block the others.
func TestFailedCommit(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := &testStore{MemoryStore: NewMemoryStore()}
		f.store = s
		bad, calls := false, 0
		s.fails = func() bool { was := bad; bad = false; return was }
		f.fail = func(n Notice) bool {
			if bad = n.Key == "bad"; bad {
				calls++
			}
			return false
		}
		f.start()
		f.enqueue("bad", "ada@example.org")
		time.Sleep(time.Second)
		f.enqueue("good", "ada@example.org")
		time.Sleep(10 * time.Minute)
		assert.Contains(t, f.got(), "sent ada@example.org good")
		assert.Equal(t, 9, calls, "after 0, 2, 6, 14, … 510 s")
	})
}

// TestOnNoticeExits: a call of OnNotice that exits or panics fails, and its worker continues.
func TestOnNoticeExits(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		ends := []func(){runtime.Goexit, func() { panic("locked") }}
		f.fail = func(Notice) bool {
			if len(ends) > 0 {
				end := ends[0]
				ends = ends[1:]
				end()
			}
			return false
		}
		f.start()
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"sent ada@example.org 1"}, f.got())
	})
}

// TestOrderOfNotices: the bounce arrives before the response to the request that sent the email, and the first calls
// of OnNotice fail. Nevertheless, OnNotice receives the outcome before the bounce, the bounce has the key, and the
// address is suppressed immediately.
func TestOrderOfNotices(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.setTransport(slowTransport{f.platform.Transport(), 5 * time.Second})
		calls := 0
		f.fail = func(n Notice) bool { calls++; return n.Reason == Sent && calls <= 3 }
		f.start()
		f.enqueue("1", "bounce+hb@mock.test")
		time.Sleep(3 * time.Second)
		assert.Equal(t, HardBounce, check.Need(f.room.Suppression(t.Context(), "bounce+hb@mock.test"))(t))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"sent bounce+hb@mock.test 1", "hard_bounce bounce+hb@mock.test 1"}, f.inOrder())
	})
}

// TestWaitForOverdueOutcome: a notice waits for the outcome of its key, even if the notice about the outcome is
// overdue.
func TestWaitForOverdueOutcome(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.room = check.Need(New(f.c, f.store, f.opts))(t)
		require.NoError(t, f.room.update(t.Context(), func(s *storeTx) {
			s.put(Item{Kind: kindNotice, Key: outcomeKey("1"), Due: time.Now().Add(-time.Minute)})
			assert.True(t, s.waitForOutcome(Item{Kind: kindNotice, Key: "event:1"}, Notice{Key: "1"}))
			it, _ := s.get(kindNotice, "event:1")
			assert.Equal(t, time.Second, time.Until(it.Due))
		}))
	})
}

// TestNoticeTimeout: if the time of a job ends during OnNotice, the notice waits longer after each job, as after an error.
func TestNoticeTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.opts.OnNotice = func(ctx context.Context, _ Notice) error {
			<-ctx.Done()
			return ctx.Err()
		}
		f.start(func(o *Options) { o.External = true })
		require.NoError(t, f.room.update(t.Context(), func(s *storeTx) { s.putNotice("1", Notice{Reason: HardBounce}) }))
		for _, want := range []time.Duration{2 * time.Second, 4 * time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			assert.Zero(t, check.Need(f.room.Work(ctx, kindNotice, "1"))(t))
			cancel()
			wait := check.Need(f.room.Work(t.Context(), kindNotice, "1"))(t)
			assert.InDelta(t, want, wait, float64(10*time.Millisecond))
			time.Sleep(wait)
		}
	})
}
