package client

import "errors"

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
// The result is SendRejected if the error matches [ErrRejected], [ErrValidation] (400
// or 422) or [ErrTooLarge] (413). For any other 4xx, the result is SendLater, because
// the cause can be the token, the base URL, a proxy or the state of the list. It is
// also SendLater after an internal error of the platform, and if the client did not
// send the request.
func ResultOfSend(err error) SendResult {
	switch {
	case err == nil:
		return SendAccepted
	case errors.Is(err, ErrOutcomeUnknown):
		return SendUnknown
	case errors.Is(err, ErrRejected), errors.Is(err, ErrValidation), errors.Is(err, ErrTooLarge):
		return SendRejected
	}
	return SendLater
}
