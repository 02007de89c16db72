package mailroom

import (
	"context"
	"fmt"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

// Handle stores an event. If the application needs its own webhook handler, pass Handle
// to [webhook.NewHandler]. Otherwise use ServeHTTP, which deduplicates deliveries and
// then calls Handle.
//
// If the data of the event could not be parsed, the data is an [events.Unknown] with an
// error. Handle returns this error instead of dropping the event, so the platform retries
// the delivery, and a corrected release can still store the event.
func (r *Room) Handle(ctx context.Context, e *events.Event) error {
	if unknown, _ := e.Data.(*events.Unknown); unknown != nil && unknown.Err != nil {
		return unknown.Err
	}
	return r.update(ctx, func(s *storeTx) {
		n, partial := noticeOf(e)
		if partial && n.EmailID == "" { // nothing can be looked up
			n.complete(client.Email{})
			partial = false
		}
		awaitsOutcome := false
		if t := e.SendingType(); n.EmailID != "" && (t == "" || t == events.SendingTypeEmailAPI) {
			awaitsOutcome = len(s.byRef(kindMail, refOfAddress(n.Address))) > 0
		}
		n.Key = s.keyOfEmail(n.EmailID) // last, because a response may arrive in between
		if partial || awaitsOutcome && n.Key == "" {
			s.enqueueLookup(n, partial)
		} else if n.Reason != "" {
			s.addNotice(n)
		}
	})
}

// addNotice stores a complete notice about an event, and suppresses the address if necessary.
func (s *storeTx) addNotice(n Notice) {
	if n.Reason.Outcome() && s.applyOutcomeEvent(n) {
		return
	}
	s.suppressAddress(n)
	// The store of handled events has already removed duplicates. The id alone is not enough, because the events of
	// some platforms have no id, or all have the same id.
	id := fmt.Sprintf("%s %s %s %s %v %v %v", n.Event.ID, n.Reason, n.Address, n.EmailID, n.ListID, n.ContactID, n.Time)
	s.putNotice("event:"+sha256Hex(id), n)
}

// applyOutcomeEvent handles Email.Rejected and Email.Error events for an email of the outbox.
// If the response to the request already contained the outcome, or the Room sends the
// email again, applyOutcomeEvent does nothing.
func (s *storeTx) applyOutcomeEvent(n Notice) (done bool) {
	if n.Key == "" {
		_, done = s.get(kindEvent, replacedKey(n.EmailID))
		return done
	}
	it, _ := s.get(kindMail, n.Key)
	if m := valueOf[mailValue](s, it); m.State == stateSent || m.State == stateUnknown {
		m.State, m.Detail, m.EmailID = keyState(n.Reason), n.Detail, n.EmailID
		if m.Submission == nil { // removed when the outcome became Sent
			m.Submission = &client.EmailSubmission{To: n.Address}
		}
		s.putOutcome(n.Key, m)
	}
	return true
}

func (s *storeTx) suppressAddress(n Notice) {
	if n.Reason.suppresses() && n.Address != "" {
		s.suppress(n.Address, n.Reason)
	}
}

// keyOfEmail returns the key of the email with the id, or "".
func (s *storeTx) keyOfEmail(emailID string) string {
	if emailID == "" {
		return ""
	}
	if items := s.byRef(kindMail, refOfEmail(emailID)); len(items) > 0 {
		return items[0].Key
	}
	return ""
}
