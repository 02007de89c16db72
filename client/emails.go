package client

import (
	"context"
)

// The known values of [SubmittedEmail.Status] and [Email.Status]. The set is
// open.
const (
	EmailQueued    = "queued"
	EmailDelivered = "delivered"
	EmailBounced   = "bounced"
	EmailRejected  = "rejected" // refused; Email.Reason says why
	EmailError     = "error"    // an internal error kept it from being queued
)

// Emails submits single emails and looks them up. (Specification: Transactional
// email.)
type Emails struct{ x exchange }

// Send submits an email to one recipient. That the platform refuses it is not
// an error: the Status of what is returned is then [EmailRejected].
//
// A submission is never sent twice: if its outcome is unknown, the error is an
// [ErrOutcomeUnknown].
func (s *Emails) Send(ctx context.Context, email EmailSubmission) (SubmittedEmail, error) {
	return do(ctx, s.x, submitEmailRequest(email), readSubmittedEmail)
}

// SendLegacy submits an email by the endpoint POST /emails. It cannot be looked
// up, and its events have the older, transactional shape.
//
// Deprecated: Use [Emails.Send] with the content type [EmailTypeTransactional].
func (s *Emails) SendLegacy(ctx context.Context, email TransactionalSubmission) (TransactionalReceipt, error) {
	return do(ctx, s.x, sendTransactionalEmailRequest(email), readTransactionalReceipt)
}
