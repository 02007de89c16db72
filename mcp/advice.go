package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/emailplatform/client"
)

// maxDetails is the maximum number of details from the platform in an error.
const maxDetails = 20

// callError is an error from the platform with advice for the assistant.
type callError struct {
	advice string
	cause  error
}

func (e *callError) Unwrap() error { return e.cause }

// Error returns the advice, followed by the platform's message.
func (e *callError) Error() string {
	var s strings.Builder
	s.WriteString(e.advice)
	var failed *client.Error
	if !errors.As(e.cause, &failed) {
		fmt.Fprintf(&s, "\n- %v", e.cause)
		return s.String()
	}
	for i, d := range failed.Details {
		if i == maxDetails {
			fmt.Fprintf(&s, "\n- and %d more", len(failed.Details)-i)
			break
		}
		d.Loc = argument(d.Loc)
		fmt.Fprintf(&s, "\n- %s", shorten(d.String()))
	}
	if len(failed.Details) == 0 {
		fmt.Fprintf(&s, "\n- %s", shorten(failed.Error()))
	} else if failed.RequestID != "" {
		fmt.Fprintf(&s, "\n(request %s)", failed.RequestID)
	}
	return s.String()
}

// argument converts a location in a request to a location in the arguments, for
// example body.email to email.
func argument(loc client.Location) client.Location {
	if len(loc) > 1 {
		switch loc[0] {
		case "body", "path", "query":
			return loc[1:]
		}
	}
	return loc
}

// advise adds advice for the assistant to an error from the client.
func advise(err error) error {
	return &callError{advice: advice(err), cause: err}
}

func advice(err error) string {
	switch {
	case errors.Is(err, client.ErrOutcomeUnknown):
		return `It is not known whether the contact was created. Do not create it again before you have looked: call with operation "list" and filter "email:ADDRESS".`
	case errors.Is(err, client.ErrContactExists):
		return `Nothing was done: the address is on the list already. See it with operation "list" and filter "email:ADDRESS".`
	case errors.Is(err, client.ErrNotFound) && len(details(err)) > 0: // without details, the response may come from a proxy
		return "Nothing was done: this account has no list with this list_id. Ask the user for the right one."
	case errors.Is(err, client.ErrUnauthorized):
		return "Nothing was done: the platform does not accept the access token. Calling again does not help; tell the user to check the token that this server is set up with."
	case errors.Is(err, client.ErrForbidden):
		return "Nothing was done: the access token lacks the required permission. Calling again does not help; tell the user that a token with this permission is needed."
	case errors.Is(err, client.ErrRateLimited):
		return "Nothing was done: too many requests. " + waiting(err) + ", then make the same call again."
	case errors.Is(err, client.ErrValidation), errors.Is(err, client.ErrTooLarge), errors.Is(err, client.ErrConflict):
		return "Nothing was done. Correct these arguments and call again:"
	case errors.Is(err, client.ErrInvalidResponse):
		return "The platform's response is invalid. A smaller per_page may help."
	case errors.Is(err, context.DeadlineExceeded):
		return "The platform did not answer in time. Nothing was changed; make the same call again later."
	}
	return "The platform cannot be used right now. Nothing was changed; make the same call again later."
}

func details(err error) []client.ErrorDetail {
	var failed *client.Error
	if !errors.As(err, &failed) {
		return nil
	}
	return failed.Details
}

func waiting(err error) string {
	var failed *client.Error
	if errors.As(err, &failed) && failed.RetryAfter > 0 {
		return fmt.Sprintf("Wait %d seconds", (failed.RetryAfter+time.Second-1)/time.Second)
	}
	return "Wait a minute"
}
