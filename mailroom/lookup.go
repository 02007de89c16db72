package mailroom

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.com/emailplatform/client"
)

const (
	recheckDelay   = 2 * time.Second // before the Room checks again whether a request is in progress
	lookupTimeout  = 2 * time.Minute // for one lookup, with the wait for the rate limit
	missingTimeout = 4 * time.Hour   // after this time, the Room gives up if lookups do not return the email or the bounce
)

// lookupValue is the value of an item of the kind "lookup".
type lookupValue struct {
	EmailID  string    `json:"email_id"`
	Notices  []Notice  `json:"notices,omitempty"`  // that wait for the result
	Attempts int       `json:"attempts,omitempty"` // lookups without a complete result
	Missing  time.Time `json:"missing,omitzero"`   // when a lookup first found no email or no bounce
}

// enqueueLookup adds an email to the queue of lookups, because its notice is partial or may
// lack its key. All notices of an email share one lookup.
func (s *storeTx) enqueueLookup(n Notice, partial bool) {
	it, _ := s.getOrInsert(Item{Kind: kindLookup, Key: storable(n.EmailID), Value: encode(lookupValue{EmailID: n.EmailID})})
	l := valueOf[lookupValue](s, it)
	if partial || n.Reason != "" {
		l.Notices = append(l.Notices, n)
	}
	it.Due, it.Value = time.Now(), encode(l)
	if !partial {
		it.Due = it.Due.Add(recheckDelay) // the response may arrive soon
	}
	s.put(it)
}

// lookUp looks up the email with the key, or any email if key is "".
func (r *Room) lookUp(ctx context.Context, key string) (wait time.Duration, err error) {
	id := ""
	wait, err = withDueItem(ctx, r, kindLookup, key, func(s *storeTx, it Item, l lookupValue) time.Duration {
		if len(l.Notices) == 0 && s.keyOfEmail(l.EmailID) != "" { // the response has arrived
			s.delete(kindLookup, it.Key)
			return 0
		}
		id, it.Due = l.EmailID, time.Now().Add(2*lookupTimeout) // for another process, if this one ends
		s.put(it)
		return 0
	})
	if err != nil || id == "" {
		return wait, err
	}
	lookupCtx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	email, failure := r.c.Emails.Get(lookupCtx, id)
	if failure != nil && ctx.Err() == nil {
		r.opts.Logger.WarnContext(ctx, "mailroom: lookup failed", "email_id", id, "error", failure)
	}
	updateCtx, cancelUpdate := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancelUpdate()
	return 0, r.update(updateCtx, func(s *storeTx) { s.recordLookup(id, email, failure) })
}

// recordLookup handles the result of a lookup: it resolves an unknown outcome, and adds the
// notices that waited. Notices that are still incomplete wait for another lookup.
func (s *storeTx) recordLookup(id string, email client.Email, failure error) {
	it, found := s.get(kindLookup, storable(id))
	l := valueOf[lookupValue](s, it)
	if !found || s.err != nil {
		return
	}
	gaveUp, inProgress, key := l.giveUp(email, failure), false, ""
	failed := failure != nil && !gaveUp
	if !failed {
		key, inProgress = s.resolveByLookup(id, email)
	}
	var incomplete []Notice
	for _, n := range l.Notices {
		if failed || !gaveUp && n.lacksBounce(email) {
			incomplete = append(incomplete, n)
			continue
		}
		n.Key = key
		n.complete(email)
		if inProgress {
			s.suppressAddress(n)
		} else if n.Reason != "" {
			s.addNotice(n)
		}
	}
	switch {
	case errors.Is(failure, context.Canceled): // a shutdown
		it.Due = time.Now()
	case inProgress:
		it.Due = time.Now().Add(recheckDelay)
	case failed || len(incomplete) > 0:
		l.Notices, l.Attempts = incomplete, l.Attempts+1
		it.Due, it.Value = time.Now().Add(exponential(recheckDelay, l.Attempts, time.Hour)), encode(l)
	default:
		s.delete(kindLookup, it.Key)
		return
	}
	s.put(it)
}

// giveUp reports whether the Room gives up after an incomplete result of a lookup. It
// waits for missingTimeout first, because the platform may deliver an event before
// it can return the email or the bounce.
func (l *lookupValue) giveUp(email client.Email, failure error) bool {
	switch {
	case errors.Is(failure, client.ErrNotFound), errors.Is(failure, client.ErrValidation): // perhaps not an id of the platform
	case errors.Is(failure, client.ErrForbidden), errors.Is(failure, client.ErrUnauthorized): // perhaps a token without this right
	case failure == nil && slices.ContainsFunc(l.Notices, func(n Notice) bool { return n.lacksBounce(email) }):
	default:
		return false
	}
	if l.Missing.IsZero() {
		l.Missing = time.Now()
	}
	return time.Since(l.Missing) >= missingTimeout
}
