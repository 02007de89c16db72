package mailroom

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

// TestLostResponse: the outcome is unknown until an event resolves it, and the email is not sent again.
func TestLostResponse(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.loseResponses(1)
		f.enqueue("17", "ada@example.org")
		time.Sleep(10 * time.Second)
		assert.Equal(t, []string{"unknown ada@example.org 17"}, f.got())
		f.enqueue("17", "ada@example.org")
		f.enqueue("18", "ada@example.org") // sent after the pause
		time.Sleep(2 * time.Minute)
		require.Equal(t, 2, len(f.platform.Outbox()))
		for _, m := range f.platform.Outbox() {
			require.NoError(t, f.platform.Open(m.ID))
		}
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"sent ada@example.org 17", "sent ada@example.org 18", "unknown ada@example.org 17"}, f.got())
		assert.Equal(t, 2, len(f.platform.Outbox()))
	})
}

// TestCrash: a process that ends during a request leaves an unknown outcome, and an operator decides.
func TestCrash(t *testing.T) {
	for _, wasSent := range []bool{false, true} {
		inBubble(t, func(t *testing.T, f *fixture) {
			f.start()
			require.NoError(t, f.room.Close())
			f.enqueue("1", "ada@example.org")
			f.claimed("1")
			f.start()
			time.Sleep(time.Minute)
			assert.Equal(t, []string{"unknown ada@example.org 1"}, f.got())
			assert.Equal(t, 0, len(f.platform.Outbox()))
			open := check.Need(f.room.Unknown(t.Context()))(t)
			require.Len(t, open, 1)
			assert.Equal(t, "1 ada@example.org", open[0].Key+" "+open[0].To)
			require.True(t, check.Need(f.room.Resolve(t.Context(), "1", wasSent))(t))
			time.Sleep(time.Minute)
			assert.Equal(t, []string{"sent ada@example.org 1", "unknown ada@example.org 1"}, f.got())
			assert.Equal(t, map[bool]int{false: 1, true: 0}[wasSent], len(f.platform.Outbox()))
			assert.Empty(t, check.Need(f.room.Unknown(t.Context()))(t))
			assert.False(t, check.Need(f.room.Resolve(t.Context(), "1", wasSent))(t), "resolved again")
		})
	}
}

// TestMatch: each event resolves the email with its subject, and an event about one of two equal emails resolves none.
func TestMatch(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.loseResponses(0)
		f.start(func(o *Options) { o.Pause = time.Second }) // all within the uncertainty of the clocks
		f.enqueue("{{n}}-1", "ada@example.org")
		f.enqueue("(2", "ada@example.org")
		same := email("bob@example.org", "x")
		require.NoError(t, f.room.Enqueue(t.Context(), "3", same))
		require.NoError(t, f.room.Enqueue(t.Context(), "4", same))
		require.NoError(t, f.room.Enqueue(t.Context(), "5", email("bob@example.org", "{{y}}").Literal()))
		time.Sleep(30 * time.Minute)
		require.Equal(t, 5, len(f.platform.Outbox()))
		for _, m := range f.platform.Outbox() {
			if m.Subject != "Your order -1" {
				require.NoError(t, f.platform.Open(m.ID))
			}
		}
		time.Sleep(time.Minute)
		assert.Equal(t, []string{
			"sent ada@example.org (2", "sent bob@example.org 5",
			"unknown ada@example.org (2", "unknown ada@example.org {{n}}-1", "unknown bob@example.org 3", "unknown bob@example.org 4", "unknown bob@example.org 5",
		}, f.got())
	})
}

// TestResolveInOnNotice: OnNotice decides about an unknown outcome in its transaction, and receives the decision.
func TestResolveInOnNotice(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start(func(o *Options) {
			o.OnNotice = func(ctx context.Context, n Notice) error {
				if n.Reason == Unknown {
					assert.True(t, check.Need(f.room.Resolve(ctx, n.Key, true))(t))
				}
				return f.onNotice(ctx, n)
			}
		})
		f.loseResponses(1)
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"unknown ada@example.org 1", "sent ada@example.org 1"}, f.inOrder())
	})
}

// TestUnknownLocksNothing: Unknown and Queues lock no email.
func TestUnknownLocksNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.loseResponses(1)
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Minute)
		hidden := &testStore{MemoryStore: f.store.(*MemoryStore), change: func(tx Tx) Tx {
			return buggyTx{Tx: tx, hide: func(kind, _ string) bool { return kind == kindMail || kind == kindUnknown }}
		}}
		room := check.Need(New(f.c, hidden, f.opts))(t)
		open := check.Need(room.Unknown(t.Context()))(t)
		require.Len(t, open, 1)
		assert.NotEmpty(t, open[0].Detail)
		assert.Equal(t, "1 ada@example.org", open[0].Key+" "+open[0].To)
	})
}
