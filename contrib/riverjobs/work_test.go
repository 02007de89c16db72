package riverjobs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mockserver"
)

// TestRooms: two replicas run while responses are lost, deliveries are duplicated and OnNotice fails at first. Each
// email is sent at most once. Each notice is written once, including bounces whose addresses need a lookup.
func TestRooms(t *testing.T) {
	const orders, lost, bounced = 20, 3, 4
	s := newShop(t)
	s.inject(mockserver.Fault{Action: mockserver.FaultReset, AfterProcessing: true, Times: lost})
	_, err := s.platform.Inject(mockserver.Fault{Event: "*", Action: mockserver.FaultDuplicate})
	require.NoError(t, err)
	replicas := []*replica{s.start(), s.start()}
	for i := range 2 * orders {
		replicas[i%2].enqueue(t, fmt.Sprint("A-", i/2))
	}
	s.wait("an outcome for each key", func() bool { return s.told(mailroom.Sent)+s.told(mailroom.Unknown) == orders })
	for i, m := range s.platform.Outbox() {
		if i < bounced {
			require.NoError(t, s.platform.Bounce(m.ID, events.BounceCategoryHard))
		} else {
			require.NoError(t, s.platform.Open(m.ID))
		}
	}
	s.wait("told", func() bool { return s.told(mailroom.Sent) == orders && s.told(mailroom.HardBounce) == bounced })
	assert.Equal(t, orders, len(s.platform.Outbox()))
	assert.Equal(t, orders, s.requests())
	assert.Equal(t, lost, s.told(mailroom.Unknown))
	assert.Equal(t, s.count("(SELECT DISTINCT what FROM told) AS whats"), s.count("told"), "notices")
	assert.Equal(t, orders, s.count("(SELECT DISTINCT what FROM told WHERE what LIKE 'sent %') AS whats"), "keys")
}

// TestOutage: two replicas run during an outage. They pause after each unknown outcome, so each pause allows at
// most one unknown outcome. Without the pauses, all outcomes would be unknown.
func TestOutage(t *testing.T) {
	const orders, pause = 30, 200 * time.Millisecond
	s := newShop(t)
	s.inject(mockserver.Fault{Action: mockserver.FaultStatus})
	short := func(o *mailroom.Options) { o.Pause = pause }
	r := s.start(short)
	s.start(short)
	began := time.Now()
	for i := range orders {
		r.enqueue(t, fmt.Sprint("A-", i))
	}
	s.wait("two failures", func() bool { return s.requests() >= 2 }) // at 0 and 200 ms
	s.platform.ClearFaults()
	outage := time.Since(began)
	limit := 1 // for the first request, and one for each pause that ended during the outage
	for next, end := pause, pause; end <= outage; limit++ {
		next *= 2
		end += next
	}
	s.wait("told", func() bool { return s.told(mailroom.Sent)+s.told(mailroom.Unknown) == orders })
	if unknown := s.told(mailroom.Unknown); unknown < 2 || unknown > limit || len(s.platform.Outbox()) != orders-unknown || s.requests() != orders {
		t.Errorf("%d unknown (at most %d), %d sent, %d requests of %d orders", unknown, limit, len(s.platform.Outbox()), s.requests(), orders)
	}
}

// TestShutdown: a stop, even a hard one, waits for the request in progress and its outcome.
func TestShutdown(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*river.Client[pgx.Tx], context.Context) error{
		"soft": (*river.Client[pgx.Tx]).Stop, "hard": (*river.Client[pgx.Tx]).StopAndCancel,
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			arrived, release := s.hold()
			r := s.start()
			r.enqueue(t, "A-1")
			<-arrived
			stopped := make(chan error, 1)
			go func() { stopped <- stop(r.queue, t.Context()) }()
			select {
			case err := <-stopped:
				t.Fatalf("stopped during the request: %v", err)
			case <-time.After(100 * time.Millisecond): // a wrong stop is usually faster
			}
			release()
			require.NoError(t, <-stopped)
			require.NoError(t, r.room.Close())
			assert.Equal(t, 1, s.count("emailplatform_items WHERE kind = 'mail' AND value::jsonb->>'state' = 'sent'"))
			assert.Equal(t, 1, len(s.platform.Outbox()))
		})
	}
}

// TestSnoozed: a job that cannot run is snoozed, which uses up no attempt, and runs later in another replica.
func TestSnoozed(t *testing.T) {
	s := newShop(t)
	r := s.start()
	s.wait("connected", func() bool { return s.count("emailplatform_items WHERE kind = 'hook'") == 1 })
	require.NoError(t, r.room.Close())
	r.enqueue(t, "A-1")
	s.wait("snoozed", func() bool { return s.count("river_job WHERE state = 'scheduled' AND attempt = 0") == 1 })
	require.NoError(t, r.queue.Stop(t.Context()))
	s.start()
	s.wait("told", func() bool { return s.told(mailroom.Sent) == 1 })
}

// TestUnstorableID: an email is recorded as sent even if PostgreSQL cannot store or index its id.
func TestUnstorableID(t *testing.T) {
	s := newShop(t)
	long := make([]byte, 0, 12_000) // not compressible, so its index entry is too large
	for i := range 2_000 {
		long = strconv.AppendInt(long, int64(i)*7919%1_000_003, 36)
	}
	ids := make(chan string, 2)
	ids <- `e\u0000`
	ids <- string(long)
	front := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v2/emails" {
			s.platform.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"`+<-ids+`","email":"a@example.org","status":"queued"}`)
	})
	s.front.Store(&front)
	r := s.start()
	r.enqueue(t, "A-0")
	r.enqueue(t, "A-1")
	s.wait("told", func() bool { return s.told(mailroom.Sent) == 2 })
}
