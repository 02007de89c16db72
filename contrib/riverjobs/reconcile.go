package riverjobs

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

// clockSkew is the maximum difference between the clocks of the platform and the
// database.
const clockSkew = time.Minute

// Reconcile uses an event to resolve unknown outcomes. Call Reconcile for all
// events, in the transaction that records the event. If no record contains the
// event's email id, and an email to the same recipient has an unknown outcome,
// Reconcile inserts a job that looks up the email. If the recipient, the subject
// and the time match exactly one record, the job records the email as sent. If
// the platform rejected the email, the job records the email as not queued. A
// merge tag without a custom attribute matches any text in the subject. While a
// worker may still be sending a matching email, the job waits.
func (j *Jobs) Reconcile(ctx context.Context, tx pgx.Tx, e *events.Event) error {
	id := e.EmailID()
	if t := e.SendingType(); id == "" || t != "" && t != events.SendingTypeEmailAPI {
		return nil
	}
	c, err := j.candidates(ctx, tx, id, e.Recipient())
	if err != nil || !c.unknown && !c.sending {
		return err
	}
	opts := &river.InsertOpts{}
	if !c.unknown {
		opts.ScheduledAt = time.Now().Add(j.workTimeout())
	}
	_, err = j.jobs.InsertTx(ctx, tx, reconcileArgs{id}, opts)
	return wrap(err)
}

// candidates are the states of the emails that an event may belong to.
type candidates struct {
	unknown bool // the outcome is unknown
	sending bool // a worker is sending it
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// candidates returns the states of the emails that may have the id, or none if
// a record already contains it. An empty recipient matches any recipient.
func (j *Jobs) candidates(ctx context.Context, q querier, emailID, recipient string) (c candidates, err error) {
	err = q.QueryRow(ctx, `
		SELECT coalesce(bool_or(`+open+`), false), coalesce(bool_or(NOT `+open+`), false) FROM emailplatform_sends
		WHERE state IN ('sending', 'unknown') AND ($2 = '' OR lower(recipient) = lower($2))
			AND NOT EXISTS (SELECT FROM emailplatform_sends WHERE email_id = $3)`, j.workTimeout().Seconds(), recipient, emailID).
		Scan(&c.unknown, &c.sending)
	return c, wrap(err)
}

type reconcileWorker struct {
	river.WorkerDefaults[reconcileArgs]
	*Jobs
}

// Timeout implements river.Worker.
func (*reconcileWorker) Timeout(*river.Job[reconcileArgs]) time.Duration { return lookupTimeout }

// Work implements river.Worker.
func (w *reconcileWorker) Work(ctx context.Context, job *river.Job[reconcileArgs]) error {
	c, err := w.candidates(ctx, w.pool, job.Args.EmailID, "")
	if err != nil || !c.unknown && !c.sending {
		return err
	}
	email, err := w.lookUp(ctx, job.Args.EmailID)
	if err != nil {
		return err
	}
	c, err = w.candidates(ctx, w.pool, email.ID, email.To)
	if err != nil {
		return err
	}
	if c.sending { // this may be the email in progress, which must not match another record
		return river.JobSnooze(w.workTimeout())
	}
	return pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error { return w.match(ctx, tx, email) })
}

// match records the outcome if the email matches exactly one record with an unknown
// outcome.
func (j *Jobs) match(ctx context.Context, tx pgx.Tx, email client.Email) error {
	state, reason := StateSent, ""
	switch email.Status {
	case client.EmailStatusRejected:
		state, reason = StateNotQueued, "the platform rejected the email: "+string(email.Reason)
	case client.EmailStatusError:
		state, reason = StateNotQueued, "the platform failed: "+email.Error
	}
	var jobID int64
	err := tx.QueryRow(ctx, `
		UPDATE emailplatform_sends SET state = $5, reason = nullif($6, ''), email_id = $7, since = now(), recipient = NULL, subject = NULL
		WHERE `+open+` AND key = (
			SELECT min(key) FROM emailplatform_sends
			WHERE `+open+` AND lower(recipient) = lower($2) AND $3 LIKE subject
				AND $4 BETWEEN started - make_interval(secs => $8) AND started + make_interval(secs => $1::float8 + $8)
			HAVING count(*) = 1)
		RETURNING job_id`,
		j.workTimeout().Seconds(), email.To, email.Subject, email.SubmittedOn, state, reason, email.ID, clockSkew.Seconds()).Scan(&jobID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return wrap(err)
	}
	_, err = j.wake(ctx, tx, jobID)
	return err
}
