package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/emailplatform/client"
)

// advise returns an error with advice for the assistant, followed by the platform's
// messages.
func advise(err error) error {
	var s strings.Builder
	failed, ok := errors.AsType[*client.Error](err)
	if !ok {
		failed = new(client.Error)
	}
	s.WriteString(advice(err, failed))
	for i, d := range failed.Details {
		if i == maxProblems {
			fmt.Fprintf(&s, "\n- and %d more", len(failed.Details)-i)
			break
		}
		d.Loc = argument(d.Loc)
		fmt.Fprintf(&s, "\n- %s", shorten(d.String()))
	}
	switch {
	case !ok:
		fmt.Fprintf(&s, "\n- %v", err)
	case len(failed.Details) == 0:
		fmt.Fprintf(&s, "\n- %s", shorten(failed.Error()))
	case failed.RequestID != "":
		fmt.Fprintf(&s, "\n(request %s)", failed.RequestID)
	}
	return errors.New(s.String())
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

func advice(err error, failed *client.Error) string {
	switch {
	case errors.Is(err, client.ErrOutcomeUnknown):
		return `The outcome is unknown: the platform may have created the contact. Before you create it again, look for it with operation "list" and filter "email:ADDRESS".`
	case errors.Is(err, client.ErrContactExists):
		return `Nothing was changed, because the list already contains the address. To see the contact, use operation "list" and filter "email:ADDRESS".`
	case errors.Is(err, client.ErrNotFound) && len(failed.Details) > 0: // without details, the response may come from a proxy
		return "Nothing was changed, because this account has no list with this list_id. Ask the user for the correct list_id."
	case errors.Is(err, client.ErrUnauthorized):
		return "Nothing was changed, because the platform rejected the access token. Do not retry; tell the user to check the access token of this server."
	case errors.Is(err, client.ErrForbidden):
		return "Nothing was changed, because the access token lacks the required permission. Do not retry; tell the user that a token with this permission is required."
	case errors.Is(err, client.ErrRateLimited):
		return "Nothing was changed, because too many requests were sent. " + waiting(failed) + ", then make the same call again."
	case errors.Is(err, client.ErrValidation), errors.Is(err, client.ErrTooLarge), errors.Is(err, client.ErrConflict):
		return "Nothing was changed. Correct these arguments and call again:"
	case errors.Is(err, client.ErrInvalidResponse):
		return "The platform's response is invalid. A smaller per_page may help."
	case errors.Is(err, context.DeadlineExceeded):
		return "The platform did not respond in time. Nothing was changed; make the same call again later."
	}
	return "The platform is unavailable. Nothing was changed; make the same call again later."
}

func waiting(failed *client.Error) string {
	if failed.RetryAfter > 0 {
		return fmt.Sprintf("Wait %d seconds", (failed.RetryAfter+time.Second-1)/time.Second)
	}
	return "Wait a minute"
}
