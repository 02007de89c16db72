package mailroom

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tests/check"
)

// TestEnqueueAt: the Room sends an email at the given time, or immediately if the time is zero.
func TestEnqueueAt(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		require.NoError(t, f.room.EnqueueAt(t.Context(), time.Now().Add(time.Hour), "1", email("ada@example.org", "1")))
		time.Sleep(59 * time.Minute)
		assert.Equal(t, 0, len(f.platform.Outbox()))
		time.Sleep(2 * time.Minute)
		assert.Equal(t, 1, len(f.platform.Outbox()))
		require.NoError(t, f.room.EnqueueAt(t.Context(), time.Time{}, "2", email("ada@example.org", "2")))
		time.Sleep(time.Second)
		assert.Equal(t, 2, len(f.platform.Outbox()))
	})
}

// TestEnqueueAtExtremeTime: a time that an item cannot contain does not change when or whether an email is sent.
func TestEnqueueAtExtremeTime(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		for _, late := range []time.Time{time.Unix(maxUnix+1, 0), time.Unix(1<<62, 0), time.Unix(1<<63-62135596801, 999999999)} {
			require.ErrorContains(t, f.room.EnqueueAt(t.Context(), late, "1", email("ada@example.org", "1")), "before the year 10000")
		}
		for i, early := range []time.Time{{}, time.Time{}.Add(time.Microsecond), time.Unix(-1<<62, 0), time.Unix(0, -1), time.Unix(0, 0)} {
			key := fmt.Sprint("early ", i)
			require.NoError(t, f.room.EnqueueAt(t.Context(), early, key, email("ada@example.org", key)))
		}
		time.Sleep(time.Minute)
		assert.Equal(t, 5, len(f.platform.Outbox()))
	})
}

// TestEnqueueInTransaction: if a transaction is rolled back, the Room does not send its email. Enqueue rejects invalid
// keys, and the Ref of a long address is short.
func TestEnqueueInTransaction(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		rollback := errors.New("the order is invalid")
		require.ErrorIs(t, f.store.Update(t.Context(), func(ctx context.Context, _ Tx) error {
			return errors.Join(f.room.Enqueue(ctx, "1", email("ada@example.org", "1")), rollback)
		}), rollback)
		for _, key := range []string{"", "a\x00", "\xff", string(make([]byte, 251))} {
			require.ErrorContains(t, f.room.Enqueue(t.Context(), key, email("ada@example.org", "1")), "mailroom: key must be")
		}
		time.Sleep(time.Minute)
		assert.Equal(t, 0, len(f.platform.Outbox()))
		assert.Empty(t, f.got())
		assert.LessOrEqual(t, len(refOfAddress(string(make([]byte, 300)))), 255)
	})
}

// TestInvalidText: Enqueue rejects an email with text that is not UTF-8, because the store would change this text.
func TestInvalidText(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.room = check.Need(New(f.c, f.store, f.opts))(t)
		for _, change := range []func(*client.EmailSubmission){
			func(e *client.EmailSubmission) { e.To = "jos\xe9@example.org" },
			func(e *client.EmailSubmission) { e.Content.Text = "\xed\xa0\x80" }, // a surrogate
			func(e *client.EmailSubmission) {
				e.CustomAttributes = client.Attributes{{Name: "a", Value: "b"}, {Name: "c", Value: "\xff"}}
			},
		} {
			e := email("ada@example.org", "1")
			change(&e)
			assert.ErrorContains(t, f.room.Enqueue(t.Context(), "1", e), `all text of the email with the key "1" must be UTF-8`)
		}
	})
}

// TestRejectedKey: the key of an email that was not sent can be used again.
func TestRejectedKey(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		require.NoError(t, f.room.Suppress(t.Context(), "ada@example.org"))
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Second)
		require.NoError(t, f.room.Unsuppress(t.Context(), "ada@example.org"))
		f.enqueue("1", "ada@example.org")
		require.NoError(t, f.room.Enqueue(t.Context(), "2", email("no address", "2")))
		time.Sleep(time.Second)
		assert.Equal(t, []string{"failed no address 2", "rejected ada@example.org 1", "sent ada@example.org 1"}, f.got())
	})
}
