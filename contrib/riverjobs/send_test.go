package riverjobs_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/mockserver"
)

// TestOutcomes checks the state of the job, its output and the number of emails for each
// result of a request. A job with the outcome sent or unknown sends nothing when it runs
// again.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	const sent, notQueued, unknown = riverjobs.StateSent, riverjobs.StateNotQueued, riverjobs.StateUnknown
	const completed, canceled, scheduled = rivertype.JobStateCompleted, rivertype.JobStateCancelled, rivertype.JobStateScheduled
	for _, tt := range []struct {
		name    string
		fault   mockserver.Fault // once
		end     rivertype.JobState
		state   riverjobs.State
		reason  string // part of it
		emails  int
		snoozed bool
	}{
		{name: "accepted", end: completed, state: sent, emails: 1},
		{name: "429", fault: mockserver.Fault{Action: "status", Status: 429}, end: completed, state: sent, emails: 1, snoozed: true},
		{name: "401", fault: mockserver.Fault{Action: "status", Status: 401}, end: completed, state: sent, emails: 1, snoozed: true},
		{name: "403", fault: mockserver.Fault{Action: "status", Status: 403}, end: completed, state: sent, emails: 1, snoozed: true},
		{name: "422", fault: mockserver.Fault{Action: "status", Status: 422}, end: canceled, state: notQueued, reason: "422"},
		{name: "404", fault: mockserver.Fault{Action: "status", Status: 404}, end: canceled, state: notQueued, reason: "404"},
		{name: "internal error", fault: mockserver.Fault{Action: "internal_error"}, end: canceled, state: notQueued, reason: "error"},
		{name: "503", fault: mockserver.Fault{Action: "status"}, end: scheduled, state: unknown, reason: "503"},
		{name: "503 with Retry-After", fault: mockserver.Fault{Action: "status", RetryAfter: "1", AfterProcessing: true}, end: scheduled, state: unknown, reason: "503", emails: 1},
		{name: "500 after processing", fault: mockserver.Fault{Action: "status", Status: 500, AfterProcessing: true}, end: scheduled, state: unknown, reason: "500", emails: 1},
		{name: "connection lost", fault: mockserver.Fault{Action: "reset"}, end: scheduled, state: unknown, reason: "outcome unknown"},
		{name: "response lost", fault: mockserver.Fault{Action: "reset", AfterProcessing: true}, end: scheduled, state: unknown, reason: "outcome unknown", emails: 1},
		{name: "half a response", fault: mockserver.Fault{Action: "truncate"}, end: scheduled, state: unknown, reason: "invalid response", emails: 1},
		{name: "no response", fault: mockserver.Fault{Action: "hang"}, end: scheduled, state: unknown, reason: "deadline"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t)
			if tt.fault.Action != "" {
				tt.fault.Times = 1
				s.inject(tt.fault)
			}
			_, jobs := s.work(riverjobs.Options{SendTimeout: 500 * time.Millisecond})
			id := s.insert("A-1")
			row, out := s.ended(id)
			if row.State != tt.end || out.State != tt.state || (out.Reason == "") != (tt.reason == "") || !strings.Contains(out.Reason, tt.reason) {
				t.Errorf("%s, %+v; want %s, %s, %q", row.State, out, tt.end, tt.state, tt.reason)
			}
			if tt.state == sent && (len(s.platform.Outbox()) != 1 || out.EmailID != s.platform.Outbox()[0].ID) {
				t.Errorf("output %+v belongs to another email", out)
			}
			if kept := s.count("emailplatform_sends WHERE recipient IS NOT NULL OR subject IS NOT NULL"); kept > 0 != (tt.state == unknown) {
				t.Errorf("%d addresses are kept", kept)
			}
			if snoozed := strings.Contains(string(row.Metadata), "snoozes"); snoozed != (tt.snoozed || tt.state == unknown) {
				t.Errorf("snoozed: %t", snoozed)
			}
			if tt.state != unknown && row.Attempt != 1 || tt.state == unknown && row.Attempt != 0 {
				t.Errorf("%d attempts are used up", row.Attempt)
			}
			if tt.end == canceled && (len(row.Errors) != 1 || !strings.Contains(row.Errors[0].Error, tt.reason)) {
				t.Errorf("errors %+v, want an error with the reason", row.Errors)
			}
			if tt.state != notQueued {
				again(s, jobs, id)
			}
			assert.Len(t, s.platform.Outbox(), tt.emails, "emails")
		})
	}
}

