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

// TestLateClaim: a request does not begin after the time for its claim and for the request.
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

// TestStaleItem: an item to send whose key is not queued sends nothing.
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
