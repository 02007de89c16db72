package riverjobs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// lose makes the outcome of n emails unknown, and returns the ids of their jobs.
// The platform has processed them.
func (s *shop) lose(submissions ...client.EmailSubmission) (ids []int64) {
	s.t.Helper()
	s.inject(mockserver.Fault{Action: mockserver.FaultReset, AfterProcessing: true, Times: len(submissions)})
	for i, email := range submissions {
		res, err := s.inserter().Insert(s.t.Context(), riverjobs.SendArgs{Key: fmt.Sprint("A-", i+1), Submission: email}, nil)
		require.NoError(s.t, err)
		ids = append(ids, res.Job.ID)
		if _, out := s.ended(res.Job.ID); out.State != riverjobs.StateUnknown {
			s.t.Fatalf("%+v", out)
		}
	}
	return ids
}

func TestResolve(t *testing.T) {
	s := newShop(t)
	j, jobs := s.work(riverjobs.Options{})
	ids := s.lose(order("A-1"), order("A-2"), order("A-3"))
	if list, err := j.Unknown(t.Context()); err != nil || len(list) != 3 || list[0].Key != "A-1" || list[2].JobID != ids[2] {
		t.Errorf("unknown: %+v, %v", list, err)
	}
	require.NoError(t, j.Resolve(t.Context(), "A-1", riverjobs.Sent))
	require.NoError(t, j.Resolve(t.Context(), "A-2", riverjobs.NotSent))
	assert.Contains(t, string(s.reaches(ids[0], rivertype.JobStateCompleted).Output()), "operator", "output")
	s.reaches(ids[1], rivertype.JobStateCompleted)
	for address, want := range map[string]int{order("A-1").To: 1, order("A-2").To: 2, order("A-3").To: 1} {
		assert.Len(t, s.platform.OutboxTo(address), want, "emails to %s", address)
	}
	if list, err := j.Unknown(t.Context()); err != nil || len(list) != 1 || list[0].Key != "A-3" {
		t.Errorf("unknown: %+v, %v", list, err)
	}
	for _, key := range []string{"A-1", "A-2", "A-9"} {
		if err := j.Resolve(t.Context(), key, riverjobs.NotSent); !errors.Is(err, riverjobs.ErrNotUnknown) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
	}
	assert.Error(t, j.Resolve(t.Context(), "A-3", 0), "no resolution is required")
	_, err := jobs.JobDelete(t.Context(), ids[2])
	require.NoError(t, err)
	assert.ErrorIs(t, j.Resolve(t.Context(), "A-3", riverjobs.NotSent), rivertype.ErrNotFound, "the job is deleted")
	if _, out := s.ended(s.insert("A-3")); out.State != riverjobs.StateSent {
		t.Errorf("a new job: %+v", out)
	}
}

// TestResolveSending: the email of a process that ended can be resolved before a
// worker notices, and a request in progress cannot.
func TestResolveSending(t *testing.T) {
	s := newShop(t)
	j := s.jobs(s.client(), riverjobs.Options{})
	id := s.insert("A-1")
	s.exec("INSERT INTO emailplatform_sends (key, job_id, state, started, since, recipient) VALUES ('A-1', $1, 'sending', now(), now(), 'a')", id)
	assert.ErrorIs(t, j.Resolve(t.Context(), "A-1", riverjobs.NotSent), riverjobs.ErrNotUnknown, "in progress")
	s.exec("UPDATE emailplatform_sends SET since = now() - interval '1 minute'")
	require.NoError(t, j.Resolve(t.Context(), "A-1", riverjobs.NotSent))
	s.start(j)
	if _, out := s.ended(id); out.State != riverjobs.StateSent {
		t.Errorf("%+v", out)
	}
}

func TestForget(t *testing.T) {
	s := newShop(t)
	j := s.jobs(s.client(), riverjobs.Options{})
	for i, state := range []string{"sent", "sent", "unknown"} {
		s.exec(`INSERT INTO emailplatform_sends (key, job_id, state, started, since) VALUES ($1, 1, $2, now(), now() - make_interval(hours => $3))`,
			fmt.Sprint("A-", i), state, 3*i)
	}
	if n, err := j.Forget(t.Context(), 2*time.Hour); n != 1 || err != nil || s.count("emailplatform_sends WHERE key <> 'A-1'") != 2 {
		t.Errorf("%d deleted, %v", n, err)
	}
	if _, err := j.Forget(t.Context(), time.Minute); err == nil || !strings.Contains(err.Error(), "olderThan must be at least 1h0m0s, got 1m0s") {
		t.Errorf("got %v", err)
	}
}

