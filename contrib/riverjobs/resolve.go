package riverjobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/rivertype"
)

// ErrNotUnknown means that [Jobs.Resolve] was called for an email without an
// unknown outcome.
var ErrNotUnknown = errors.New("riverjobs: only an email with an unknown outcome can be resolved")

// open is the SQL condition for emails with an unknown outcome, including emails
// in the state "sending" whose worker has timed out. The parameter $1 is
// Jobs.workTimeout.
const open = `(state = 'unknown' OR state = 'sending' AND since < now() - make_interval(secs => $1::float8))`

// Unresolved is an email whose outcome is unknown.
type Unresolved struct {
	Key    string
	JobID  int64     // id of the River job
	To     string    // the recipient's address
	Sent   time.Time // when the request began
	Reason string    // empty if no worker has recorded the unknown outcome yet
}

// Unknown returns up to 1,000 emails whose outcome is unknown, oldest first.
func (j *Jobs) Unknown(ctx context.Context) ([]Unresolved, error) {
	rows, err := j.pool.Query(ctx, `
		SELECT key, job_id, recipient, started, coalesce(reason, '')
		FROM emailplatform_sends WHERE `+open+` ORDER BY started, key LIMIT 1000`, j.workTimeout().Seconds())
	if err != nil {
		return nil, wrap(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Unresolved])
	return list, wrap(err)
}

// Resolution is an operator's decision about an email with an unknown outcome.
type Resolution int

// The values of [Resolution].
const (
	// Sent means that the platform accepted the email. The job completes.
	Sent Resolution = iota + 1
	// NotSent means that the platform did not accept the email, or that a duplicate
	// is acceptable. The job sends the email.
	NotSent
)

// Resolve records the decision of an operator about an email with an unknown
// outcome. If the outcome is not unknown, Resolve returns [ErrNotUnknown]. If
// the job was deleted, the error wraps rivertype.ErrNotFound, but Resolve still
// records the resolution. If you resolve a deleted job as NotSent, insert a new
// job with the same key to send the email.
func (j *Jobs) Resolve(ctx context.Context, key string, r Resolution) error {
	const resolved = ` WHERE ` + open + ` AND key = $2 RETURNING job_id`
	statement := "DELETE FROM emailplatform_sends" + resolved
	switch r {
	case Sent:
		statement = "UPDATE emailplatform_sends SET state = 'sent', since = now(), recipient = NULL, subject = NULL, reason = 'resolved by an operator'" + resolved
	case NotSent:
	default:
		return fmt.Errorf("riverjobs: resolution must be Sent or NotSent, got %d", r)
	}
	gone := false
	err := pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		var jobID int64
		err := tx.QueryRow(ctx, statement, j.workTimeout().Seconds(), key).Scan(&jobID)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("%w: %q", ErrNotUnknown, key)
		}
		if err != nil {
			return wrap(err)
		}
		gone, err = j.wake(ctx, tx, jobID)
		return err
	})
	if err == nil && gone {
		return fmt.Errorf("riverjobs: job for key %q: %w", key, rivertype.ErrNotFound)
	}
	return err
}

// wake runs the job now instead of at its next recheck.
func (j *Jobs) wake(ctx context.Context, tx pgx.Tx, jobID int64) (gone bool, err error) {
	_, err = j.jobs.JobRetryTx(ctx, tx, jobID)
	if errors.Is(err, rivertype.ErrNotFound) {
		return true, nil
	}
	return false, wrap(err)
}

// Forget deletes the records of emails that were sent more than olderThan ago, and
// returns their number. An email whose record was deleted can be sent again.
// Therefore olderThan must exceed the time during which the application may insert
// the same key again. The minimum is one hour. Forget does not delete records of
// unsent emails or unknown outcomes. Concurrent calls are safe.
func (j *Jobs) Forget(ctx context.Context, olderThan time.Duration) (deleted int64, err error) {
	if olderThan < time.Hour {
		return 0, fmt.Errorf("riverjobs: olderThan must be at least 1h0m0s, got %v", olderThan)
	}
	tag, err := j.pool.Exec(ctx,
		"DELETE FROM emailplatform_sends WHERE state = 'sent' AND since < now() - make_interval(secs => $1)", olderThan.Seconds())
	return tag.RowsAffected(), wrap(err)
}
