package mailroom

import (
	"context"
	"errors"
	"time"

	"example.com/emailplatform/client"
)

// pauseKey is the key of the only pause. All workers of all processes share it.
const pauseKey = "send"

// maxRetryAfter is the longest pause that the platform can request.
const maxRetryAfter = time.Hour

// pause is the value of the item that stops all workers after a failure.
type pause struct {
	Failures int       `json:"failures"`
	Since    time.Time `json:"since"`
}

// mustWait reports whether a worker must wait. After a pause, one worker sends alone,
// and the others wait for its result.
func (r *Room) mustWait(ctx context.Context, tx Tx, now time.Time) (wait bool, err error) {
	it, found, err := tx.Get(ctx, kindPause, pauseKey)
	if err != nil || !found {
		return false, err
	}
	if it.Due.After(now) {
		return true, nil
	}
	it.Due = now.Add(r.lease())
	return false, tx.Put(ctx, it)
}

// countFailure ends the pause after a response, and begins or extends it after a failure.
// A 403, a 404, a 409 and a response with the status "error" can concern only this email,
// so they change nothing.
func (r *Room) countFailure(ctx context.Context, tx Tx, started time.Time, sent error) error {
	result := client.ResultOfSend(sent)
	success := result == client.SendAccepted || result == client.SendRejected
	if !success && concernsOneEmail(sent) {
		return nil
	}
	it, _, err := tx.Get(ctx, kindPause, pauseKey)
	if err != nil {
		return err
	}
	p, err := decode[pause](it)
	if err != nil || started.Before(p.Since) {
		return err // the request began before the pause
	}
	if success {
		return tx.Delete(ctx, kindPause, pauseKey)
	}
	p.Failures, p.Since = p.Failures+1, time.Now()
	d := doubled(r.opts.Pause, p.Failures, r.opts.MaxPause)
	if e, ok := errors.AsType[*client.Error](sent); ok && e.RetryAfter > 0 {
		d = min(e.RetryAfter, maxRetryAfter)
	}
	r.opts.Logger.WarnContext(ctx, "mailroom: sending paused", "pause", d, "error", sent)
	return tx.Put(ctx, Item{Kind: kindPause, Key: pauseKey, Due: p.Since.Add(d), Value: encode(p)})
}

func concernsOneEmail(sent error) bool {
	return errors.Is(sent, client.ErrForbidden) || errors.Is(sent, client.ErrNotFound) ||
		errors.Is(sent, client.ErrConflict) || errors.Is(sent, client.ErrNotQueued)
}
