package client

import (
	"errors"
	"net/http"
)

// SendResult is the result of a call that sends an email. It determines whether the
// application can send the email again.
type SendResult string

// The values of [SendResult].
const (
	SendAccepted SendResult = "accepted" // the platform accepted the email
	SendRejected SendResult = "rejected" // not sent, and the same email would be rejected again
	SendLater    SendResult = "later"    // not sent, for a reason that may end; send the email again later
	SendUnknown  SendResult = "unknown"  // possibly sent; see ErrOutcomeUnknown
)

// ResultOfSend returns the [SendResult] for the error of [Emails.Send] or
// [Emails.SendLegacy]. The error may be wrapped.
//
// The result is SendRejected if the error matches [ErrRejected] or [ErrValidation], or if
// the response is another 4xx that concerns this email. The result is SendLater if the
// error matches [ErrUnauthorized], [ErrForbidden] or [ErrRateLimited], after an internal
// error of the platform, and if the client sent nothing.
func ResultOfSend(err error) SendResult {
	var e *Error
	switch {
	case err == nil:
		return SendAccepted
	case errors.Is(err, ErrOutcomeUnknown):
		return SendUnknown
	case errors.Is(err, ErrRejected), errors.Is(err, ErrValidation):
		return SendRejected
	case errors.Is(err, ErrNotQueued), errors.Is(err, ErrUnauthorized), errors.Is(err, ErrForbidden), errors.Is(err, ErrRateLimited):
		return SendLater
	case errors.As(err, &e) && e.StatusCode >= http.StatusBadRequest && e.StatusCode < http.StatusInternalServerError:
		return SendRejected
	}
	return SendLater
}
