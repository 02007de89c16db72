package riverjobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/emailplatform/client"
)

// Schema creates the tables of this package in the first schema of the search path,
// if the tables do not exist. Run Schema before the first job, or copy the
// statements into your migrations. Concurrent runs of Schema can fail.
const Schema = `
CREATE TABLE IF NOT EXISTS emailplatform_sends (
	key       text PRIMARY KEY,
	job_id    bigint NOT NULL,
	state     text NOT NULL,
	started   timestamptz NOT NULL,  -- when the request began
	since     timestamptz NOT NULL,  -- when the state was set
	recipient text,                  -- until the email is sent
	subject   text,                  -- a pattern for LIKE, until the email is sent
	email_id  text,
	reason    text
);
CREATE INDEX IF NOT EXISTS emailplatform_sends_open ON emailplatform_sends (lower(recipient)) WHERE state IN ('sending', 'unknown');
CREATE INDEX IF NOT EXISTS emailplatform_sends_email_id ON emailplatform_sends (email_id);
CREATE TABLE IF NOT EXISTS emailplatform_pauses (
	queue        text PRIMARY KEY,
	failures     int NOT NULL DEFAULT 0,
	paused_until timestamptz NOT NULL DEFAULT 'epoch',
	probe_until  timestamptz NOT NULL DEFAULT 'epoch', -- until then one job sends alone
	proven_until timestamptz NOT NULL DEFAULT 'epoch'  -- until then all jobs send
);
`

// find returns the record for a key, or a zero Output if there is none. It also sets the job's id in the record. The
// state sending means that an earlier process ended during the request, so find changes it to unknown and sets isNew.
func (j *Jobs) find(ctx context.Context, key string, jobID int64) (r Output, isNew bool, err error) {
	err = j.pool.QueryRow(ctx, `
		UPDATE emailplatform_sends SET job_id = $2,
			reason = CASE state WHEN 'sending' THEN 'the process ended while it sent the email' ELSE reason END,
			since = CASE state WHEN 'sending' THEN now() ELSE since END,
			state = CASE state WHEN 'sending' THEN 'unknown' ELSE state END
		WHERE key = $1 RETURNING state, coalesce(email_id, ''), coalesce(reason, ''), since = now()`, key, jobID).
		Scan(&r.State, &r.EmailID, &r.Reason, &isNew)
	if errors.Is(err, pgx.ErrNoRows) {
		return Output{}, false, nil
	}
	return r, isNew, wrap(err)
}

// begin records that the request is about to be sent. It returns the time of
// the record. The time identifies the record, because the key can have
// another record later. If another job already has a record for the key,
// begin returns the zero time.
func (j *Jobs) begin(ctx context.Context, args SendArgs, jobID int64) (started time.Time, err error) {
	err = j.pool.QueryRow(ctx, `
		INSERT INTO emailplatform_sends (key, job_id, state, started, since, recipient, subject)
		VALUES ($1, $2, 'sending', now(), now(), $3, $4) ON CONFLICT (key) DO NOTHING RETURNING started`,
		args.Key, jobID, args.Submission.To, subjectPattern(args.Submission)).Scan(&started)
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, nil
	}
	return started, wrap(err)
}

// settle records the outcome of the request that began at the given time. It
// retries for a moment, because the connection may have been lost during the
// request.
func (j *Jobs) settle(ctx context.Context, key string, started time.Time, r Output) (err error) {
	for range 3 {
		if r.State == "" || r.State == StateNotQueued { // the email was not sent, so it can be sent later
			_, err = j.pool.Exec(ctx, "DELETE FROM emailplatform_sends WHERE key = $1 AND started = $2", key, started)
		} else {
			_, err = j.pool.Exec(ctx, `
				UPDATE emailplatform_sends SET state = $3, since = now(), email_id = nullif($4, ''), reason = nullif($5, ''),
					recipient = CASE $3 WHEN 'unknown' THEN recipient END, subject = CASE $3 WHEN 'unknown' THEN subject END
				WHERE key = $1 AND started = $2`, key, started, r.State, r.EmailID, r.Reason)
		}
		if err == nil || ctx.Err() != nil {
			break
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	return wrap(err)
}

// subjectPattern returns a pattern for the subject of the sent email. Custom
// attributes replace their merge tags, and other merge tags match any text.
func subjectPattern(s client.EmailSubmission) string {
	literal := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	var b strings.Builder
	rest := s.Content.Subject
	for {
		before, after, found := strings.Cut(rest, "{{")
		name, next, closed := strings.Cut(after, "}}")
		if !found || !closed {
			b.WriteString(literal.Replace(rest))
			return b.String()
		}
		b.WriteString(literal.Replace(before))
		name = strings.TrimSpace(name)
		if i := slices.IndexFunc(s.CustomAttributes, func(a client.CustomAttribute) bool { return a.Name == name }); i >= 0 {
			b.WriteString(literal.Replace(s.CustomAttributes[i].Value))
		} else {
			b.WriteByte('%')
		}
		rest = next
	}
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("riverjobs: %w", err)
}
