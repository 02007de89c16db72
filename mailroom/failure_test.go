package mailroom

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// faultyStore is a store whose commits can fail.
type faultyStore struct {
	*MemoryStore
	fails func() bool     // before the commit
	ended func(err error) // after the transaction
}

func newFaultyStore() *faultyStore {
	return &faultyStore{NewMemoryStore(), func() bool { return false }, func(error) {}}
}

func (s *faultyStore) Update(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	err := s.MemoryStore.Update(ctx, func(ctx context.Context, tx Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		if s.fails() {
			return errors.New("commit failed")
		}
		return nil
	})
	s.ended(err)
	return err
}

func parse(t *testing.T, format string, args ...any) *events.Event {
	t.Helper()
	return need(events.Parse(fmt.Appendf(nil, format, args...)))(t)
}

// TestLaterOutcome: an outcome that follows while OnNotice fails for the earlier outcome is not lost.
func TestLaterOutcome(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := newFaultyStore()
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
				assert.True(t, need(f.room.Resolve(t.Context(), "1", true))(t))
			}
		}
		f.start()
		f.loseResponses(1)
		f.enqueue("1", "ada@example.org")
		time.Sleep(10 * time.Minute)
		assert.Equal(t, []string{"sent ada@example.org 1"}, f.got())
	})
}

// TestFailedCommit: a notice whose transaction is not committed waits longer and longer, and does not block the others.
func TestFailedCommit(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := newFaultyStore()
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

// TestUndecodable: items that cannot be decoded do not block the others.
func TestUndecodable(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		for _, kind := range []string{kindNotice, kindSend, kindMail, kindLookup} {
			require.NoError(t, f.store.Update(t.Context(), func(ctx context.Context, tx Tx) error {
				return tx.Put(ctx, Item{Kind: kind, Key: "bad", Due: time.Now(), Value: []byte(`"?"`)})
			}))
		}
		f.start()
		f.enqueue("1", "bounce+hb@mock.test")
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"sent bounce+hb@mock.test 1", "hard_bounce bounce+hb@mock.test 1"}, f.inOrder())
	})
}

// TestLatin1: an event that is not UTF-8 is stored.
func TestLatin1(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		e := parse(t, `{"event":"Contact.Unsubscribed","timestamp":"2024-01-01T00:00:00Z",
			"data":{"contact_id":"1","list_id":"caf%s","email_address":"ada@example.org"}}`, "\xe9")
		require.NoError(t, f.room.Handle(t.Context(), e))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"unsubscribed ada@example.org "}, f.got())
	})
}

// TestIDsOfZeros: a notice that waits is not replaced by the notice of another event, even if all events have the same id.
func TestIDsOfZeros(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		repaired := time.Now().Add(time.Minute)
		f.fail = func(Notice) bool { return time.Now().Before(repaired) }
		f.start()
		for _, list := range []string{"1", "2"} {
			require.NoError(t, f.room.Handle(t.Context(), parse(t, `{"id":"00000000-0000-0000-0000-000000000000","event":"Contact.Unsubscribed",
				"created_on":1763652200,"data":{"contact_id":"1","list_id":"%s","email_address":"ada@example.org"}}`, list)))
		}
		time.Sleep(2 * time.Hour)
		assert.Equal(t, []string{"unsubscribed ada@example.org ", "unsubscribed ada@example.org "}, f.got())
	})
}

// TestRetryFor: an email that the platform does not accept for RetryFor has failed.
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

// TestInternalError: an email with the status "error" is sent again and does not pause the others, and the event about
// the status is not an outcome.
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

// TestSuccessBeforePause: the success of a request that began before a pause does not end the pause.
func TestSuccessBeforePause(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		before := time.Now()
		time.Sleep(time.Second)
		paused := func(started time.Time, sendErr error) (wait bool) {
			require.NoError(t, f.room.update(t.Context(), func(s *storeTx) {
				s.updatePause(started, sendErr)
				wait = s.sendDelay(time.Now()) > 0
			}))
			return wait
		}
		assert.True(t, paused(time.Now(), client.ErrUnauthorized))
		assert.True(t, paused(before, nil))
		assert.False(t, paused(time.Now(), nil))
	})
}

