package mailroom

import (
	"errors"
	"time"

	"example.com/emailplatform/client"
)

const (
	pauseKey          = "send"           // the key of the only pause, which all workers of all processes share
	successValidity   = 30 * time.Second // how long all workers can send after a success
	probePollInterval = time.Second      // between two checks of the result of a probe
	maxRetryAfter     = time.Hour        // the longest pause that the platform can request
)

// pauseValue is the value of the item that decides which workers can send.
type pauseValue struct {
	Mode     mode      `json:"mode,omitempty"`
	Until    time.Time `json:"until,omitzero"` // end of the mode
	Since    time.Time `json:"since,omitzero"` // start of the pause or the probe; earlier requests do not count
	Failures int       `json:"failures,omitempty"`
}

type mode string

const (
	modeNormal  mode = "normal"  // all workers send
	modePaused  mode = "paused"  // no worker sends
	modeProbing mode = "probing" // one worker sends alone, and the others wait for its result
)

// sendDelay returns how long a worker must wait, or 0 if it can send. A failure of the
// platform pauses all workers. After the pause, and also whenever 30 s have passed
// without a success, sendDelay permits only one worker to send. The email of this worker
// is a probe, whose result decides whether all workers can send. Therefore, an outage
// causes at most one unknown outcome after each pause.
func (s *storeTx) sendDelay(now time.Time) time.Duration {
	if p := s.readPause(); p.Mode == modeNormal && p.Until.After(now) {
		return 0
	}
	p := s.lockPause()
	if left := p.Until.Sub(now); left > 0 {
		return map[mode]time.Duration{modePaused: left, modeProbing: probePollInterval}[p.Mode]
	}
	s.putPause(pauseValue{Mode: modeProbing, Until: now.Add(s.room.lease()), Since: now, Failures: p.Failures})
	return 0
}

// readPause reads the pause without locking it, so workers do not wait for each other.
func (s *storeTx) readPause() pauseValue {
	if items := s.byRef(kindPause, pauseKey); len(items) > 0 {
		return s.decodePause(items[0])
	}
	return pauseValue{}
}

func (s *storeTx) lockPause() pauseValue {
	it, _ := s.getOrInsert(Item{Kind: kindPause, Key: pauseKey, Ref: pauseKey})
	return s.decodePause(it)
}

// decodePause decodes the pause. It ignores future times that only a process with a wrong clock can have written.
func (s *storeTx) decodePause(it Item) pauseValue {
	p, limit := valueOf[pauseValue](s, it), time.Now().Add(clockTolerance)
	if p.Since.After(limit) || p.Mode == modeNormal && p.Until.After(limit.Add(successValidity)) {
		p = pauseValue{Failures: p.Failures}
	}
	return p
}

func (s *storeTx) putPause(p pauseValue) {
	s.put(Item{Kind: kindPause, Key: pauseKey, Ref: pauseKey, Value: encode(p)})
}

// updatePause ends the pause after a success, and begins or extends it after a failure. Two
// kinds of failures do not change the pause:
//
//   - A 403, 404 or 409, or a response with the status "error". This email alone may be the
//     cause, so other emails may succeed.
//   - An error before the request, because it does not show the state of the platform.
//
// If the email of a probe (see sendDelay) fails in this way, another worker sends the next
// probe immediately.
func (s *storeTx) updatePause(started time.Time, sendErr error) {
	now, result := time.Now(), client.ResultOfSend(sendErr)
	success := result == client.SendAccepted || result == client.SendRejected && !beforeRequest(sendErr)
	if p := s.readPause(); success && p.Mode == modeNormal && p.Until.Sub(now) > successValidity*2/3 {
		return
	}
	p := s.lockPause()
	switch {
	case started.Before(p.Since):
		return
	case success:
		p = pauseValue{Mode: modeNormal, Until: now.Add(successValidity), Since: p.Since}
	case !concernsOneEmail(sendErr):
		d := s.room.pauseDuration(p.Failures+1, sendErr)
		p = pauseValue{Mode: modePaused, Until: now.Add(d), Since: now, Failures: p.Failures + 1}
		s.room.opts.Logger.WarnContext(s.ctx, "mailroom: sending paused", "pause", d, "error", sendErr)
	case p.Mode == modeProbing:
		p.Until = now
	}
	s.putPause(p)
}

// pauseDuration returns the pause after the given number of failures. If the outcome of the
// last request is unknown, a Retry-After can extend the pause but not shorten it, because
// each probe can cause another unknown outcome.
func (r *Room) pauseDuration(failures int, sendErr error) time.Duration {
	d := r.backoff(failures)
	e, ok := errors.AsType[*client.Error](sendErr)
	if !ok || e.RetryAfter <= 0 {
		return d
	}
	if errors.Is(sendErr, client.ErrOutcomeUnknown) {
		return max(d, min(e.RetryAfter, maxRetryAfter))
	}
	return min(e.RetryAfter, maxRetryAfter)
}

// maxPauses is the longest pause, as a multiple of Options.Pause.
const maxPauses = 20

// backoff returns the pause after n failures.
func (r *Room) backoff(n int) time.Duration {
	return exponential(r.opts.Pause, n, maxPauses*r.opts.Pause)
}

func concernsOneEmail(sendErr error) bool {
	return beforeRequest(sendErr) || errors.Is(sendErr, client.ErrForbidden) || errors.Is(sendErr, client.ErrNotFound) ||
		errors.Is(sendErr, client.ErrConflict) || errors.Is(sendErr, client.ErrNotQueued)
}

// beforeRequest reports whether the client rejected the email itself, and sent no request.
func beforeRequest(sendErr error) bool {
	e, ok := errors.AsType[*client.Error](sendErr)
	return ok && e.StatusCode == 0 && errors.Is(e, client.ErrValidation)
}
