package client

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Sentinel errors for [errors.Is]. An [*Error] can match several sentinel
// errors.
var (
	ErrUnauthorized      = errors.New("access token rejected")                                        // 401
	ErrForbidden         = errors.New("permission denied")                                            // 403
	ErrNotFound          = errors.New("not found")                                                    // 404
	ErrConflict          = errors.New("conflict with the state of the resource")                      // 409
	ErrPolicyNotAccepted = errors.New("anti-spam policy not accepted")                                // error type policy_not_accepted
	ErrContactExists     = errors.New("contact already exists on the list")                           // error type contact_exists
	ErrValidation        = errors.New("invalid request")                                              // 400, 422, or rejected by the client
	ErrTooLarge          = errors.New("request too large")                                            // 413
	ErrListChanged       = errors.New("list changed during the iteration")                            // see Pagination
	ErrRateLimited       = errors.New("too many requests")                                            // 429
	ErrServer            = errors.New("platform error")                                               // 5xx
	ErrInvalidResponse   = errors.New("invalid response")                                             // see Errors
	ErrOutcomeUnknown    = errors.New("outcome unknown: the platform may have processed the request") // see Retries
	ErrNotQueued         = errors.New("email not queued")                                             // see Emails.Send
	ErrRejected          = fmt.Errorf("%w because of the recipient", ErrNotQueued)                    // always an ErrNotQueued
	errResponseTooLarge  = errors.New("response too large")                                           // always an ErrInvalidResponse
	errRedirect          = errors.New("redirect not followed")                                        // always an ErrInvalidResponse
	errNoStatus          = errors.New("unexpected status")                                            // always an ErrInvalidResponse
	errHTML              = errors.New("HTML page instead of JSON")                                    // always an ErrInvalidResponse
	errJSON              = errors.New("JSON instead of an HTML page")                                 // always an ErrInvalidResponse
	errNoImportResult    = errors.New("no result of the import, which may be in progress")            // always an ErrInvalidResponse
	errErrorInSuccess    = errors.New("error in the body of a 2xx response")                          // always an ErrInvalidResponse
)

const maxErrorBody = 4 << 10

// Error describes a failed call to the platform. Every error of a service method is or wraps an
// *Error, which you can get with [errors.As]. There is one exception: [Contacts.Import] can also
// return another error. An Error does not contain the token, unless you pass the token as an id.
// Do not change an Error, because several calls may share it.
type Error struct {
	Op         string        // operation, such as "createTemplate"
	Method     string        // HTTP method
	Path       string        // path relative to the base URL, without the query
	StatusCode int           // HTTP status; 0 without a response
	RequestID  string        // id of the request in the platform's logs; empty without a response
	Details    []ErrorDetail // problems that the platform reports, at most 100
	RetryAfter time.Duration // delay that the platform requested; 0 if none
	Attempts   int           // number of requests
	Body       []byte        // first 4 KiB of the response; nil for a 2xx, except an HTML page

	// The function that creates an Error sets its fields. A layer that must change the error of an inner layer returns
	// a copy. To create the copy, it calls Error.wrapping, or a method whose name begins with "with".

	cause          error         // the underlying error
	note           string        // additional text
	omittedDetails int           // number of omitted details
	result         attemptResult // of the last attempt; withLookupLimit replaces it
	effect         callEffect    // of the whole call; withRetries sets it
}

// Error returns one line with the operation and the reasons for the failure. Control
// characters are escaped with Go syntax (see [strconv.Quote]).
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s: ", e.Op, e.Method, e.Path)
	b.WriteString(strings.Join(e.reasons(), ": "))
	if e.effect == maybeDone {
		b.WriteString("; " + ErrOutcomeUnknown.Error())
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " [request %s]", e.RequestID)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " [%d attempts]", e.Attempts)
	}
	return escapeControls(b.String())
}

func (e *Error) reasons() []string {
	var r []string
	if e.StatusCode != 0 {
		r = append(r, strings.TrimSpace(fmt.Sprintf("%d %s", e.StatusCode, http.StatusText(e.StatusCode))))
	}
	if e.Is(ErrInvalidResponse) {
		r = append(r, ErrInvalidResponse.Error())
	}
	for _, d := range e.Details[:min(len(e.Details), maxShownDetails)] {
		r = append(r, d.String())
	}
	if more := len(e.Details) - maxShownDetails + e.omittedDetails; more > 0 {
		r = append(r, fmt.Sprintf("and %d more", more))
	}
	if e.cause != nil {
		r = append(r, e.cause.Error())
	}
	if e.note != "" {
		r = append(r, e.note)
	}
	return r
}

