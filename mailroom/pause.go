package mailroom

import (
	"context"
	"errors"
	"time"

	"example.com/emailplatform/client"
)

const (
	pauseKey      = "send"           // the key of the only pause, which all workers of all processes share
	proven        = 30 * time.Second // after a success, all workers can send
	maxRetryAfter = time.Hour        // the longest pause that the platform can request
)

// pause is the value of the item that decides who can send. Until the item's time, no worker
// sends, except the worker that probes the platform with one email.
type pause struct {
	Failures int       `json:"failures,omitempty"`
	Probe    bool      `json:"probe,omitempty"` // one worker sends alone now
	Since    time.Time `json:"since,omitzero"`  // start of the pause or the probe; earlier requests do not count
	Proven   time.Time `json:"proven,omitzero"` // until then, all workers send
}

// probeWait is the time between two looks at the result of a probe.
const probeWait = time.Second

// mustWait returns how long a worker must wait, or 0 if it can send. After a pause, and
// after a time without a success, it permits only one worker to send. The other workers
// wait for the result of this worker. Therefore an outage causes only one unknown outcome
// for each pause.
func (r *Room) mustWait(ctx context.Context, tx Tx, now time.Time) (time.Duration, error) {
	p, err := peekPause(ctx, tx)
	if err != nil || p.Proven.After(now) {
		return 0, err
	}
	it, p, err := lockPause(ctx, tx)
	switch {
	case err != nil || p.Proven.After(now):
		return 0, err
	case it.Due.After(now) && p.Probe:
		return probeWait, nil
	case it.Due.After(now):
		return it.Due.Sub(now), nil
	}
	it.Due, p.Probe, p.Since = now.Add(r.lease()), true, now
	it.Value = encode(p)
	return 0, tx.Put(ctx, it)
}

// peekPause reads the pause without locking it, so workers do not wait for each other.
func peekPause(ctx context.Context, tx Tx) (p pause, err error) {
	items, err := tx.ByRef(ctx, kindPause, pauseKey)
	if err != nil || len(items) == 0 {
		return p, err
	}
	return decodePause(&items[0])
}

// decodePause ignores future times that only a process with a wrong clock can have written.
func decodePause(it *Item) (p pause, err error) {
	p, err = decode[pause](*it)
	limit := time.Now().Add(skew)
	if p.Since.After(limit) {
		p.Since, it.Due = time.Time{}, time.Time{}
	}
	if p.Proven.After(limit.Add(proven)) {
		p.Proven = time.Time{}
	}
	return p, err
}

func lockPause(ctx context.Context, tx Tx) (it Item, p pause, err error) {
	if it, err = getOrInsert(ctx, tx, Item{Kind: kindPause, Key: pauseKey, Ref: pauseKey}); err == nil {
		p, err = decodePause(&it)
	}
	return it, p, err
}

// countResult ends the pause after a success, and begins or extends it after a failure. A
// 403, a 404, a 409 and a response with the status "error" can concern only this email, so
// they neither end nor extend the pause. After such a response, another worker can probe
// the platform.
func (r *Room) countResult(ctx context.Context, tx Tx, started time.Time, sent error) error {
	result := client.ResultOfSend(sent)
	success := result == client.SendAccepted || result == client.SendRejected
	if p, err := peekPause(ctx, tx); err != nil || success && time.Until(p.Proven) > proven*2/3 {
		return err
	}
	it, p, err := lockPause(ctx, tx)
	if err != nil || started.Before(p.Since) {
		return err
	}
	now := time.Now()
	switch {
	case success:
		it.Due, p = time.Time{}, pause{Since: p.Since, Proven: now.Add(proven)}
		r.store.AfterCommit(ctx, r.sends.wake)
	case !concernsOneEmail(sent):
		p = pause{Failures: p.Failures + 1, Since: now}
		d := r.pauseAfter(p.Failures, sent)
		it.Due = now.Add(d)
		r.opts.Logger.WarnContext(ctx, "mailroom: sending paused", "pause", d, "error", sent)
	case p.Probe:
		it.Due, p.Probe = now, false
	}
	it.Value = encode(p)
	return tx.Put(ctx, it)
}

// pauseAfter returns the pause after the given number of failures. If the outcome of the
// last request is unknown, a Retry-After can extend the pause but not shorten it, because
// each probe can cause another unknown outcome.
func (r *Room) pauseAfter(failures int, sent error) time.Duration {
	d := doubled(r.opts.Pause, failures, r.opts.MaxPause)
	e, ok := errors.AsType[*client.Error](sent)
	if !ok || e.RetryAfter <= 0 {
		return d
	}
	if errors.Is(sent, client.ErrOutcomeUnknown) {
		return max(d, min(e.RetryAfter, maxRetryAfter))
	}
	return min(e.RetryAfter, maxRetryAfter)
}

func concernsOneEmail(sent error) bool {
	return errors.Is(sent, client.ErrForbidden) || errors.Is(sent, client.ErrNotFound) ||
		errors.Is(sent, client.ErrConflict) || errors.Is(sent, client.ErrNotQueued)
}