// again makes a job run once more.
func again(s *shop, jobs *river.Client[pgx.Tx], id int64) {
	s.t.Helper()
	before, requests := *s.until(id, "there", func(*rivertype.JobRow) bool { return true }), s.requests()
	_, err := jobs.JobRetry(s.t.Context(), id)
	require.NoError(s.t, err)
	s.until(id, "run again", func(row *rivertype.JobRow) bool {
		return row.AttemptedAt.After(*before.AttemptedAt) && row.State == before.State
	})
	if n := s.requests(); n != requests {
		s.t.Errorf("%d more requests", n-requests)
	}
}

// TestRejected: an email that the platform rejects is not queued. After the cause
// is gone, a retry of the job sends it, and so does a second job after River has
// deleted the job.
func TestRejected(t *testing.T) {
	s := newShop(t)
	c := s.client()
	_, err := c.SuppressedEmails.Add(t.Context(), "*@example.org")
	require.NoError(t, err)
	jobs := s.start(s.jobs(c, riverjobs.Options{}))
	id, deleted := s.insert("A-1"), s.insert("A-2")
	s.reaches(deleted, rivertype.JobStateCancelled)
	if row, out := s.ended(id); row.State != rivertype.JobStateCancelled || out.State != riverjobs.StateNotQueued || out.EmailID == "" {
		t.Fatalf("%s, %+v", row.State, out)
	}
	assert.Equal(t, 0, s.count("emailplatform_sends"), "records")
	require.NoError(t, c.SuppressedEmails.Remove(t.Context(), "*@example.org"))
	_, err = jobs.JobRetry(t.Context(), id)
	require.NoError(t, err)
	s.reaches(id, rivertype.JobStateCompleted)
	_, err = jobs.JobDelete(t.Context(), deleted)
	require.NoError(t, err)
	s.reaches(s.insert("A-2"), rivertype.JobStateCompleted)
	assert.Len(t, s.platform.Outbox(), 2, "emails")
}

// TestNoConnection: the job waits until the platform is reachable.
func TestNoConnection(t *testing.T) {
	s := newShop(t)
	var dials atomic.Int64
	c := s.client(func(cfg *client.Config) {
		cfg.HTTPClient = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if dials.Add(1) <= 3 {
				return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}}}
	})
	s.start(s.jobs(c, riverjobs.Options{}))
	if row, out := s.ended(s.insert("A-1")); out.State != riverjobs.StateSent || row.Attempt != 1 || dials.Load() != 4 {
		t.Errorf("%+v after %d attempts and %d connections", out, row.Attempt, dials.Load())
	}
}

// TestKilledDuringRequest: a job whose process ended during the request is not sent again, but
// reported.
func TestKilledDuringRequest(t *testing.T) {
	s := newShop(t)
	id := s.insert("A-1")
	s.exec(`INSERT INTO emailplatform_sends (key, job_id, state, started, since, recipient, subject)
		VALUES ('A-1', $1, 'sending', now() - interval '1 hour', now() - interval '1 hour', 'ada@example.org', 'Your order')`, id)
	j := s.jobs(s.client(), riverjobs.Options{})
	before, err := j.Unknown(t.Context())
	require.NoError(t, err)
	s.start(j)
	_, out := s.ended(id)
	if out.State != riverjobs.StateUnknown || s.requests() != 0 {
		t.Errorf("%+v, %d requests", out, s.requests())
	}
	after, err := j.Unknown(t.Context())
	require.NoError(t, err)
	for _, list := range [][]riverjobs.Unresolved{before, after} {
		if len(list) != 1 || list[0].Key != "A-1" || list[0].JobID != id || list[0].To != "ada@example.org" || time.Since(list[0].Sent) < time.Hour {
			t.Errorf("unknown: %+v", list)
		}
	}
	if before[0].Reason != "" || after[0].Reason == "" {
		t.Errorf("reasons %q, %q", before[0].Reason, after[0].Reason)
	}
}

// TestLateResult: a request that ends after its job was taken for dead still
// records its result.
func TestLateResult(t *testing.T) {
	s := newShop(t)
	arrived, release := s.hold()
	s.work(riverjobs.Options{})
	id := s.insert("A-1")
	<-arrived
	s.exec("UPDATE river_job SET state = 'available' WHERE id = $1", id) // as the rescuer does
	if _, out := s.ended(id); out.State != riverjobs.StateUnknown {
		t.Errorf("%+v while the first request is in progress", out)
	}
	release()
	s.wait("sent", func() bool { return s.count("emailplatform_sends WHERE state = 'sent' AND email_id IS NOT NULL") == 1 })
	assert.Len(t, s.platform.Outbox(), 1, "emails")
}

