package mailroom

import (
	"errors"
	"time"

	"example.com/emailplatform/client"
)

const (
	pauseKey      = "send"           // the key of the only pause, which all workers of all processes share
	proven        = 30 * time.Second // after a success, all workers can send
	probeWait     = time.Second      // between two looks at the result of a probe
	maxRetryAfter = time.Hour        // the longest pause that the platform can request
)

// pause is the value of the item that decides who can send.
type pause struct {
	Mode     mode      `json:"mode,omitempty"`
	Until    time.Time `json:"until,omitzero"` // end of the mode
	Since    time.Time `json:"since,omitzero"` // start of the pause or the probe; earlier requests do not count
	Failures int       `json:"failures,omitempty"`
}

type mode string

const (
	open    mode = "open"    // all workers send
	paused  mode = "paused"  // no worker sends
	probing mode = "probing" // one worker sends alone, and the others wait for its result
)

// mustWait returns how long a worker must wait, or 0 if it can send. After a pause, and
// after a time without a success, it permits only one worker to send. Therefore an outage
// causes only one unknown outcome for each pause.
func (s *state) mustWait(now time.Time) time.Duration {
	if p := s.peekPause(); p.Mode == open && p.Until.After(now) {
		return 0
	}
	p := s.lockPause()
	if left := p.Until.Sub(now); left > 0 {
		return map[mode]time.Duration{paused: left, probing: probeWait}[p.Mode]
	}
	s.putPause(pause{Mode: probing, Until: now.Add(s.lease()), Since: now, Failures: p.Failures})
	return 0
}

// peekPause reads the pause without locking it, so workers do not wait for each other.
func (s *state) peekPause() (p pause) {
	for _, it := range s.byRef(kindPause, pauseKey) {
		p = s.readPause(it)
	}
	return p
}

func (s *state) lockPause() pause {
	it, _ := s.getOrInsert(Item{Kind: kindPause, Key: pauseKey, Ref: pauseKey})
	return s.readPause(it)
}

// readPause ignores future times that only a process with a wrong clock can have written.
func (s *state) readPause(it Item) pause {
	p, limit := read[pause](s, it), time.Now().Add(skew)
	if p.Since.After(limit) || p.Mode == open && p.Until.After(limit.Add(proven)) {
		p = pause{Failures: p.Failures}
	}
	return p
}

func (s *state) putPause(p pause) {
	s.put(Item{Kind: kindPause, Key: pauseKey, Ref: pauseKey, Value: encode(p)})
}

// countResult ends the pause after a success, and begins or extends it after a failure. A
// 403, a 404, a 409 and a response with the status "error" can concern only this email, so
// they neither end nor extend the pause. After such a response, another worker can probe
// the platform.
func (s *state) countResult(started time.Time, sent error) {
	now, result := time.Now(), client.ResultOfSend(sent)
	success := result == client.SendAccepted || result == client.SendRejected
	if p := s.peekPause(); success && p.Mode == open && p.Until.Sub(now) > proven*2/3 {
		return
	}
	p := s.lockPause()
	switch {
	case started.Before(p.Since):
		return
	case success:
		p = pause{Mode: open, Until: now.Add(proven), Since: p.Since}
	case !concernsOneEmail(sent):
		d := s.pauseAfter(p.Failures+1, sent)
		p = pause{Mode: paused, Until: now.Add(d), Since: now, Failures: p.Failures + 1}
		s.opts.Logger.WarnContext(s.ctx, "mailroom: sending paused", "pause", d, "error", sent)
	case p.Mode == probing:
		p.Until = now
	}
	s.putPause(p)
}

// pauseAfter returns the pause after the given number of failures. If the outcome of the
// last request is unknown, a Retry-After can extend the pause but not shorten it, because
// each probe can cause another unknown outcome.
func (r *Room) pauseAfter(failures int, sent error) time.Duration {
	d := r.backoff(failures)
	e, ok := errors.AsType[*client.Error](sent)
	if !ok || e.RetryAfter <= 0 {
		return d
	}
	if errors.Is(sent, client.ErrOutcomeUnknown) {
		return max(d, min(e.RetryAfter, maxRetryAfter))
	}
	return min(e.RetryAfter, maxRetryAfter)
}

// backoff returns the pause after n failures.
func (r *Room) backoff(n int) time.Duration { return doubled(r.opts.Pause, n, 20*r.opts.Pause) }

func concernsOneEmail(sent error) bool {
	return errors.Is(sent, client.ErrForbidden) || errors.Is(sent, client.ErrNotFound) ||
		errors.Is(sent, client.ErrConflict) || errors.Is(sent, client.ErrNotQueued)
}