// TestOutcomeEvents: an event replaces the outcome Sent, and other outcomes are not repeated.
func TestOutcomeEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Second)
		for _, name := range []string{"Email.Rejected", "Email.Error", "Email.Rejected"} {
			e := parse(t, `{"id":"%s-%d","event":"%s","account_id":1,"created_on":1763652200,
				"data":{"reason":"unsubscribed","error":"x","event_time":1763652199,"email":{"id":"%s"}}}`,
				name, time.Now().UnixNano(), name, f.platform.Outbox()[0].ID)
			require.NoError(t, f.room.Handle(t.Context(), e))
			time.Sleep(time.Minute)
		}
		assert.Equal(t, []string{"sent ada@example.org 1", "rejected ada@example.org 1"}, f.inOrder())
	})
}

// TestMissingEmail: a lookup is repeated while the email is missing, and then OnNotice receives what is known.
func TestMissingEmail(t *testing.T) {
	for _, tt := range []struct {
		status, hours int
		want          string
	}{{404, 2, "hard_bounce bounce+hb@mock.test 1"}, {404, 10, "soft_bounce  1"}, {403, 10, "soft_bounce  1"}, {401, 10, "soft_bounce  1"}} {
		inBubble(t, func(t *testing.T, f *fixture) {
			f.start()
			f.inject(mockserver.Fault{Operation: "getEmail", Action: mockserver.FaultStatus, Status: tt.status})
			f.enqueue("1", "bounce+hb@mock.test")
			time.Sleep(time.Duration(tt.hours) * time.Hour)
			f.platform.ClearFaults()
			time.Sleep(2 * time.Hour)
			assert.Equal(t, []string{"sent bounce+hb@mock.test 1", tt.want}, f.inOrder(), "%v", tt)
		})
	}
}

// TestMissingBounce: a lookup is repeated while the email has no bounce.
func TestMissingBounce(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Second)
		require.NoError(t, f.room.Handle(t.Context(), parse(t, `{"id":"b","event":"Email.Bounced","account_id":1,"created_on":1763652200,
			"data":{"event_time":1763652199,"email":{"id":"%s"}}}`, f.platform.Outbox()[0].ID)))
		time.Sleep(2 * time.Hour)
		assert.Equal(t, []string{"sent ada@example.org 1"}, f.inOrder())
		time.Sleep(4 * time.Hour)
		assert.Equal(t, []string{"sent ada@example.org 1", "soft_bounce ada@example.org 1"}, f.inOrder())
	})
}

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

// TestOutcomeRecorded: an outcome is recorded after a failure of the store that is longer than the lease.
func TestOutcomeRecorded(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := newFaultyStore()
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

// TestUnreadableItem: if the state of a key is missing, or a value cannot be decoded, the Room neither sends nor deletes
// the email, and sends the other emails.
func TestUnreadableItem(t *testing.T) {
	e := email("ada@example.org", "1")
	state, submission := encode(mailValue{State: queued}), encode(mailValue{Submission: &e})
	for name, items := range map[string][]Item{
		"no state":         {{Kind: kindSend, Key: "1", Value: submission}},
		"unreadable state": {{Kind: kindMail, Key: "1", Value: []byte(`{"state":1}`)}, {Kind: kindSend, Key: "1", Value: submission}},
		"unreadable email": {{Kind: kindMail, Key: "1", Value: state}, {Kind: kindSend, Key: "1", Value: []byte(`[]`)}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				put := func(it Item) {
					require.NoError(t, f.store.Update(t.Context(), func(ctx context.Context, tx Tx) error { return tx.Put(ctx, it) }))
				}
				for _, it := range items {
					if it.Kind == kindSend {
						it.Due = time.Now()
					}
					put(it)
				}
				f.start(func(o *Options) { o.Workers = 1 })
				f.enqueue("2", "ada@example.org")
				time.Sleep(3 * time.Hour)
				assert.Equal(t, []string{"sent ada@example.org 2"}, f.got())
				assert.Equal(t, 1, len(f.platform.Outbox()))

				require.NoError(t, f.room.update(t.Context(), func(s *storeTx) {
					_, found := s.get(kindSend, "1")
					assert.True(t, found, "the email is stored")
				}))
				put(Item{Kind: kindMail, Key: "1", Value: state})
				if name == "unreadable email" {
					put(Item{Kind: kindSend, Key: "1", Due: time.Now(), Value: submission})
				}
				time.Sleep(2 * time.Hour)
				assert.Equal(t, []string{"sent ada@example.org 2", "sent ada@example.org 1"}, f.inOrder())
			})
		})
	}
}
