package platform

import (
	"cmp"
	"net/http"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
)

// submitEmail implements POST /v2/emails. If the email is rejected, the HTTP status
// still reports success, and only the status field in the response and the event
// Email.Rejected report the rejection.
func (t *tx) submitEmail(r api.SubmitEmailRequestObject) (api.SubmitEmailResponseObject, error) {
	in := r.Body
	parts := api.MessageContent{
		Subject:    in.Content.Subject,
		TemplateID: in.Content.TemplateID,
		HTML:       in.Content.HTML,
		Text:       in.Content.Text,
	}
	if err := t.checkEmail(in.Email, in.Sender, parts, in.ListID); err != nil {
		return nil, err
	}
	l, c, err := t.recipientOf(in.ListID, in.Email)
	if err != nil {
		return nil, err
	}
	m := t.newMessage(events.SendingTypeEmailAPI, in.Sender, t.withTemplateParts(parts))
	m.To, m.Values, m.Type = in.Email, in.CustomAttributes, string(cmp.Or(in.Content.Type, api.EmailTypeMarketing))
	if c != nil {
		m.setRecipient(m.To, l, c)
	}
	t.deliverUnlessRejected(m, l, c)
	status := messageQueued
	if !m.inOutbox() {
		status = m.Status
	}
	return api.SubmitEmail201JSONResponse{ID: m.ID, Email: m.To, Status: status}, nil
}

func (t *tx) checkEmail(to string, from api.Sender, content api.MessageContent, listID int64) (err error) {
	if !contract.IsEmail(to) {
		err = apierror.Invalid("not an email address", "body", "email")
	}
	return apierror.Join(err, checkSender(from, true), t.checkContent(content, true), t.checkList(listID))
}

// recipientOf returns the contact with the given address on a list. If listID is 0, it
// searches all lists of the account, and returns the contact that was added last.
func (t *tx) recipientOf(listID int64, address string) (*list, *contact, error) {
	if listID != 0 {
		l, err := t.listInBody(listID)
		if err != nil {
			return nil, nil, err
		}
		if err := l.mayBeSentTo("body", "list_id"); err != nil {
			return nil, nil, err
		}
		return l, l.contacts.at(address), nil
	}
	l, c := t.account.contactAt(address)
	return l, c, nil
}

// deliverUnlessRejected sends a submitted message, unless it is rejected or fails
// (specification, "Email.Rejected", "Email.Error").
func (t *tx) deliverUnlessRejected(m *message, l *list, c *contact) {
	t.messageID = m.ID
	if text := t.internalError(m); text != "" {
		m.Status, m.Error = messageError, "internal error; "+text
		t.storeMessage(m)
		t.emailErrored(m)
		return
	}
	if reason := t.rejectReason(m, c); reason != "" {
		m.Status, m.Reason = messageRejected, reason
		t.storeMessage(m)
		t.emailRejected(m, l, c)
		return
	}
	t.deliver(m)
}

// internalError returns the error that a test address or a fault rule causes before
// the message is queued, or "" if there is none.
func (t *tx) internalError(m *message) string {
	if words := testAddressWords(m.To); words != nil && words[0] == "error" {
		return "the message could not be queued"
	}
	if rule := t.p.Faults.MatchMessage(t.account.ID); rule != nil {
		return cmp.Or(rule.Body, "the message could not be queued")
	}
	return ""
}

// rejectReason returns the reason why a message must not be sent, or "" if it may be
// sent. The contact's status is checked before the suppression list.
func (t *tx) rejectReason(m *message, c *contact) string {
	if c != nil {
		rejects := contactStatusNamed(c.Status).rejects
		if rejects == rejectAll || rejects == rejectMarketing && m.Type != string(api.EmailTypeTransactional) {
			return c.Status
		}
	}
	if t.account.Suppression.matches(m.To) {
		return "suppressed"
	}
	return ""
}

func (t *tx) getEmail(r api.GetEmailRequestObject) (api.GetEmailResponseObject, error) {
	if !t.caller.Unlimited && !t.account.lookupState(t.caller.UserID).accept(t.p.LookupLimit, t.now) {
		err := apierror.New(http.StatusTooManyRequests, "rate_limited", "only one lookup per second is allowed", "path", "email_id")
		err.RetryAfter = "1"
		return nil, err
	}
	m := t.p.message(r.EmailID)
	if m == nil || m.AccountID != t.account.ID || m.SentBy != events.SendingTypeEmailAPI {
		return nil, apierror.NotFound("email", r.EmailID, "path", "email_id")
	}
	return api.GetEmail200JSONResponse(m.toAPI()), nil
}

// sendTransactionalEmail implements the deprecated POST /emails. It does not
// check the recipient's status or the suppression list.
func (t *tx) sendTransactionalEmail(r api.SendTransactionalEmailRequestObject) (api.SendTransactionalEmailResponseObject, error) {
	if err := t.checkEmail(r.Body.Email, r.Body.Sender, r.Body.Content, 0); err != nil {
		return nil, err
	}
	m := t.newMessage(events.SendingTypeTransactional, r.Body.Sender, t.withTemplateParts(r.Body.Content))
	m.To, m.Values = r.Body.Email, r.Body.CustomAttributes
	for _, h := range r.Body.AdditionalHeaders {
		m.Headers = append(m.Headers, api.CustomAttribute(h))
	}
	if l, c, _ := t.recipientOf(0, m.To); c != nil {
		m.setRecipient(m.To, l, c)
	}
	t.deliver(m)
	return api.SendTransactionalEmail201JSONResponse{ID: m.ID}, nil
}
