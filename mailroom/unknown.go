package mailroom

import (
	"context"
	"regexp"
	"time"

	"example.com/emailplatform/client"
)

// An outcome becomes unknown in storeResult or expire. One of the following resolves it:
//
//   - the response, if it arrives after the lease ended: storeResult
//   - an Email.Rejected or Email.Error event: applyOutcomeEvent
//   - a lookup of an email that an event names: resolveByLookup
//   - an operator: Resolve

// clockTolerance is the maximum difference between the clocks of this process and the platform.
const clockTolerance = time.Minute

// Unresolved is an email whose outcome is unknown.
type Unresolved struct {
	Key    string    `json:"key"`
	To     string    `json:"to"`
	Sent   time.Time `json:"sent"`   // when the request began
	Detail string    `json:"detail"` // the error
}

const unknownRef = "unknown" // the Ref of all items of the kind "unknown"

// Unknown returns up to 100 emails whose outcome is unknown. Many of them are resolved by an
// event, for example when the recipient opens the email. For the others, an operator must
// call [Room.Resolve].
func (r *Room) Unknown(ctx context.Context) (list []Unresolved, err error) {
	err = r.update(ctx, func(s *storeTx) {
		for _, it := range s.byRef(kindUnknown, unknownRef) {
			list = append(list, valueOf[Unresolved](s, it))
		}
	})
	return list, err
}

// Resolve records the decision of an operator about an email whose outcome is unknown. If
// wasSent is true, the outcome becomes [Sent]. Otherwise, the Room sends the email again. If
// the outcome of the email with this key is known, Resolve changes nothing, and found is
// false.
func (r *Room) Resolve(ctx context.Context, key string, wasSent bool) (found bool, err error) {
	err = r.update(ctx, func(s *storeTx) {
		it, _ := s.get(kindMail, key)
		m := valueOf[mailValue](s, it)
		switch found = m.State == stateUnknown; {
		case found && wasSent:
			m.State, m.Detail = stateSent, "resolved by an operator"
			s.putOutcome(key, m)
		case found:
			s.requeue(key, time.Now(), "", mailValue{Submission: m.Submission})
		}
	})
	return found, err
}

// resolveByLookup returns the key of a looked-up email, or "". It resolves an unknown outcome if
// the looked-up email matches exactly one email in the outbox. However, if a request to send a
// matching email is still in progress, the response to this request may contain the id. In this
// case, resolveByLookup resolves nothing, and inProgress is true.
func (s *storeTx) resolveByLookup(id string, email client.Email) (key string, inProgress bool) {
	candidates := s.byRef(kindMail, refOfAddress(email.To)) // first, because a response may arrive in between
	if key = s.keyOfEmail(id); key != "" || email.To == "" {
		return key, false
	}
	if _, replaced := s.get(kindEvent, replacedKey(id)); replaced {
		return "", false
	}
	var matches []string
	for _, it := range candidates {
		if m := valueOf[mailValue](s, it); m.Submission != nil && s.room.matches(m, email) {
			matches = append(matches, it.Key)
			inProgress = inProgress || m.State == stateSending
		}
	}
	if inProgress || len(matches) != 1 {
		return "", inProgress
	}
	it, _ := s.get(kindMail, matches[0]) // locks it
	m := valueOf[mailValue](s, it)
	if m.State != stateUnknown { // perhaps the response has just arrived
		return s.keyOfEmail(id), false
	}
	m.EmailID, m.State, m.Detail = id, stateSent, ""
	switch email.Status {
	case client.EmailStatusRejected:
		m.State, m.Detail = stateRejected, string(email.Reason)
	case client.EmailStatusError:
		m.State, m.Detail = stateFailed, email.Error
	}
	s.putOutcome(it.Key, m)
	return it.Key, false
}

// matches reports whether a looked-up email can be an email of the outbox.
func (r *Room) matches(m mailValue, email client.Email) bool {
	early, late := m.Started.Add(-clockTolerance), m.Started.Add(r.lease()+clockTolerance)
	return email.SubmittedOn.After(early) && email.SubmittedOn.Before(late) && subjectPattern(*m.Submission).MatchString(email.Subject)
}

var mergeTag = regexp.MustCompile(`\\\{\\\{\s*(.*?)\s*\\\}\\\}`) // in a quoted text

// subjectPattern returns a pattern for the subject that the platform sends. In the pattern, the
// value of a custom attribute replaces its merge tag. Any other merge tag matches any
// text, because the platform can replace the tag with a value of the contact.
func subjectPattern(e client.EmailSubmission) *regexp.Regexp {
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