// Is reports whether e matches a sentinel error in this package.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrUnauthorized:
		return e.StatusCode == http.StatusUnauthorized
	case ErrForbidden:
		return e.StatusCode == http.StatusForbidden
	case ErrNotFound:
		return e.StatusCode == http.StatusNotFound
	case ErrConflict:
		return e.StatusCode == http.StatusConflict
	case ErrPolicyNotAccepted:
		return e.hasDetail("policy_not_accepted")
	case ErrContactExists:
		return e.hasDetail("contact_exists")
	case ErrValidation:
		return e.result == badRequest || e.StatusCode == http.StatusBadRequest || e.StatusCode == http.StatusUnprocessableEntity
	case ErrTooLarge:
		return e.StatusCode == http.StatusRequestEntityTooLarge
	case ErrRateLimited:
		return e.StatusCode == http.StatusTooManyRequests
	case ErrServer:
		return e.StatusCode >= 500
	case ErrInvalidResponse:
		return e.result == unreadable || e.result == mismatched || e.result == unreported
	case ErrOutcomeUnknown:
		return e.effect == maybeDone
	case ErrNotQueued:
		return e.result == unqueued
	}
	return false
}

func (e *Error) hasDetail(rule string) bool {
	return slices.ContainsFunc(e.Details, func(d ErrorDetail) bool { return d.Type == rule })
}

// names reports whether the platform reports a problem with a parameter.
func (e *Error) names(parameter string) bool {
	return slices.ContainsFunc(e.Details, func(d ErrorDetail) bool {
		return slices.Contains(d.Loc, parameter) || strings.Contains(d.Msg, parameter)
	})
}

// Unwrap returns the cause: an error from the network, the context, the token
// source or decoding. Unwrap returns nil if the platform responded with an
// error.
func (e *Error) Unwrap() error { return e.cause }

// Format implements [fmt.Formatter]. For all verbs, Format prints the text that
// Error returns.
func (e *Error) Format(f fmt.State, verb rune) {
	if verb == 'q' {
		_, _ = fmt.Fprintf(f, "%q", e.Error())
		return
	}
	_, _ = fmt.Fprint(f, e.Error())
}

// LogValue implements [slog.LogValuer].
func (e *Error) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("op", e.Op),
		slog.String("method", e.Method),
		slog.String("path", e.Path),
		slog.Int("status", e.StatusCode),
		slog.Int("attempts", e.Attempts),
		slog.String("error", escapeControls(strings.Join(e.reasons(), ": "))),
	}
	if e.RequestID != "" {
		attrs = append(attrs, slog.String("request_id", e.RequestID))
	}
	if e.RetryAfter > 0 {
		attrs = append(attrs, slog.Duration("retry_after", e.RetryAfter))
	}
	if e.effect == maybeDone {
		attrs = append(attrs, slog.Bool("outcome_unknown", true))
	}
	return slog.GroupValue(attrs...)
}

// withResult returns a copy of e with another result.
func (e *Error) withResult(result attemptResult) *Error {
	changed := *e
	changed.result = result
	return &changed
}

// withEffect returns a copy of e with another effect.
func (e *Error) withEffect(effect callEffect) *Error {
	changed := *e
	changed.effect = effect
	return &changed
}

// withRetryAfter returns a copy of e whose text contains RetryAfter.
func (e *Error) withRetryAfter() *Error {
	late := *e
	late.note = strings.TrimPrefix(fmt.Sprintf("%s: retry not before %v", e.note, e.RetryAfter), ": ")
	return &late
}

// wrapping returns an error that wraps both e and err. It does not change e, because other callers may use it.
func (e *Error) wrapping(err error) *Error {
	if err == nil || errors.Is(e.cause, err) {
		return e
	}
	both := *e
	both.cause = join(e.cause, err)
	return &both
}

// join returns an error that wraps all errors, except errors that an earlier
// error wraps. It returns nil if all errors are nil.
func join(errs ...error) (all error) {
	for _, err := range errs {
		switch {
		case err == nil || errors.Is(all, err):
		case all == nil:
			all = err
		default:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}

func newError(r request, cause error) *Error {
	return &Error{Op: r.op, Method: r.method, Path: r.path, cause: cause}
}

// newBadRequest returns the error for a call whose arguments are invalid.
// The client does not send such a call.
func newBadRequest(r request, cause error) *Error {
	e := newError(r, cause)
	e.result = badRequest
	return e
}

// newErrorAfterSuccess returns an error that the client derives from a successful
// response.
func newErrorAfterSuccess(r request, cause error) *Error {
	e := newError(r, cause)
	e.StatusCode = http.StatusOK
	return e
}

func (c *call) newError(cause error) *Error {
	e := newError(c.request, redactError(cause, c.token))
	e.Path = redact(e.Path, c.token) // the application may have passed the token as an id
	e.Attempts = c.attempts
	return e
}

// If err is not an [*Error], nothing was sent, and a retry would not help.
func (c *call) asError(err error) *Error {
	if e, ok := topLevelError(err); ok {
		return e
	}
	return c.newError(err)
}

// topLevelError returns err if its type is [*Error]. It does not unwrap err, because a wrapped [*Error] may
// come from another call: a token source can use its own client.
func topLevelError(err error) (*Error, bool) {
	e, ok := err.(*Error) //nolint:errorlint // see above
	return e, ok
}
