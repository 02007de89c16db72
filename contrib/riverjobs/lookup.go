package riverjobs

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

// lookupTimeout is the timeout of a lookup job. The client retries a rejected
// lookup for a minute, so the timeout must be longer.
const lookupTimeout = 5 * time.Minute

type lookupWorker struct {
	river.WorkerDefaults[LookupArgs]
	*Jobs
}

// Timeout implements river.Worker.
func (*lookupWorker) Timeout(*river.Job[LookupArgs]) time.Duration { return lookupTimeout }

// Work implements river.Worker.
func (w *lookupWorker) Work(ctx context.Context, job *river.Job[LookupArgs]) error {
	email, err := w.lookUp(ctx, job.Args.EmailID)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		if err := w.opts.OnLookup(ctx, tx, email); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return wrap(err)
	})
}

// lookUp returns an email. After an error, River retries the job, unless the
// id is wrong.
func (j *Jobs) lookUp(ctx context.Context, emailID string) (client.Email, error) {
	email, err := j.c.Emails.Get(ctx, emailID)
	if errors.Is(err, client.ErrNotFound) || errors.Is(err, client.ErrValidation) {
		return email, river.JobCancel(err)
	}
	return email, err
}

// clockSkew is the maximum difference between the clocks of the platform and the
// database.
const clockSkew = time.Minute

// Reconcile uses an event to resolve unknown outcomes. Call Reconcile for all
// events, in the transaction that records the event. If no record contains the
// event's email id, and an email to the same recipient has an unknown outcome,
// Reconcile inserts a lookup job.
//
// # Matching
//
// An event matches a record if recipient, subject and time match. In a subject,
// merge tags without a custom attribute match any text. If exactly one record
// matches, the job records its email as sent or, if the platform rejected the
// email, as not queued. The job waits while a worker may still be sending a
// matching email, because that email could be the event's.
func (j *Jobs) Reconcile(ctx context.Context, tx pgx.Tx, e *events.Event) error {
	id := e.EmailID()
	if t := e.SendingType(); id == "" || t != "" && t != events.SendingTypeEmailAPI {
		return nil
	}
	unknown, sending, err := j.candidates(ctx, tx, id, e.Recipient())
	if err != nil || !unknown && !sending {
		return err
	}
	opts := &river.InsertOpts{}
	if !unknown {
		opts.ScheduledAt = time.Now().Add(j.workTimeout())
	}
	if !storable(id) { // an error would fail the event, although no retry can succeed
		j.opts.Logger.WarnContext(ctx, "email id cannot be stored", "email_id", id)
		return nil
	}
	_, err = j.jobs.InsertTx(ctx, tx, reconcileArgs{id}, opts)
	return wrap(err)
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// candidates reports whether an email with an unknown outcome may have the id, and
// whether an email that a worker is sending may have the id. If a record already contains the id,
// both results are false. An empty recipient matches any recipient.
func (j *Jobs) candidates(ctx context.Context, q querier, emailID, recipient string) (unknown, sending bool, err error) {
	err = q.QueryRow(ctx, `
		SELECT coalesce(bool_or(`+open+`), false), coalesce(bool_or(NOT `+open+`), false) FROM emailplatform_sends
		WHERE state IN ('sending', 'unknown') AND ($2 = '' OR lower(recipient) = lower($2))
			AND NOT EXISTS (SELECT FROM emailplatform_sends WHERE email_id = $3)`, j.workTimeout().Seconds(), text(recipient), text(emailID)).
		Scan(&unknown, &sending)
	return unknown, sending, wrap(err)
}

type reconcileWorker struct {
	river.WorkerDefaults[reconcileArgs]
	*Jobs
}

// Timeout implements river.Worker.
func (*reconcileWorker) Timeout(*river.Job[reconcileArgs]) time.Duration { return lookupTimeout }

// Work implements river.Worker.
func (w *reconcileWorker) Work(ctx context.Context, job *river.Job[reconcileArgs]) error {
	unknown, sending, err := w.candidates(ctx, w.pool, job.Args.EmailID, "")
	if err != nil || !unknown && !sending {
		return err
	}
	email, err := w.lookUp(ctx, job.Args.EmailID)
	if err != nil {
		return err
	}
	_, sending, err = w.candidates(ctx, w.pool, email.ID, email.To)
	if err != nil {
		return err
	}
	if sending { // the id may belong to the email in progress, so it must not match another record
		return river.JobSnooze(w.workTimeout())
	}
	return pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error { return w.match(ctx, tx, email) })
}

// match records the outcome if the email matches exactly one record with an unknown
// outcome.
func (j *Jobs) match(ctx context.Context, tx pgx.Tx, email client.Email) error {
	r := Output{State: StateSent, EmailID: email.ID}
	switch email.Status {
	case client.EmailStatusRejected:
		r.State, r.Reason = StateNotQueued, "the platform rejected the email: "+string(email.Reason)
	case client.EmailStatusError:
		r.State, r.Reason = StateNotQueued, "the platform failed: "+email.Error
	}
	r = recordable(r)
	var jobID int64
	err := tx.QueryRow(ctx, `
		UPDATE emailplatform_sends SET state = $5, reason = nullif($6, ''), email_id = nullif($7, ''), since = now(), recipient = NULL, subject = NULL
		WHERE `+open+` AND key = (
			SELECT min(key) FROM emailplatform_sends
			WHERE `+open+` AND lower(recipient) = lower($2) AND $3 LIKE subject
				AND $4 BETWEEN started - make_interval(secs => $8) AND started + make_interval(secs => $1::float8 + $8)
			HAVING count(*) = 1)
		RETURNING job_id`,
		j.workTimeout().Seconds(), text(email.To), text(email.Subject), email.SubmittedOn, r.State, r.Reason, r.EmailID, clockSkew.Seconds()).
		Scan(&jobID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return wrap(err)
	}
	_, err = j.wake(ctx, tx, jobID)
	return err
}
