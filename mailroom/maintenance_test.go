package mailroom

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

// TestCleanUpWaits: cleanUp does not continue at once after it has deleted all expired keys.
func TestCleanUpWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		require.NoError(t, f.store.Update(t.Context(), func(ctx context.Context, tx Tx) error {
			for n := range maxDeletes + 1 {
				if err := tx.Put(ctx, Item{Kind: kindEvent, Key: fmt.Sprint("old", n), Due: time.Now()}); err != nil {
					return err
				}
			}
			return nil
		}))
		assert.Zero(t, check.Need(f.room.cleanUp(t.Context(), ""))(t))
		assert.Equal(t, noWork, check.Need(f.room.cleanUp(t.Context(), ""))(t))
		require.NoError(t, f.store.Update(t.Context(), func(ctx context.Context, tx Tx) error {
			left, err := tx.Due(ctx, kindEvent, time.Now(), 1)
			assert.Empty(t, left)
			return err
		}))
	})
}

// putCounter counts the items that reschedule stores.
type putCounter struct {
	Tx
	n *int
}

func (tx putCounter) Put(ctx context.Context, it Item) error { *tx.n++; return tx.Tx.Put(ctx, it) }

// TestReschedule: overdue emails get other jobs, but keep their times. During a pause, only one email gets a job.
func TestReschedule(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		n := 0
		memory := NewMemoryStore()
		f.store = &testStore{MemoryStore: memory, change: func(tx Tx) Tx { return putCounter{tx, &n} }}
		f.room = check.Need(New(f.c, f.store, f.opts))(t)
		queued := time.Now()
		for _, key := range []string{"1", "2", "3"} {
			f.enqueue(key, "ada@example.org")
		}
		time.Sleep(20 * time.Minute)
		for _, want := range []int{3, 1} {
			n = 0
			check.Need(f.room.reschedule(t.Context(), ""))(t)
			assert.Equal(t, want, n)
			assert.True(t, check.Need(f.room.Queues(t.Context()))(t)[0].Oldest.Equal(queued))
			require.NoError(t, memory.Update(t.Context(), func(ctx context.Context, tx Tx) error {
				return tx.Put(ctx, Item{Kind: kindPause, Key: pauseKey, Ref: pauseKey, Value: encode(pauseValue{Mode: modePaused, Failures: 1})})
			}))
		}
	})
}

// TestOnceWithoutRoom: NewOnce deletes expired keys itself, because a store without a Room has no other process for it.
func TestOnceWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemoryStore()
		o := NewOnce(store, time.Hour)
		for n := range 100 {
			check.Need(o.Do(t.Context(), fmt.Sprint(n), func(context.Context) error { return nil }))(t)
			time.Sleep(6 * time.Minute) // 10 events per hour
		}
		assert.LessOrEqual(t, len(store.items), 11)
	})
}
