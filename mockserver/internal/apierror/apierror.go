// Package apierror implements the error format of the API: location, message and
// rule. It also converts errors from encoding/json to the API's error format.
package apierror

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
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

// Join returns one error with at most MaxDetails details of all errors, or nil if all
// errors are nil. Its status is 422 if any of the errors has this status. Otherwise, it
// is the status of the first error. If an error is not an [Error], Join returns only
// this error.
func Join(errs ...error) error {
	all := &Error{}
	for _, err := range errs {
		p, ok := errors.AsType[*Error](err)
		switch {
		case err == nil:
			continue
		case !ok:
			return err
		}
		if all.Status == 0 || p.Status == http.StatusUnprocessableEntity {
			all.Status = p.Status
		}
		all.Details = append(all.Details, p.Details[:min(len(p.Details), MaxDetails-len(all.Details))]...)
	}
	if all.Status == 0 {
		return nil
	}
	return all
}

// Conflict returns the error for a resource whose state does not allow the
// request.
func Conflict(kind, msg string, loc ...any) *Error {
	return New(http.StatusConflict, kind, msg, loc...)
}

// NotFound returns the error for an id that does not exist in the caller's
// account.
func NotFound(what string, id any, loc ...any) *Error {
	return New(http.StatusNotFound, "not_found", fmt.Sprintf("%s %v does not exist", what, id), loc...)
}

// OfJSON returns the error for a body that encoding/json cannot decode: 400 for
// malformed JSON, 422 for a value of the wrong type.
func OfJSON(err error) *Error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return New(http.StatusBadRequest, "json_invalid", err.Error(), "body")
	}
	loc := []any{"body"}
	for name := range strings.SplitSeq(wrong.Field, ".") {
		if name != "" {
			loc = append(loc, name)
		}
	}
	return Invalid("must be "+kindOf(wrong.Type)+", got "+kindNamed(wrong.Value), loc...)
}

// Plainly removes the names of Go types and packages from an error of
// encoding/json.
func Plainly(err error) error {
	if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong {
		return OfJSON(err)
	}
	if err != nil && strings.HasPrefix(err.Error(), "json: unknown field ") {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return err
}

func kindOf(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return kindNamed("string")
	}
	switch t.Kind() {
	case reflect.Bool:
		return kindNamed("bool")
	case reflect.String:
		return kindNamed("string")
	case reflect.Slice, reflect.Array:
		return kindNamed("array")
	case reflect.Struct, reflect.Map:
		return kindNamed("object")
	case reflect.Float32, reflect.Float64:
		return kindNamed("number")
	case reflect.Pointer:
		return kindOf(t.Elem())
	}
	return kindNamed("integer")
}

// kindNamed converts a type name from encoding/json to a JSON type with an
// article, such as "an array".
func kindNamed(name string) string {
	switch name {
	case "bool", "boolean":
		return "true or false"
	case "array", "object", "integer":
		return "an " + name
	case "number", "string":
		return "a " + name
	}
	return strings.TrimPrefix(name, "number ") // a number that does not fit, with its digits
}
