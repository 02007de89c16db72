// Package problem implements the error format of the API: location, message and
// rule. It also converts errors from encoding/json to the API's error format.
package problem

import (
	"fmt"
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
)

// Error is an error response.
type Error struct {
	Status     int
	Details    []api.ProblemDetail
	RetryAfter string // the header Retry-After, if not empty
}

// MaxDetails is the maximum number of details in an error.
const MaxDetails = 100

// Error returns the first detail.
func (p *Error) Error() string {
	if len(p.Details) == 0 {
		return http.StatusText(p.Status)
	}
	d := p.Details[0]
	if path := Path(d.Loc); path != "" {
		return path + ": " + d.Msg
	}
	return d.Msg
}

// Path returns a location as a path such as lists[0].name. The path for the whole body
// is an empty string.
func Path(loc []any) string {
	var out strings.Builder
	for i, step := range loc {
		switch step := step.(type) {
		case string:
			if i == 0 && step == "body" {
				continue
			}
			if out.Len() > 0 {
				out.WriteByte('.')
			}
			out.WriteString(step)
		default:
			fmt.Fprintf(&out, "[%v]", step)
		}
	}
	return out.String()
}

// At returns a detail with the location, the message and the violated rule.
func At(kind, msg string, loc ...any) api.ProblemDetail {
	return api.ProblemDetail{Loc: loc, Msg: msg, Type: kind}
}

// New returns an error with one detail.
func New(status int, kind, msg string, loc ...any) *Error {
	if loc == nil {
		loc = []any{}
	}
	return &Error{Status: status, Details: []api.ProblemDetail{At(kind, msg, loc...)}}
}

// Invalid returns the error for a field or parameter that violates a rule.
func Invalid(msg string, loc ...any) *Error {
	return New(http.StatusUnprocessableEntity, "value_error", msg, loc...)
}

// Conflict returns the error for a resource whose state does not allow the
// request.
func Conflict(kind, msg string, loc ...any) *Error {
	return New(http.StatusConflict, kind, msg, loc...)
}

// NotFound returns the error for an id that does not exist in the caller's
// account.
func NotFound(what string, id any, loc ...any) *Error {
	return New(http.StatusNotFound, "not_found", fmt.Sprintf("no %s %v", what, id), loc...)
}
