package mailroom

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
)

// TestSendTimeout: Send ends although its context does not.
func TestSendTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultHang})
		start := time.Now()
		_, err := f.room.Send(context.WithoutCancel(t.Context()), email("ada@example.org", "1"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 20*time.Second, time.Since(start))
	})
}

// TestLateClaim: if the claim takes longer than the time for the claim and the request together, the Room sends no
// request.
func TestLateClaim(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := &testStore{MemoryStore: NewMemoryStore()}
		f.store = s
		f.start()
		require.NoError(t, f.room.Close())
		f.enqueue("1", "ada@example.org")
		slow := true
		s.ended = func(error) {
			if slow {
				slow = false
				time.Sleep(time.Minute)
			}
		}
		check.Need(f.room.send(t.Context(), "1"))(t)
		assert.Equal(t, 0, len(f.platform.Outbox()))
		assert.Equal(t, stateQueued, f.stored("1").State)
	})
}

// TestStaleItem: the Room sends no email for an item of the kind "send" if the key of the item is not queued.
func TestStaleItem(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Second)
		e := email("ada@example.org", "1")
		require.NoError(t, f.room.update(t.Context(), func(s *storeTx) { s.putSend("1", time.Now(), mailValue{Submission: &e}) }))
		time.Sleep(time.Minute)
		assert.Equal(t, 1, len(f.platform.Outbox()))
		assert.Zero(t, check.Need(f.room.Queues(t.Context()))(t)[0].Length)
	})
}
