package mailroom

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// interceptedStore is a store whose transactions a test changes.
type interceptedStore struct {
	*MemoryStore
	change func(Tx) Tx
}

func (s interceptedStore) Update(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	return s.MemoryStore.Update(ctx, func(ctx context.Context, tx Tx) error { return fn(ctx, s.change(tx)) })
}

// stored returns the email of a key.
func (f *fixture) stored(key string) (m mailValue) {
	f.t.Helper()
	require.NoError(f.t, f.room.update(f.t.Context(), func(s *storeTx) {
		it, _ := s.get(kindMail, key)
		m = valueOf[mailValue](s, it)
	}))
	return m
}

// claimed records that the Room is about to send the email of a key.
func (f *fixture) claimed(key string) (m mailValue) {
	f.t.Helper()
	require.NoError(f.t, f.room.update(f.t.Context(), func(s *storeTx) {
		it, _ := s.get(kindSend, key)
		m = valueOf[mailValue](s, it)
		assert.Zero(f.t, s.claim(it, &m))
	}))
	return m
}

// TestLateEventOfReplacedEmail: an event about an earlier request is not the outcome of a later request, which is unknown.
func TestLateEventOfReplacedEmail(t *testing.T) {
	for name, again := range map[string]func(f *fixture) (earlier string){
		"the Room sends again": func(f *fixture) string {
			f.inject(mockserver.Fault{Action: mockserver.FaultInternalError, Times: 1})
			f.enqueue("1", "ada@example.org")
			time.Sleep(20 * time.Second)
			f.loseResponses(1)
			fired := f.platform.Events()
			return fired[len(fired)-1].MessageID
		},
		"the application sends again": func(f *fixture) string {
			f.enqueue("1", "ada@example.org")
			time.Sleep(time.Second)
			require.NoError(f.t, f.room.Handle(f.t.Context(), parse(f.t, `{"id":"a","event":"Email.Error","account_id":1,"created_on":1763652200,
				"data":{"error":"x","event_time":1763652199,"email":{"id":"%s"}}}`, f.platform.Outbox()[0].ID)))
			time.Sleep(time.Second)
			f.loseResponses(1)
			f.enqueue("1", "ada@example.org")
			return f.platform.Outbox()[0].ID
		},
	} {
		inBubble(t, func(t *testing.T, f *fixture) {
			f.start()
			earlier := again(f)
			time.Sleep(30 * time.Second)
			require.Equal(t, Unknown, f.stored("1").State, name)
			require.NoError(t, f.room.Handle(t.Context(), parse(t, `{"id":"late","event":"Email.Error","account_id":1,"created_on":1763652200,
				"data":{"error":"x","event_time":1763652199,"email":{"id":"%s","to":"ada@example.org"}}}`, earlier)))
			time.Sleep(time.Minute)
			assert.Equal(t, Unknown, f.stored("1").State, name)
		})
	}
}

// TestResolveInOnNotice: OnNotice decides about an unknown outcome in its transaction, and receives the decision.
func TestResolveInOnNotice(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start(func(o *Options) {
			o.OnNotice = func(ctx context.Context, n Notice) error {
				if n.Reason == Unknown {
					assert.True(t, need(f.room.Resolve(ctx, n.Key, true))(t))
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

// callAfterQuery calls f after a query by Ref.
type callAfterQuery struct {
	Tx
	f func(ctx context.Context, ref string)
}

func (tx callAfterQuery) ByRef(ctx context.Context, kind, ref string) ([]Item, error) {
	items, err := tx.Tx.ByRef(ctx, kind, ref)
	if kind == kindMail {
		tx.f(ctx, ref)
	}
	return items, err
}

// TestResponseBetweenQueries: a bounce gets its key even if the response to the request is recorded between two queries
// about the bounce. In the isolation level READ COMMITTED, these queries see different states.
func TestResponseBetweenQueries(t *testing.T) {
	for after := range 4 {
		inBubble(t, func(t *testing.T, f *fixture) {
			queries := -1000
			var m mailValue
			var id string
			f.store = interceptedStore{NewMemoryStore(), func(tx Tx) Tx {
				return callAfterQuery{tx, func(ctx context.Context, _ string) {
					if queries++; queries == after+1 {
						assert.NoError(t, f.room.storeResult(ctx, "1", m, client.SubmittedEmail{ID: id}, nil))
					}
				}}
			}}
			f.start()
			id = need(f.room.Send(t.Context(), email("ada@example.org", "1")))(t).ID
			require.NoError(t, f.room.Close())
			f.enqueue("1", "ada@example.org")
			m = f.claimed("1")
			f.start()
			queries = 0
			require.NoError(t, f.platform.Bounce(id, "bounce_hb"))
			time.Sleep(25 * time.Second)
			assert.Equal(t, []string{"hard_bounce ada@example.org 1", "sent ada@example.org 1"}, f.got(), "after %d queries", after+1)
		})
	}
}

// TestBusyAddress: a notice about an email does not wait for another email to its address.
func TestBusyAddress(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		id := need(f.room.Send(t.Context(), email("ada@example.org", "1")))(t).ID
		f.setTransport(slowTransport{f.platform.Transport(), 18 * time.Second})
		f.start()
		f.enqueue("2", "ada@example.org")
		time.Sleep(time.Second)
		require.NoError(t, f.platform.Bounce(id, "bounce_hb"))
		time.Sleep(10 * time.Second)
		assert.Equal(t, []string{"hard_bounce ada@example.org "}, f.got())
	})
}

// TestUnknownLocksNothing: Unknown and Queues lock no email.
func TestUnknownLocksNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.loseResponses(1)
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Minute)
		hidden := interceptedStore{f.store.(*MemoryStore), func(tx Tx) Tx {
			return buggyTx{Tx: tx, hide: func(kind, _ string) bool { return kind == kindMail || kind == kindUnknown }}
		}}
		room := need(New(f.c, hidden, f.opts))(t)
		open := need(room.Unknown(t.Context()))(t)
		require.Len(t, open, 1)
		assert.NotEmpty(t, open[0].Detail)
		assert.Equal(t, "1 ada@example.org", open[0].Key+" "+open[0].To)
	})
}

