package mailroom

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
)

// TestRestart: a later Room continues with lookups and notices.
func TestRestart(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		calls := 0
		f.fail = func(Notice) bool { calls++; return calls <= 3 }
		f.inject(mockserver.Fault{Operation: "getEmail", Action: mockserver.FaultStatus, Status: 503, Times: 30})
		f.enqueue("1", "bounce+hb@mock.test")
		time.Sleep(3 * time.Second)
		require.NoError(t, f.room.Close())
		_, err := f.room.Send(t.Context(), email("a@example.org", "x"))
		require.ErrorIs(t, err, ErrClosed)
		require.Empty(t, f.got())
		f.platform.ClearFaults()
		f.start()
		time.Sleep(5 * time.Minute)
		assert.Equal(t, []string{"sent bounce+hb@mock.test 1", "hard_bounce bounce+hb@mock.test 1"}, f.inOrder())
	})
}

// TestCloseWaits: Close returns after the requests in progress have ended and their results are recorded.
func TestCloseWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.setTransport(slowTransport{f.platform.Transport(), 5 * time.Second})
		f.start()
		f.enqueue("1", "ada@example.org")
		sent := make(chan error, 1)
		go func() {
			_, err := f.room.Send(t.Context(), email("bob@example.org", "2"))
			sent <- err
		}()
		time.Sleep(time.Second)
		require.NoError(t, f.room.Close())
		select {
		case err := <-sent:
			require.NoError(t, err)
		default:
			t.Error("Close did not wait for Send")
		}
		assert.Equal(t, stateSent, f.stored("1").State)
	})
}

// TestWorkKinds: Work accepts each kind of work, and no other kind.
func TestWorkKinds(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start(func(o *Options) { o.External = true })
		for _, kind := range workKinds() {
			_, err := f.room.Work(t.Context(), kind, "missing")
			assert.NoError(t, err, kind)
		}
		_, err := f.room.Work(t.Context(), kindHook, "missing")
		assert.ErrorContains(t, err, `kind "hook"`)
	})
}

// jobsTx is a transaction of a store with a job queue. Its jobs are repeated, early or late.
type jobsTx struct {
	Tx
	store *MemoryStore
	work  func(kind, key string)
}

func (tx jobsTx) Insert(ctx context.Context, it Item) (bool, error) {
	inserted, err := tx.Tx.Insert(ctx, it)
	if inserted {
		tx.add(ctx, it)
	}
	return inserted, err
}

func (tx jobsTx) Put(ctx context.Context, it Item) error {
	tx.add(ctx, it)
	return tx.Tx.Put(ctx, it)
}

func (tx jobsTx) add(ctx context.Context, it Item) {
	if it.IsWork() {
		tx.store.AfterCommit(ctx, func() {
			for _, d := range []time.Duration{-100 * time.Millisecond, 0, time.Second} {
				time.AfterFunc(time.Until(it.Due.Add(d)), func() { tx.work(it.Kind, it.Key) })
			}
		})
	}
}

// TestExternal: a job queue calls Work. Items that were stored before the queue was used get their jobs later.
func TestExternal(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		require.NoError(t, f.room.Close())
		f.enqueue("0", "ada@example.org")
		work := func(kind, key string) {
			for {
				wait, err := f.room.Work(t.Context(), kind, key)
				if err == nil && wait == 0 || errors.Is(err, ErrClosed) {
					return
				}
				time.Sleep(max(wait, time.Second))
			}
		}
		memory := f.store.(*MemoryStore)
		f.store = &testStore{MemoryStore: memory, change: func(tx Tx) Tx { return jobsTx{tx, memory, work} }}
		calls := 0
		f.fail = func(Notice) bool { calls++; return calls < 3 }
		f.start(func(o *Options) { o.External = true })
		f.loseResponses(1)
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Second)
		for i := range 5 {
			f.enqueue(fmt.Sprint("b", i), fmt.Sprintf("bounce+hb+%d@mock.test", i))
		}
		time.Sleep(5 * time.Minute)
		require.Equal(t, 6, len(f.platform.Outbox()))
		require.NoError(t, f.platform.Open(f.platform.Outbox()[0].ID))
		time.Sleep(20 * time.Minute)
		got := f.got()
		assert.Len(t, got, 5+5+1+2)
		assert.Equal(t, []string{"sent ada@example.org 0", "sent ada@example.org 1"}, got[5:7])
		assert.Equal(t, "unknown ada@example.org 1", got[12])
		assert.Equal(t, 7, len(f.platform.Outbox()))
	})
}

// TestJobWithoutConnection: a job does not wait long for the connection, because its queue cannot stop while the job
// waits.
func TestJobWithoutConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.inject(mockserver.Fault{Operation: "listWebhooks", Action: mockserver.FaultStatus})
		f.start(func(o *Options) { o.External = true })
		f.enqueue("1", "ada@example.org")
		start := time.Now()
		_, err := f.room.Work(t.Context(), kindSend, "1")
		require.ErrorIs(t, err, ErrNotConnected)
		assert.Equal(t, 5*time.Second, time.Since(start))
	})
}

// TestEarlyJob: a job may start before the time of its item, because the clocks of two processes may differ. If the job
// is a little early, it waits. If it is much earlier, it ends, because another job starts at the time of the item.
func TestEarlyJob(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start(func(o *Options) { o.External = true })
		for due, want := range map[time.Duration]time.Duration{time.Hour: 0, 10 * time.Minute: 10 * time.Minute} {
			key := due.String()
			require.NoError(t, f.room.EnqueueAt(t.Context(), time.Now().Add(due), key, email("ada@example.org", key)))
			assert.Equal(t, want, check.Need(f.room.Work(t.Context(), kindSend, key))(t))
		}
	})
}
