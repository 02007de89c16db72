package mailroom

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
)

// TestReasons: each event causes its notice once, although each delivery is duplicated, and a suppressed address gets
// no more email.
func TestReasons(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.inject(mockserver.Fault{Event: "*", Action: mockserver.FaultDuplicate})
		for i, to := range []string{"bounce+hb@mock.test", "bounce+sb@mock.test", "bounce+ar@mock.test", "complaint@mock.test", "global-unsubscribe@mock.test"} {
			f.enqueue(fmt.Sprint(i), to)
		}
		time.Sleep(time.Minute)
		assert.Equal(t, []string{
			"complaint complaint@mock.test 3", "globally_unsubscribed global-unsubscribe@mock.test 4",
			"hard_bounce bounce+hb@mock.test 0",
			"sent bounce+ar@mock.test 2", "sent bounce+hb@mock.test 0", "sent bounce+sb@mock.test 1", "sent complaint@mock.test 3", "sent global-unsubscribe@mock.test 4",
			"soft_bounce bounce+sb@mock.test 1",
			"suppressed global-unsubscribe@mock.test ",
		}, f.got())
		_, err := f.room.Send(t.Context(), email("Bounce+HB@mock.test", "x"))
		require.ErrorIs(t, err, ErrSuppressed)
		f.enqueue("again", "complaint@mock.test")
		time.Sleep(time.Minute)
		assert.Contains(t, f.got(), "rejected complaint@mock.test again")
		assert.Equal(t, 5, len(f.platform.Outbox()))
	})
}

// TestHandleIncomplete: Handle returns the error of unreadable data, and does not look up an email without an id. If the
// kind of a bounce cannot be looked up, it is unknown.
func TestHandleIncomplete(t *testing.T) {
	for body, want := range map[string]struct{ err, notice string }{
		`{"event":"Email.Bounced","data":{"campaign":{"id":1},"bounce":{"category":"bounce_hb"},"contact":{"email":7}}}`: {err: "data.contact.email"},
		`{"event":"Email.Bounced","data":"x"}`:                                            {err: "data: expected an object"},
		`{"event":"Email.Bounced","data":{"email":{"id":""}}}`:                            {notice: "soft_bounce  "},
		`{"event":"Contact.Unsubscribed","data":{"contact_id":"1","email_address":null}}`: {notice: "unsubscribed  "},
		`{"event":"Email.Delivered","data":{"email":{"id":"e1"}}}`:                        {},
	} {
		inBubble(t, func(t *testing.T, f *fixture) {
			f.start()
			err := f.room.Handle(t.Context(), check.Need(events.Parse([]byte(body)))(t))
			if want.err == "" {
				require.NoError(t, err, body)
			} else {
				require.ErrorContains(t, err, want.err, body)
			}
			require.NoError(t, f.store.Update(t.Context(), func(ctx context.Context, tx Tx) error {
				assert.Empty(t, check.Need(tx.Due(ctx, kindLookup, time.Now().Add(24*time.Hour), 9))(t), body)
				return nil
			}))
			time.Sleep(time.Minute)
			var notices []string
			if want.notice != "" {
				notices = []string{want.notice}
			}
			assert.Equal(t, notices, f.got(), body)
		})
	}
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
		for _, contact := range []string{"1", "2"} { // without an address
			require.NoError(t, f.room.Handle(t.Context(), parse(t, `{"event":"Contact.Unsubscribed","timestamp":1763652200,
				"data":{"contact_id":"%s","list_id":"1"}}`, contact)))
		}
		time.Sleep(2 * time.Hour)
		assert.Equal(t, []string{"unsubscribed  ", "unsubscribed  ", "unsubscribed ada@example.org ", "unsubscribed ada@example.org "}, f.got())
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

// TestLateEventOfReplacedEmail: an event about an earlier request does not resolve the unknown outcome of a later request.
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
			require.Equal(t, stateUnknown, f.stored("1").State, name)
			require.NoError(t, f.room.Handle(t.Context(), parse(t, `{"id":"late","event":"Email.Error","account_id":1,"created_on":1763652200,
				"data":{"error":"x","event_time":1763652199,"email":{"id":"%s","to":"ada@example.org"}}}`, earlier)))
			time.Sleep(time.Minute)
			assert.Equal(t, stateUnknown, f.stored("1").State, name)
		})
	}
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
			f.store = &testStore{MemoryStore: NewMemoryStore(), change: func(tx Tx) Tx {
				return callAfterQuery{tx, func(ctx context.Context, _ string) {
					if queries++; queries == after+1 {
						assert.NoError(t, f.room.storeResult(ctx, "1", m, client.SubmittedEmail{ID: id}, nil))
					}
				}}
			}}
			f.start()
			id = check.Need(f.room.Send(t.Context(), email("ada@example.org", "1")))(t).ID
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
