package riverjobs_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
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
	f := newFixture(t)
	f.inject(mockserver.Fault{Action: mockserver.FaultReset, AfterProcessing: true, Times: lost})
	_, err := f.platform.Inject(mockserver.Fault{Event: "*", Action: mockserver.FaultDuplicate})
	require.NoError(t, err)
	replicas := []*replica{f.start(), f.start()}
	for i := range 2 * orders {
		replicas[i%2].enqueue(t, fmt.Sprint("A-", i/2))
	}
	f.waitUntil("an outcome for each key", func() bool { return f.notices(mailroom.Sent)+f.notices(mailroom.Unknown) == orders })
	for i, m := range f.platform.Outbox() {
		if i < bounced {
			require.NoError(t, f.platform.Bounce(m.ID, events.BounceCategoryHard))
		} else {
			require.NoError(t, f.platform.Open(m.ID))
		}
	}
	f.waitUntil("all notices", func() bool { return f.notices(mailroom.Sent) == orders && f.notices(mailroom.HardBounce) == bounced })
	assert.Equal(t, orders, len(f.platform.Outbox()))
	assert.Equal(t, orders, f.requests())
	assert.Equal(t, lost, f.notices(mailroom.Unknown))
	assert.Equal(t, f.count("(SELECT DISTINCT notice FROM notices) AS distinct_notices"), f.count("notices"), "notices")
	assert.Equal(t, orders, f.count("(SELECT DISTINCT notice FROM notices WHERE notice LIKE 'sent %') AS distinct_notices"), "keys")
}

// TestOutage: two replicas run during an outage. They pause after each unknown outcome, so there is at most one
// unknown outcome per pause. Without the pauses, all outcomes would be unknown.
func TestOutage(t *testing.T) {
	const orders, pause = 30, 200 * time.Millisecond
	f := newFixture(t)
	f.inject(mockserver.Fault{Action: mockserver.FaultStatus})
	short := func(o *mailroom.Options) { o.Pause = pause }
	r := f.start(short)
	f.start(short)
	began := time.Now()
	for i := range orders {
		r.enqueue(t, fmt.Sprint("A-", i))
	}
	f.waitUntil("two failures", func() bool { return f.requests() >= 2 }) // at 0 and 200 ms
	f.platform.ClearFaults()
	outage := time.Since(began)
	limit := 1 // for the first request, and one for each pause that ended during the outage
	for next, end := pause, pause; end <= outage; limit++ {
		next *= 2
		end += next
	}
	f.waitUntil("all notices", func() bool { return f.notices(mailroom.Sent)+f.notices(mailroom.Unknown) == orders })
	if unknown := f.notices(mailroom.Unknown); unknown < 2 || unknown > limit || len(f.platform.Outbox()) != orders-unknown || f.requests() != orders {
		t.Errorf("%d unknown (at most %d), %d sent, %d requests of %d orders", unknown, limit, len(f.platform.Outbox()), f.requests(), orders)
	}
}

// TestShutdown: a stop, even a hard one, waits for the request in progress and its outcome.
func TestShutdown(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*river.Client[pgx.Tx], context.Context) error{
		"soft": (*river.Client[pgx.Tx]).Stop, "hard": (*river.Client[pgx.Tx]).StopAndCancel,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			arrived, release := f.holdRequests()
			r := f.start()
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
			assert.Equal(t, 1, f.count("emailplatform_items WHERE kind = 'mail' AND value::jsonb->>'state' = 'sent'"))
			assert.Equal(t, 1, len(f.platform.Outbox()))
		})
	}
}

// TestSnoozed: a job that cannot run is snoozed, which uses up no attempt, and runs later in another replica.
func TestSnoozed(t *testing.T) {
	f := newFixture(t)
	var log strings.Builder
	r := f.start(func(o *mailroom.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	f.waitUntil("connected", func() bool { return f.count("emailplatform_items WHERE kind = 'hook'") == 1 })
	require.NoError(t, r.room.Close())
	r.enqueue(t, "A-1")
	f.waitUntil("snoozed", func() bool { return f.count("river_job WHERE attempt = 0 AND metadata->>'snoozes' = '1'") == 1 })
	require.NoError(t, r.queue.Stop(t.Context()))
	assert.Contains(t, log.String(), "riverjobs: job runs again later")
	f.start()
	f.waitUntil("all notices", func() bool { return f.notices(mailroom.Sent) == 1 })
}

// TestUnstorableID: an email is recorded as sent even if PostgreSQL cannot store or index its id.
func TestUnstorableID(t *testing.T) {
	f := newFixture(t)
	long := make([]byte, 0, 12_000) // not compressible, so its index entry is too large
	for i := range 2_000 {
		long = strconv.AppendInt(long, int64(i)*7919%1_000_003, 36)
	}
	ids := make(chan string, 2)
	ids <- `e\u0000`
	ids <- string(long)
	front := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v2/emails" {
			f.platform.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"`+<-ids+`","email":"a@example.org","status":"queued"}`)
	})
	f.front.Store(&front)
	r := f.start()
	r.enqueue(t, "A-0")
	r.enqueue(t, "A-1")
	f.waitUntil("all notices", func() bool { return f.notices(mailroom.Sent) == 2 })
}