// TestNewerRecordIsKept: a request changes only its own record. The key has another record
// if an operator allowed to send it again.
func TestNewerRecordIsKept(t *testing.T) {
	s := newShop(t)
	arrived, release := s.hold()
	s.work(riverjobs.Options{})
	id := s.insert("A-1")
	<-arrived
	s.exec("UPDATE emailplatform_sends SET started = started + interval '1 second'")
	release()
	s.ended(id)
	assert.Equal(t, 1, s.count("emailplatform_sends WHERE state = 'sending'"), "the other record has changed")
}

// TestForbidden: a 403 delays only its own job.
func TestForbidden(t *testing.T) {
	s := newShop(t)
	s.work(riverjobs.Options{Pause: time.Minute})
	s.inject(mockserver.Fault{Action: mockserver.FaultStatus, Status: http.StatusForbidden, Times: 1})
	forbidden := s.insert("A-1")
	s.until(forbidden, "snoozed for MaxPause", func(row *rivertype.JobRow) bool {
		return row.State == rivertype.JobStateScheduled && row.Attempt == 0 && time.Until(row.ScheduledAt) > 9*time.Minute
	})
	if _, out := s.ended(s.insert("A-2")); out.State != riverjobs.StateSent {
		t.Errorf("%+v", out)
	}
}

// TestShutdown: a stop, even a hard one, waits for the request in progress.
func TestShutdown(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*river.Client[pgx.Tx], context.Context) error{
		"soft": (*river.Client[pgx.Tx]).Stop, "hard": (*river.Client[pgx.Tx]).StopAndCancel,
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			arrived, release := s.hold()
			_, jobs := s.work(riverjobs.Options{})
			id := s.insert("A-1")
			<-arrived
			stopped := make(chan error, 1)
			go func() { stopped <- stop(jobs, t.Context()) }()
			select {
			case err := <-stopped:
				t.Fatalf("stopped during the request: %v", err)
			case <-time.After(100 * time.Millisecond): // a wrong stop is usually faster
			}
			release()
			require.NoError(t, <-stopped)
			if row, out := s.ended(id); row.State != rivertype.JobStateCompleted || out.State != riverjobs.StateSent || len(s.platform.Outbox()) != 1 {
				t.Errorf("%s, %+v, %d emails", row.State, out, len(s.platform.Outbox()))
			}
		})
	}
}

// TestUnique: a key is sent once, even after River has deleted its job.
func TestUnique(t *testing.T) {
	s := newShop(t)
	id := s.insert("A-1")
	if again := s.insert("A-1"); again != id {
		t.Errorf("jobs %d and %d", id, again)
	}
	_, jobs := s.work(riverjobs.Options{})
	_, first := s.ended(id)
	if again := s.insert("A-1"); again != id {
		t.Errorf("jobs %d and %d", id, again)
	}
	_, err := jobs.JobDelete(t.Context(), id)
	require.NoError(t, err)
	second := s.insert("A-1")
	if _, out := s.ended(second); second == id || out != first || len(s.platform.Outbox()) != 1 {
		t.Errorf("%+v and %+v, %d emails", first, out, len(s.platform.Outbox()))
	}
	for key, want := range map[string]string{
		"": "SendArgs.Key must be 1 to 255 bytes long, got 0", strings.Repeat("k", 256): "1 to 255 bytes long, got 256", "\xff": "valid UTF-8",
	} {
		if _, err := jobs.Insert(t.Context(), riverjobs.SendArgs{Key: key}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("key %q: %v", key, err)
		}
	}
}

func TestNew(t *testing.T) {
	s := newShop(t)
	c := s.client()
	for _, tt := range []struct {
		pool *pgxpool.Pool
		c    *client.Client
		opts riverjobs.Options
		want string
	}{
		{s.pool, c, riverjobs.Options{SendTimeout: -time.Second}, "SendTimeout must be at least 1ms, got -1s"},
		{s.pool, c, riverjobs.Options{Pause: time.Microsecond}, "Pause must be at least 1ms, got 1µs"},
		{s.pool, c, riverjobs.Options{MaxPause: time.Second}, "MaxPause must be at least Pause (30s), got 1s"},
		{s.pool, c, riverjobs.Options{RiverSchema: "a b"}, "Schema"},
		{s.pool, nil, riverjobs.Options{}, "must not be nil"},
		{nil, c, riverjobs.Options{}, "must not be nil"},
		{s.pool, c, riverjobs.Options{Pause: time.Hour}, ""}, // longer than the default of MaxPause
	} {
		_, err := riverjobs.New(tt.pool, tt.c, tt.opts)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}