// TestLateClaim: a request does not begin after the time for its claim and for the request.
func TestLateClaim(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		s := newFaultyStore()
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
		need(f.room.send(t.Context(), "1"))(t)
		assert.Equal(t, 0, len(f.platform.Outbox()))
		assert.Equal(t, queued, f.stored("1").State)
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
		assert.Zero(t, need(f.room.Queues(t.Context()))(t)[0].Length)
	})
}

// TestWaitForOverdueOutcome: a notice waits although the time of the outcome before it has come.
func TestWaitForOverdueOutcome(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.room = need(New(f.c, f.store, f.opts))(t)
		require.NoError(t, f.room.update(t.Context(), func(s *storeTx) {
			s.put(Item{Kind: kindNotice, Key: outcomeKey("1"), Due: time.Now().Add(-time.Minute)})
			assert.True(t, s.waitForOutcome(Item{Kind: kindNotice, Key: "event:1"}, Notice{Key: "1"}))
			it, _ := s.get(kindNotice, "event:1")
			assert.Equal(t, time.Second, time.Until(it.Due))
		}))
	})
}

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
		assert.Zero(t, need(f.room.cleanUp(t.Context(), ""))(t))
		assert.Equal(t, noWork, need(f.room.cleanUp(t.Context(), ""))(t))
		require.NoError(t, f.store.Update(t.Context(), func(ctx context.Context, tx Tx) error {
			left, err := tx.Due(ctx, kindEvent, time.Now(), 1)
			assert.Empty(t, left)
			return err
		}))
	})
}

// TestRestarts: the webhook of an earlier release is archived although the process restarts more often than every 8 hours.
func TestRestarts(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		five := func(o *Options) { o.Events = DefaultEvents()[:5] }
		f.start()
		for range 10 {
			f.start(five)
			time.Sleep(time.Hour)
		}
		assert.Len(t, need(f.c.Webhooks.Active(t.Context(), f.opts.URL))(t), 1)
	})
}

// TestWrongClock: the times of a process with a wrong clock do not permit all workers to send, and do not keep a pause.
func TestWrongClock(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		now := time.Now().UTC()
		day, exact := now.Add(24*time.Hour), pauseValue{Mode: modeNormal, Since: now, Until: now.Add(successValidity)}
		f.room = need(New(f.c, f.store, f.opts))(t)
		require.NoError(t, f.room.update(t.Context(), func(s *storeTx) {
			for _, wrong := range []pauseValue{{Failures: 1, Mode: modePaused, Since: day, Until: day}, {Failures: 1, Mode: modeNormal, Until: day}} {
				assert.Equal(t, pauseValue{Failures: 1}, s.decodePause(Item{Value: encode(wrong)}))
			}
			assert.Equal(t, exact, s.decodePause(Item{Value: encode(exact)}))
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
		f.store = interceptedStore{memory, func(tx Tx) Tx { return putCounter{tx, &n} }}
		f.room = need(New(f.c, f.store, f.opts))(t)
		queued := time.Now()
		for _, key := range []string{"1", "2", "3"} {
			f.enqueue(key, "ada@example.org")
		}
		time.Sleep(20 * time.Minute)
		for _, want := range []int{3, 1} {
			n = 0
			need(f.room.reschedule(t.Context(), ""))(t)
			assert.Equal(t, want, n)
			assert.True(t, need(f.room.Queues(t.Context()))(t)[0].Oldest.Equal(queued))
			require.NoError(t, memory.Update(t.Context(), func(ctx context.Context, tx Tx) error {
				return tx.Put(ctx, Item{Kind: kindPause, Key: pauseKey, Ref: pauseKey, Value: encode(pauseValue{Mode: modePaused, Failures: 1})})
			}))
		}
	})
}

// TestJobWithoutConnection: a job does not wait long for the connection, because its queue could not end.
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

// TestEarlyJob: a job may start before the time of its item, because the clocks of two processes may differ. If it is a
// little early, it waits. If it is much earlier, it ends, because another job starts at that time.
func TestEarlyJob(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start(func(o *Options) { o.External = true })
		for due, want := range map[time.Duration]time.Duration{time.Hour: 0, 10 * time.Minute: 10 * time.Minute} {
			key := due.String()
			require.NoError(t, f.room.EnqueueAt(t.Context(), time.Now().Add(due), key, email("ada@example.org", key)))
			assert.Equal(t, want, need(f.room.Work(t.Context(), kindSend, key))(t))
		}
	})
}
