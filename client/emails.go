package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/json/jsonscan"
)

// EmailStatus is the status of an email. The platform may add new statuses.
type EmailStatus string

// The known values of [EmailStatus].
const (
	EmailStatusQueued    EmailStatus = "queued"
	EmailStatusDelivered EmailStatus = "delivered"
	EmailStatusBounced   EmailStatus = "bounced"
	EmailStatusRejected  EmailStatus = "rejected" // not accepted; Email.Reason contains the reason
	EmailStatusError     EmailStatus = "error"    // not queued because of an internal error
)

// Emails sends and looks up single emails. (Specification: Transactional
// email.)
type Emails struct{ handler handler }

// Send sends an email to one recipient. A nil error means that the platform
// accepted the email.
//
// If the status in the response is [EmailStatusRejected] or [EmailStatusError], the
// platform does not send the email. Send then returns the id of the unsent email together
// with an error that matches [ErrNotQueued], and does not retry. For a rejected email, the
// error also matches [ErrRejected], and [Emails.Get] returns the reason. Any other status
// text is a success, even if it is unknown. However, if the status is not text, the error
// is [ErrInvalidResponse], and the outcome is unknown.
//
// If a request fails and the platform may have processed the email, the client does not
// send it again. In this case, the error matches [ErrOutcomeUnknown], and the file
// docs/errors.md describes how to find the outcome. You can find it only if you store each
// email with a key before you send it, and include the key in the subject. A custom
// attribute is not sufficient, because no event contains it, and [Emails.Get] returns the
// subject but no custom attributes.
//
// After any error, [ResultOfSend] reports whether you can send the email again.
func (s *Emails) Send(ctx context.Context, email EmailSubmission) (SubmittedEmail, error) {
	var submitted SubmittedEmail
	err := s.handler.call(ctx, submitEmailRequest(email), func(body []byte) (err error) {
		submitted, err = decode(body, readSubmittedEmail)
		if bad, ok := errors.AsType[*jsonscan.Error](err); ok && bad.Syntax {
			return err
		}
		if err != nil && submitted.Status == "" {
			err = cmp.Or(unreadableStatus(body), err)
		}
		return cmp.Or(submitted.notQueued(body), err) // ignore a missing id, because the status is sufficient
	})
	return zeroUnlessUsable(submitted, err)
}

// unreadableStatus returns an error if the status is neither text nor null, because the
// email may be rejected.
func unreadableStatus(body []byte) error {
	_, err := decode(body, func(c *jsonscan.Cursor) (none struct{}) {
		for name := range c.Members() {
			if b := c.Peek(); name == "status" && b != '"' && b != 'n' {
				c.Reject("a string")
			} else {
				c.Skip()
			}
		}
		return none
	})
	return err
}

// notQueued returns an error if the platform did not queue the email. The
// reason in the error comes from the field "reason", which is not part of the
// specification.
func (e SubmittedEmail) notQueued(body []byte) error {
	if e.Status != EmailStatusRejected && e.Status != EmailStatusError {
		return nil
	}
	kind := ErrNotQueued
	if e.Status == EmailStatusRejected {
		kind = ErrRejected
	}
	err := fmt.Errorf("%w: status %q", kind, e.Status)
	c := jsonscan.New(string(body))
	for name := range c.Members() {
		if name == "reason" && c.Peek() == '"' {
			err = fmt.Errorf("%w: status %q, reason %.100q", kind, e.Status, c.String())
		} else {
			c.Skip()
		}
	}
	return err
}

// GetAll looks up emails one after another and yields them in the given order. If a
// lookup fails, GetAll yields the error with an Email that contains only the id, and
// continues unless the context was canceled or has expired.
func (s *Emails) GetAll(ctx context.Context, ids iter.Seq[string]) iter.Seq2[Email, error] {
	return func(yield func(Email, error) bool) {
		if ids == nil {
			yield(Email{}, newBadRequest(getEmailRequest(""), errors.New("the ids must not be nil")))
			return
		}
		for id := range ids {
			email, err := s.Get(ctx, id)
			if err != nil {
				email.ID = id
			}
			if !yield(email, err) || ctx == nil || ctx.Err() != nil {
				return
			}
		}
	}
}

// Wait looks up an email, at most once per second, until the given function
// returns true, and then returns the email. Use [Email.Settled] to wait for a
// final status:
//
//	email, err := c.Emails.Wait(ctx, emailID, client.Email.Settled)
//
// If a lookup fails, or the context is canceled or expires, Wait returns the
// error and the result of the last lookup.
func (s *Emails) Wait(ctx context.Context, emailID string, until func(Email) bool) (Email, error) {
	get := func() (Email, error) { return s.Get(ctx, emailID) }
	return pollUntil(ctx, getEmailRequest(emailID), get, until, lookupGap)
}

// Settled reports whether the status is final. An empty status and the statuses
// "queued", "submitted" and "processing" are not final.
func (e Email) Settled() bool {
	switch EmailStatus(strings.ToLower(string(e.Status))) {
	case "", EmailStatusQueued, "submitted", "processing":
		return false
	}
	return true
}

// Hard reports whether the bounce is permanent. A bounce of the type
// [events.BounceTypeHard] is permanent, and a bounce of the type
// [events.BounceTypeSoft] is not. Any other bounce is permanent if its category
// is [events.BounceCategoryHard]. Do not send to the address again after a
// permanent bounce.
func (b EmailBounce) Hard() bool {
	return b.Type == events.BounceTypeHard || b.Type != events.BounceTypeSoft && b.Category.Hard()
}

// Soft reports whether the bounce is temporary. After a temporary bounce, a later email
// to the address may succeed. Soft checks the category of the bounce, and checks the type
// only if the bounce has no category. The type alone is not sufficient, because an
// automatic reply, which is not a failure, can also have the type
// [events.BounceTypeSoft]. Some bounces are neither hard nor soft.
func (b EmailBounce) Soft() bool {
	return !b.Hard() && (b.Category.Soft() || b.Category == "" && b.Type == events.BounceTypeSoft)
}