// reconcile passes an event of an email to Reconcile, and returns all jobs that
// compare an email.
func (s *shop) reconcile(j *riverjobs.Jobs, emailID, address string) []*rivertype.JobRow {
	s.t.Helper()
	e, err := events.Parse(fmt.Appendf(nil, `{"id":"e-%s","event":"Email.Opened","created_on":1700000000,
		"data":{"email_id":%q,"campaign_id":null,"contact_id":null,"list_id":null,"email_address":%q,"opened_at":"2026-01-01T00:00:00Z"}}`, emailID, emailID, address))
	require.NoError(s.t, err)
	require.NoError(s.t, pgx.BeginFunc(s.t.Context(), s.pool, func(tx pgx.Tx) error { return j.Reconcile(s.t.Context(), tx, e) }))
	list, err := s.inserter().JobList(s.t.Context(), river.NewJobListParams().Kinds("emailplatform_reconcile"))
	require.NoError(s.t, err)
	return list.Jobs
}

// reconciled waits for the jobs of reconcile, and returns their number.
func (s *shop) reconciled(j *riverjobs.Jobs, emailID, address string) int {
	s.t.Helper()
	all := s.reconcile(j, emailID, address)
	for _, row := range all {
		s.reaches(row.ID, rivertype.JobStateCompleted)
	}
	return len(all)
}

// TestReconcile: an event resolves an unknown outcome if exactly one email matches.
func TestReconcile(t *testing.T) {
	t.Parallel()
	with := func(change func(*client.EmailSubmission)) client.EmailSubmission {
		email := order("A-1")
		change(&email)
		return email
	}
	for _, tt := range []struct {
		name  string
		lost  []client.EmailSubmission
		other *client.EmailSubmission // sent without a job; the event is about it
		setup string
		want  riverjobs.State // of the first email
	}{
		{name: "its event", lost: []client.EmailSubmission{order("A-1"), order("A-2")}, want: riverjobs.StateSent},
		{name: "merge tags", lost: []client.EmailSubmission{with(func(e *client.EmailSubmission) {
			e.Content.Subject, e.CustomAttributes = "100% of {{ order }}_{{absent}} \\ {{", client.Attributes{{Name: "order", Value: "A_1"}}
		})}, want: riverjobs.StateSent},
		{name: "another case of the address", setup: "UPDATE emailplatform_sends SET recipient = upper(recipient)", want: riverjobs.StateSent},
		{name: "two that are equal", lost: []client.EmailSubmission{order("A-1"), order("A-1")}, want: riverjobs.StateUnknown},
		{name: "another subject", other: new(with(func(e *client.EmailSubmission) { e.Content.Subject = "Your order A-1." })), want: riverjobs.StateUnknown},
		{name: "another recipient", other: new(order("A-2")), want: riverjobs.StateUnknown},
		{name: "sent much later", setup: "UPDATE emailplatform_sends SET started = started - interval '1 hour'", want: riverjobs.StateUnknown},
		{name: "sent before", setup: "UPDATE emailplatform_sends SET started = started + interval '1 hour'", want: riverjobs.StateUnknown},
		{name: "not yet unknown", setup: "UPDATE emailplatform_sends SET state = 'sending', since = now() - interval '1 hour'", want: riverjobs.StateSent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t)
			c := s.client()
			j := s.jobs(c, riverjobs.Options{})
			s.start(j)
			if tt.lost == nil {
				tt.lost = []client.EmailSubmission{order("A-1")}
			}
			ids := s.lose(tt.lost...)
			if tt.setup != "" {
				s.exec(tt.setup)
			}
			about := s.platform.Outbox()[0]
			if tt.other != nil {
				email, err := c.Emails.Send(t.Context(), *tt.other)
				require.NoError(t, err)
				about.ID = email.ID
			}
			s.reconciled(j, about.ID, "")
			if tt.want == riverjobs.StateUnknown {
				if n := s.count("emailplatform_sends WHERE state = 'unknown'"); n != len(ids) {
					t.Errorf("%d of %d emails are unknown", n, len(ids))
				}
				return
			}
			row := s.reaches(ids[0], rivertype.JobStateCompleted)
			assert.Contains(t, string(row.Output()), `"email_id": "`+about.ID+`"`, "output")
			assert.Equal(t, 1, s.count("emailplatform_sends WHERE state = 'sent' AND recipient IS NULL AND subject IS NULL"), "are sent")
		})
	}
}

