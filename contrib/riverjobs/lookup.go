package riverjobs

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/emailplatform/client"
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
