package mailroom

import (
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

// Reason is the subject of a [Notice].
type Reason string

// The values of [Reason]. The first four are the outcomes of emails in the outbox.
const (
	Sent     Reason = "sent"     // the platform accepted the email
	Rejected Reason = "rejected" // not sent, because of the recipient
	Failed   Reason = "failed"   // not sent, because the request is invalid or the platform failed
	Unknown  Reason = "unknown"  // possibly sent; another outcome may follow

	HardBounce           Reason = "hard_bounce"           // the address does not exist
	SoftBounce           Reason = "soft_bounce"           // not delivered, for a temporary or an unknown reason
	Complaint            Reason = "complaint"             // the recipient reported the email as spam
	Unsubscribed         Reason = "unsubscribed"          // from the list ListID
	GloballyUnsubscribed Reason = "globally_unsubscribed" // from all email
	Suppressed           Reason = "suppressed"            // Address was added to the platform's suppression list
)

// Outcome reports whether the notice is about the outcome of an email in the outbox. One
// outcome can follow another, for example Sent after Unknown. Rejected and Failed are
// final, unless the application enqueues the key of the email again. Another outcome
// follows Sent only if an event reports later that the platform rejected the email or
// failed to send it.
func (r Reason) Outcome() bool { return r == Sent || r == Rejected || r == Failed || r == Unknown }

// suppresses reports whether the Room must not send to the address again.
func (r Reason) suppresses() bool {
	return r == HardBounce || r == Complaint || r == GloballyUnsubscribed || r == Suppressed
}

// Notice reports what happened to an email or an address.
type Notice struct {
	Reason    Reason        `json:"reason"`
	Address   string        `json:"address,omitempty"`    // of the recipient, in lower case; can be a pattern if Reason is Suppressed
	Key       string        `json:"key,omitempty"`        // of the email, if Enqueue sent it
	EmailID   string        `json:"email_id,omitempty"`   // "" for campaigns, workflows and unknown outcomes
	ListID    string        `json:"list_id,omitempty"`    // "" if the event does not contain it
	ContactID string        `json:"contact_id,omitempty"` // "" if the event does not contain it
	Detail    string        `json:"detail,omitempty"`     // the reason of a rejection, the diagnostic of a bounce, or an error
	Time      time.Time     `json:"time"`                 // of the event or the outcome
	Event     *events.Event `json:"event,omitempty"`      // nil for an outcome without an event
}

// noticeOf returns the notice of an event. If the event needs no notice, the Reason is "".
// If partial is true, the notice lacks the address or the kind of bounce, so a lookup must
// add it.
func noticeOf(e *events.Event) (n Notice, partial bool) {
	n = Notice{
		Address: normalizeAddress(e.Recipient()), EmailID: e.EmailID(), ListID: e.ListID().String(), ContactID: e.ContactID().String(),
		Time: e.Time, Event: e,
	}
	switch e.Name {
	case events.NameEmailBounced:
		b, ok := e.Bounce()
		n.Reason, n.Detail = reasonOfBounce(b.Category.Hard(), b.Category.Soft()), b.DSNMessage
		if !ok {
			return n, true
		}
	case events.NameEmailReportedAsSpam:
		n.Reason = Complaint
	case events.NameSuppressedEmailAdded:
		n.Reason = Suppressed
	case events.NameEmailUnsubscribed, events.NameContactUnsubscribed:
		n.Reason = Unsubscribed
	case events.NameEmailGlobalUnsubscribed:
		n.Reason = GloballyUnsubscribed
	}
	switch d := e.Data.(type) {
	case *events.EmailRejected:
		n.Reason, n.Detail = Rejected, string(d.Reason)
	case *events.EmailErrored:
		n.Reason, n.Detail = Failed, d.Error
	case *events.ContactRemoved:
		if d.Contact.Status == events.ContactStatusUnsubscribed {
			n.Reason = Unsubscribed
		}
	}
	return n, n.Reason != "" && n.Address == ""
}

// reasonOfBounce returns "" for an automatic reply, a challenge or an address change,
// because the recipient received the email.
func reasonOfBounce(hard, soft bool) Reason {
	switch {
	case hard:
		return HardBounce
	case soft:
		return SoftBounce
	}
	return ""
}

// complete adds the values of a looked-up email. If no lookup returned the email, the argument
// email is the zero value.
func (n *Notice) complete(email client.Email) {
	if email.To != "" {
		n.Address = normalizeAddress(email.To)
	}
	if n.lacksBounce(email) {
		n.Reason, n.Detail = SoftBounce, "the platform did not return the kind of bounce"
	} else if b := email.Bounce; n.Event.Name == events.NameEmailBounced && b != nil {
		n.Reason, n.Detail = reasonOfBounce(b.Hard(), b.Soft()), b.DSNMessage
	}
}

// lacksBounce reports whether neither the event nor the looked-up email contains the bounce.
func (n *Notice) lacksBounce(email client.Email) bool {
	if n.Event.Name != events.NameEmailBounced || email.Bounce != nil {
		return false
	}
	_, ok := n.Event.Bounce()
	return !ok
}