// TestReconcileRejected: the response was lost, and the email was rejected.
func TestReconcileRejected(t *testing.T) {
	s := newShop(t)
	c := s.client()
	_, err := c.SuppressedEmails.Add(t.Context(), order("A-1").To)
	require.NoError(t, err)
	s.platform.SetTarget("shop.test", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	_, err = c.Webhooks.Create(t.Context(), client.WebhookCreate{URL: "http://shop.test/hook", Events: []events.Name{events.NameEmailRejected}})
	require.NoError(t, err)
	j := s.jobs(c, riverjobs.Options{})
	s.start(j)
	id := s.lose(order("A-1"))[0]
	rejected := ""
	for _, fired := range s.platform.Events() {
		if e, err := events.Parse(fired.Body); err == nil && e.Name == events.NameEmailRejected {
			rejected = e.EmailID()
		}
	}
	require.Equal(t, 1, s.reconciled(j, rejected, ""), "lookups of email %q", rejected)
	row := s.reaches(id, rivertype.JobStateCancelled)
	if len(row.Errors) != 1 || !strings.Contains(row.Errors[0].Error, "suppressed") || s.count("emailplatform_sends") != 0 {
		t.Errorf("errors %+v", row.Errors)
	}
}

// TestReconcileUnrelatedEvents: events that can resolve nothing cost no lookup.
func TestReconcileUnrelatedEvents(t *testing.T) {
	s := newShop(t)
	j, _ := s.work(riverjobs.Options{})
	assert.Equal(t, 0, s.reconciled(j, "e-1", ""), "lookups without an email")
	_, out := s.ended(s.insert("A-0"))
	s.lose(order("A-1"))
	assert.Equal(t, 0, s.reconciled(j, out.EmailID, ""), "lookups of a known email, want none")
	assert.Equal(t, 0, s.reconciled(j, "e-1", "eve@example.org"), "lookups for an email to another recipient")
	lost := s.platform.OutboxTo(order("A-1").To)[0].ID
	for range 2 {
		assert.Equal(t, 1, s.reconciled(j, lost, strings.ToUpper(order("A-1").To)), "lookups, want 1 for all events of an email")
	}
}

// TestReconcileWaits: an email in progress may be the one that was looked up.
func TestReconcileWaits(t *testing.T) {
	s := newShop(t)
	j, _ := s.work(riverjobs.Options{})
	s.lose(order("A-1"))
	s.exec(`INSERT INTO emailplatform_sends SELECT 'A-2', 0, 'sending', now(), now(), recipient, subject FROM emailplatform_sends`)
	all := s.reconcile(j, s.platform.Outbox()[0].ID, "")
	s.until(all[0].ID, "snoozed", func(row *rivertype.JobRow) bool {
		return row.State == rivertype.JobStateScheduled && time.Until(row.ScheduledAt) > 20*time.Second
	})
	assert.Equal(t, 1, s.count("emailplatform_sends WHERE state = 'unknown'"), "emails are unknown")
}

// TestReconcileInProgress: an event can arrive before the response. The lookup waits.
func TestReconcileInProgress(t *testing.T) {
	s := newShop(t)
	j, _ := s.work(riverjobs.Options{})
	s.exec("INSERT INTO emailplatform_sends (key, job_id, state, started, since, recipient) VALUES ('A-1', 1, 'sending', now(), now(), 'a')")
	all := s.reconcile(j, "e-1", "")
	if len(all) != 1 || all[0].State != rivertype.JobStateScheduled || time.Until(all[0].ScheduledAt) < 20*time.Second {
		t.Errorf("jobs %+v, want one job that waits longer than SendTimeout", all)
	}
}

// TestLookups: two replicas, each with a limiter of its own. Each result is written
// once, although the callback fails at first.
func TestLookups(t *testing.T) {
	s := newShop(t)
	s.exec("CREATE TABLE results (email_id text, subject text)")
	var calls atomic.Int64
	onLookup := func(ctx context.Context, tx pgx.Tx, email client.Email) error {
		_, err := tx.Exec(ctx, "INSERT INTO results VALUES ($1, $2)", email.ID, email.Subject)
		if calls.Add(1) == 1 {
			return errors.Join(err, errors.New("not yet"))
		}
		return err
	}
	c := s.client()
	jobs := s.inserter()
	var ids []int64
	for i := range 3 {
		email, err := c.Emails.Send(t.Context(), order(fmt.Sprint("A-", i)))
		require.NoError(t, err)
		res, err := jobs.Insert(t.Context(), riverjobs.LookupArgs{EmailID: email.ID}, nil)
		require.NoError(t, err)
		ids = append(ids, res.Job.ID)
	}
	for range 2 {
		s.work(riverjobs.Options{OnLookup: onLookup})
	}
	for _, id := range ids {
		s.reaches(id, rivertype.JobStateCompleted)
	}
	if n, m := s.count("results WHERE subject LIKE 'Your order A-_'"), s.count("(SELECT DISTINCT email_id FROM results) AS ids"); n != 3 || m != 3 || calls.Load() != 4 {
		t.Errorf("%d results of %d emails after %d calls; want 3, 3, 4", n, m, calls.Load())
	}
}

// TestLookupFails: a wrong id is not retried, and a failure of the platform is.
func TestLookupFails(t *testing.T) {
	s := newShop(t)
	_, err := s.platform.Inject(mockserver.Fault{Operation: "getEmail", Action: mockserver.FaultStatus, Status: 500, Times: 1})
	require.NoError(t, err)
	email, err := s.client().Emails.Send(t.Context(), order("A-1"))
	require.NoError(t, err)
	s.work(riverjobs.Options{OnLookup: func(context.Context, pgx.Tx, client.Email) error { return nil }})
	for id, want := range map[string]rivertype.JobState{email.ID: rivertype.JobStateCompleted, "unknown": rivertype.JobStateCancelled} {
		res, err := s.inserter().Insert(t.Context(), riverjobs.LookupArgs{EmailID: id}, nil)
		require.NoError(t, err)
		s.reaches(res.Job.ID, want)
	}
}
