package riverjobs_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/rivertype"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/mockserver"
)

// TestLookups: two replicas, each with a limiter of its own. Each result is written
// once, although the callback fails at first.
func TestLookups(t *testing.T) {
	t.Parallel()
	s := newShop(t, mockserver.Config{Lookups: mockserver.LookupMinInterval})
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
		fatal(t, err)
		res, err := jobs.Insert(t.Context(), riverjobs.LookupArgs{EmailID: email.ID}, nil)
		fatal(t, err)
		ids = append(ids, res.Job.ID)
	}
	for range 2 {
		s.start(s.jobs(s.client(), riverjobs.Options{OnLookup: onLookup}))
	}
	for _, id := range ids {
		s.until(id, "completed", func(row *rivertype.JobRow) bool { return row.State == rivertype.JobStateCompleted })
	}
	if n, m := s.count("results WHERE subject LIKE 'Your order A-_'"), s.count("(SELECT DISTINCT email_id FROM results) AS ids"); n != 3 || m != 3 || calls.Load() != 4 {
		t.Errorf("%d results of %d emails after %d calls; want 3, 3, 4", n, m, calls.Load())
	}
}

// TestLookupFails: a wrong id is not retried, and a failure of the platform is.
func TestLookupFails(t *testing.T) {
	t.Parallel()
	s := newShop(t, mockserver.Config{})
	_, err := s.platform.Inject(mockserver.Fault{Operation: "getEmail", Action: mockserver.FaultStatus, Status: 500, Times: 1})
	fatal(t, err)
	email, err := s.client().Emails.Send(t.Context(), order("A-1"))
	fatal(t, err)
	s.start(s.jobs(s.client(), riverjobs.Options{OnLookup: func(context.Context, pgx.Tx, client.Email) error { return nil }}))
	for id, want := range map[string]rivertype.JobState{email.ID: rivertype.JobStateCompleted, "unknown": rivertype.JobStateCancelled} {
		res, err := s.inserter().Insert(t.Context(), riverjobs.LookupArgs{EmailID: id}, nil)
		fatal(t, err)
		s.until(res.Job.ID, string(want), func(row *rivertype.JobRow) bool { return row.State == want })
	}
}
