package mailroom

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"time"

	"example.com/emailplatform/client"
)

const (
	again         = 2 * time.Second // before the next look at an email that may be in progress
	lookupTimeout = 2 * time.Minute // for one lookup, with the wait for the rate limit
	patience      = 4 * time.Hour   // for an email or a bounce that is missing
	skew          = time.Minute     // maximum difference between the clocks of this process and the platform
)

// lookup is the value of an item of the kind "lookup".
type lookup struct {
	EmailID string    `json:"email_id"`
	Notices []Notice  `json:"notices,omitempty"` // that wait for the result
	Tries   int       `json:"tries,omitempty"`   // failed lookups
	Missing time.Time `json:"missing,omitzero"`  // when a lookup first found no email or no bounce
}

// lookUpLater adds an email to the queue of lookups, because its notice is partial or may
// lack its key. All notices of an email share one lookup.
func (s *state) lookUpLater(n Notice, partial bool) {
	it, _ := s.getOrInsert(Item{Kind: kindLookup, Key: storable(n.EmailID), Value: encode(lookup{EmailID: n.EmailID})})
	l := read[lookup](s, it)
	if partial || n.Reason != "" {
		l.Notices = append(l.Notices, n)
	}
	it.Due, it.Value = time.Now(), encode(l)
	if !partial {
		it.Due = it.Due.Add(again) // the response may arrive soon
	}
	s.put(it)
}

// lookUp looks up the email with the key, or any email if key is "".
func (r *Room) lookUp(ctx context.Context, key string) (wait time.Duration, err error) {
	id := ""
	wait, err = take(ctx, r, kindLookup, key, func(s *state, it Item, l lookup) time.Duration {
		if len(l.Notices) == 0 && s.keyOf(l.EmailID) != "" { // the response has arrived
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
	updateCtx, cancelUpdate := context.WithTimeout(context.WithoutCancel(ctx), dbTimeout)
	defer cancelUpdate()
	return 0, r.update(updateCtx, func(s *state) { s.lookedUp(id, email, failure) })
}

// lookedUp handles the result of a lookup: it resolves an unknown outcome, and accepts the
// notices that waited. Notices that are still incomplete wait for another lookup.
func (s *state) lookedUp(id string, email client.Email, failure error) {
	it, found := s.get(kindLookup, storable(id))
	l := read[lookup](s, it)
	if !found || s.err != nil {
		return
	}
	last, busy, key := l.abandon(email, failure), false, ""
	failed := failure != nil && !last
	if !failed {
		key, busy = s.findKey(id, email)
	}
	var left []Notice
	for _, n := range l.Notices {
		if failed || !last && n.lacksBounce(email) {
			left = append(left, n)
			continue
		}
		n.Key = key
		n.complete(email)
		if busy {
			s.suppressFor(n)
		} else if n.Reason != "" {
			s.accept(n)
		}
	}
	switch {
	case errors.Is(failure, context.Canceled): // a shutdown
		it.Due = time.Now()
	case busy:
		it.Due = time.Now().Add(again)
	case failed || len(left) > 0:
		l.Notices, l.Tries = left, l.Tries+1
		it.Due, it.Value = time.Now().Add(doubled(again, l.Tries, time.Hour)), encode(l)
	default:
		s.delete(kindLookup, it.Key)
		return
	}
	s.put(it)
}

// abandon reports whether the Room gives up after an incomplete result of a lookup. It
// waits for the duration patience first, because the platform may deliver an event before
// it can return the email or the bounce.
func (l *lookup) abandon(email client.Email, failure error) bool {
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
	return time.Since(l.Missing) >= patience
}

// findKey returns the key of a looked-up email, or "". It resolves an unknown outcome if
// email matches exactly one email of the outbox. If busy is true, a request for a matching
// email is in progress, and its response may contain the id.
func (s *state) findKey(id string, email client.Email) (key string, busy bool) {
	candidates := s.byRef(kindMail, refOfAddress(email.To)) // first, because a response may arrive in between
	if key = s.keyOf(id); key != "" || email.To == "" {
		return key, false
	}
	if _, replaced := s.get(kindEvent, replacedKey(id)); replaced {
		return "", false
	}
	var matches []string
	for _, it := range candidates {
		if m := read[mail](s, it); m.Submission != nil && s.sameEmail(m, email) {
			matches = append(matches, it.Key)
			busy = busy || m.State == sending
		}
	}
	if busy || len(matches) != 1 {
		return "", busy
	}
	it, _ := s.get(kindMail, matches[0]) // locks it
	m := read[mail](s, it)
	if m.State != Unknown { // perhaps the response has just arrived
		return s.keyOf(id), false
	}
	m.EmailID, m.State, m.Detail = id, Sent, ""
	switch email.Status {
	case client.EmailStatusRejected:
		m.State, m.Detail = Rejected, string(email.Reason)
	case client.EmailStatusError:
		m.State, m.Detail = Failed, email.Error
	}
	s.settle(it.Key, m)
	return it.Key, false
}

// sameEmail reports whether a looked-up email can be an email of the outbox.
func (r *Room) sameEmail(m mail, email client.Email) bool {
	early, late := m.Started.Add(-skew), m.Started.Add(r.lease()+skew)
	return email.SubmittedOn.After(early) && email.SubmittedOn.Before(late) && subject(*m.Submission).MatchString(email.Subject)
}

var mergeTag = regexp.MustCompile(`\\\{\\\{\s*(.*?)\s*\\\}\\\}`) // in a quoted text

// subject returns a pattern for the subject that the platform sends. In the pattern, the
// value of a custom attribute replaces its merge tag. Any other merge tag matches any
// text, because the platform can replace the tag with a value of the contact.
func subject(e client.EmailSubmission) *regexp.Regexp {
	pattern := mergeTag.ReplaceAllStringFunc(regexp.QuoteMeta(e.Content.Subject), func(tag string) string {
		name := mergeTag.FindStringSubmatch(tag)[1]
		for _, a := range e.CustomAttributes {
			if regexp.QuoteMeta(a.Name) == name {
				return regexp.QuoteMeta(a.Value)
			}
		}
		return "(?s:.*)"
	})
	return regexp.MustCompile("^" + pattern + "$")
}
