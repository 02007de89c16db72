package client

import (
	"context"
	"iter"
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
// [ErrOutcomeUnknown]. No call finds out afterwards whether the platform took it:
// there are no idempotency keys and no search of emails, and a lookup wants the id
// that was in the answer. Later events of the email carry that id, and by it Get
// returns recipient and subject. So note what is sent before it is sent, under a
// key of your own that the subject holds, and have a receiver of events look up
// ids that it does not know. An email whose recipient does nothing causes no event:
// then let a person decide, or send again where a second email does no harm.
// examples/unknown-outcome does all of this. Custom attributes fill merge tags, also
// in the links that Email.Clicked shows, but no event or lookup returns them.
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

// Get looks a submitted email up. The platform allows one lookup a second for
// each user and account: Get waits for its turn, first come first served, and
// waits out a refusal that comes nevertheless, at most 60 times. A context that
// ends before the turn comes ends the wait. Who is next in line and has a deadline
// that is too early fails at once.
// (Specification: Transactional email, Limits.)
func (s *Emails) Get(ctx context.Context, emailID string) (Email, error) {
	return do(ctx, s.x, getEmailRequest(emailID), readEmail)
}

// GetAll looks emails up one after the other, and yields them in the order of
// ids. An id whose lookup fails is yielded as an Email that holds the id and what
// could be read, most often nothing, with the error; the iteration goes on unless the context has ended.
// Nothing is sent before the first iteration.
func (s *Emails) GetAll(ctx context.Context, ids iter.Seq[string]) iter.Seq2[Email, error] {
	return func(yield func(Email, error) bool) {
		for id := range ids {
			email, err := s.Get(ctx, id)
			if err != nil {
				email.ID = id // the rest is what could be read, most often nothing
			}
			if !yield(email, err) || ctx.Err() != nil {
				return
			}
		}
	}
}

// Wait looks an email up again and again, at most once a second, until until
// reports true, and returns what it then is. [Email.Settled] is a good until:
//
//	email, err := c.Emails.Wait(ctx, emailID, client.Email.Settled)
//
// If a lookup fails or the context ends, Wait returns the error together with
// the email as it was last seen.
func (s *Emails) Wait(ctx context.Context, emailID string, until func(Email) bool) (Email, error) {
	get := func() (Email, error) { return s.Get(ctx, emailID) }
	return wait(ctx, getEmailRequest(emailID), get, until, lookupGap)
}

// Settled reports whether the platform is done with the email: its status is
// known, and is none of those that an email has on its way, which are queued,
// submitted and processing.
func (e Email) Settled() bool {
	switch e.Status {
	case "", EmailQueued, "submitted", "processing":
		return false
	}
	return true
}

// Hard reports whether the bounce is permanent: sending to the address again
// will fail and harms the sender. That is the type "hard", or without a type the
// category "bounce_hb". Everything else, kinds that this package does not know
// included, is not.
func (b EmailBounce) Hard() bool {
	if b.Type != "" {
		return b.Type == "hard"
	}
	return b.Category == "bounce_hb"
}
