package riverjobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"example.com/emailplatform/client"
)

// recheck is the interval at which the job of an email with an unknown outcome
// checks for a resolution. [Jobs.Resolve] and [Jobs.Reconcile] usually wake the
// job before the next check.
const recheck = time.Hour

type sendWorker struct {
	river.WorkerDefaults[SendArgs]
	*Jobs
}

// workTimeout is longer than any job takes, because each step of a job has a
// deadline.
func (j *Jobs) workTimeout() time.Duration { return j.opts.SendTimeout + 3*dbTimeout }

// Timeout implements river.Worker.
func (w *sendWorker) Timeout(*river.Job[SendArgs]) time.Duration { return w.workTimeout() }

// Work implements river.Worker.
func (w *sendWorker) Work(ctx context.Context, job *river.Job[SendArgs]) error {
	if err := ctx.Err(); err != nil {
		return err // shutdown: River makes the job available again
	}
	started, err := w.prepare(ctx, job)
	if err != nil || started.IsZero() {
		return err
	}
	sending, cancel := uncanceled(ctx, w.opts.SendTimeout)
	defer cancel()
	email, err := w.c.Emails.Send(sending, job.Args.Submission)
	ctx, cancel = uncanceled(ctx, dbTimeout)
	defer cancel()
	return w.conclude(ctx, job, started, email, err)
}

// prepare records that the job is about to send. If the job must not send, prepare
// returns the zero time and the job's result.
func (w *sendWorker) prepare(ctx context.Context, job *river.Job[SendArgs]) (started time.Time, err error) {
	ctx, cancel := uncanceled(ctx, dbTimeout) // otherwise a canceled begin would look like a crash
	defer cancel()
	known, isNew, err := w.find(ctx, job.Args.Key, job.ID)
	if err != nil {
		return time.Time{}, err
	}
	if isNew {
		w.warn(ctx, "email outcome unknown", job, known.Reason)
	}
	if known.State == StateNotQueued { // resolved by Reconcile
		_, err = w.pool.Exec(ctx, "DELETE FROM emailplatform_sends WHERE key = $1 AND state = 'not_queued'", job.Args.Key)
		err = wrap(err)
	}
	if err != nil || known.State != "" {
		return time.Time{}, errors.Join(err, finish(ctx, known))
	}
	wait, err := w.enter(ctx, job.Queue)
	if err != nil {
		return time.Time{}, err
	}
	if wait > 0 {
		return time.Time{}, river.JobSnooze(wait)
	}
	started, err = w.begin(ctx, job.Args, job.ID)
	if err == nil && started.IsZero() { // another job with the key was faster
		return started, river.JobSnooze(probeWait)
	}
	return started, err
}

// conclude records the outcome of a request, first in the email's record, then
// for the queue.
func (w *sendWorker) conclude(ctx context.Context, job *river.Job[SendArgs], started time.Time, email client.SubmittedEmail, err error) error {
	r := recordable(outcome(email, err))
	if err := w.settle(ctx, job.Args.Key, started, r); err != nil {
		w.warn(ctx, "email outcome not recorded", job, r.Reason, "state", r.State, "email_id", email.ID)
		return err
	}
	switch forbidden := errors.Is(err, client.ErrForbidden); {
	case r.State == StateSent, r.State == StateNotQueued, forbidden: // the error concerns only this email
		if err := w.succeeded(ctx, job.Queue, started); err != nil {
			return err
		}
		if forbidden {
			w.warn(ctx, "email forbidden", job, err.Error())
			return river.JobSnooze(w.opts.MaxPause)
		}
	default:
		wait, failure := w.failed(ctx, job.Queue, started, err)
		if failure != nil {
			return failure
		}
		if r.State == "" {
			return river.JobSnooze(wait)
		}
	}
	switch r.State {
	case StateUnknown:
		w.warn(ctx, "email outcome unknown", job, r.Reason)
	case StateNotQueued:
		w.warn(ctx, "email not queued", job, r.Reason)
	}
	return finish(ctx, r)
}

// outcome returns the Output for a result of Emails.Send. The Output has no
// state if the email can be sent later. In this case the platform has
// certainly not processed it, and the email is not the cause.
func outcome(email client.SubmittedEmail, err error) Output {
	var e *client.Error
	switch {
	case err == nil:
		return Output{State: StateSent, EmailID: email.ID}
	case errors.Is(err, client.ErrOutcomeUnknown):
		reason := err.Error()
		if email.ID != "" { // an invalid response, but the id could be read
			reason += ", with the email id " + email.ID
		}
		return Output{State: StateUnknown, Reason: reason}
	case errors.Is(err, client.ErrNotQueued), errors.Is(err, client.ErrValidation):
		return Output{State: StateNotQueued, EmailID: email.ID, Reason: err.Error()}
	case errors.Is(err, client.ErrUnauthorized), errors.Is(err, client.ErrForbidden), errors.Is(err, client.ErrRateLimited):
		return Output{}
	case errors.As(err, &e) && 400 <= e.StatusCode && e.StatusCode < 500:
		return Output{State: StateNotQueued, Reason: err.Error()}
	}
	return Output{}
}

// finish returns the result of a job whose email already has a record.
func finish(ctx context.Context, r Output) error {
	if err := river.RecordOutput(ctx, r); err != nil {
		return wrap(err)
	}
	switch r.State {
	case StateNotQueued:
		return river.JobCancel(errors.New(r.Reason))
	case StateUnknown:
		return river.JobSnooze(recheck)
	}
	return nil
}

func (w *sendWorker) warn(ctx context.Context, message string, job *river.Job[SendArgs], reason string, more ...any) {
	w.opts.Logger.WarnContext(ctx, message, append([]any{"key", job.Args.Key, "job_id", job.ID, "error", reason}, more...)...)
}
