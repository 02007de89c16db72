package riverjobs

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/emailplatform/client"
)

const (
	// proven is the time after a successful request during which all jobs can
	// send.
	proven = 30 * time.Second
	// probeWait is the time that the other jobs wait while one job sends alone.
	probeWait = time.Second
	// maxRetryAfter is the maximum pause that the platform can request.
	maxRetryAfter = time.Hour
)

// enter returns how long a job must wait before it sends. 0 means that it can send
// now, possibly alone. All times come from the database.
func (j *Jobs) enter(ctx context.Context, queue string) (wait time.Duration, err error) {
	var open bool
	var seconds float64
	err = j.pool.QueryRow(ctx, `
		SELECT proven_until > now(), greatest(extract(epoch FROM paused_until - now()), 0)::float8
		FROM emailplatform_pauses WHERE queue = $1`, queue).Scan(&open, &seconds)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, wrap(err)
	}
	if open {
		return 0, nil
	}
	if seconds > 0 {
		return time.Duration(seconds * float64(time.Second)), nil
	}
	tag, err := j.pool.Exec(ctx, `
		INSERT INTO emailplatform_pauses AS p (queue, probe_until) VALUES ($1, now() + make_interval(secs => $2))
		ON CONFLICT (queue) DO UPDATE SET probe_until = excluded.probe_until
		WHERE p.paused_until <= now() AND p.probe_until <= now() AND p.proven_until <= now()`,
		queue, j.workTimeout().Seconds())
	if err != nil || tag.RowsAffected() == 1 {
		return 0, wrap(err)
	}
	return probeWait, nil
}

// succeeded ends the pause, so all jobs send, unless the request began before the
// end of the pause. Most calls do not change a row, so replicas do not wait for
// each other.
func (j *Jobs) succeeded(ctx context.Context, queue string, started time.Time) error {
	var failures int
	err := j.pool.QueryRow(ctx, `
		UPDATE emailplatform_pauses SET failures = 0, probe_until = 'epoch', proven_until = now() + make_interval(secs => $3::float8)
		WHERE queue = $1 AND paused_until <= $2 AND (failures > 0 OR proven_until < now() + make_interval(secs => $3::float8 * 0.7))
		RETURNING (SELECT failures FROM emailplatform_pauses WHERE queue = $1)`, // the value before the update
		queue, started, proven.Seconds()).Scan(&failures)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if failures > 0 {
		j.opts.Logger.InfoContext(ctx, "sending resumed", "queue", queue)
	}
	return wrap(err)
}

// failed pauses the queue, and returns the duration of the pause. All failures of
// requests that began before the pause count as one failure.
func (j *Jobs) failed(ctx context.Context, queue string, started time.Time, cause error) (time.Duration, error) {
	var failures int
	var seconds float64
	var retryAfter time.Duration
	if e := (*client.Error)(nil); errors.As(cause, &e) {
		retryAfter = min(e.RetryAfter, maxRetryAfter)
	}
	longest := j.opts.MaxPause
	if retryAfter > 0 && !errors.Is(cause, client.ErrOutcomeUnknown) {
		longest = 0 // Retry-After alone determines the pause, because an early request causes no unknown outcome
	}
	err := j.pool.QueryRow(ctx, `
		UPDATE emailplatform_pauses SET failures = failures + 1, probe_until = 'epoch', proven_until = 'epoch',
			paused_until = now() + make_interval(secs => greatest($3::float8, least($4::float8 * 2 ^ least(failures, 30), $5::float8)))
		WHERE queue = $1 AND paused_until <= $2
		RETURNING failures, extract(epoch FROM paused_until - now())::float8`,
		queue, started, retryAfter.Seconds(), j.opts.Pause.Seconds(), longest.Seconds()).
		Scan(&failures, &seconds)
	if errors.Is(err, pgx.ErrNoRows) { // already paused; enter returns the remaining time
		return probeWait, nil
	}
	wait := time.Duration(seconds * float64(time.Second))
	if err == nil {
		j.opts.Logger.WarnContext(ctx, "sending paused", "queue", queue, "pause", wait, "failures", failures, "error", cause)
	}
	return wait, wrap(err)
}
