// Package problem implements the error format of the API: location, message and
// rule. It also converts errors from encoding/json to the API's error format.
package problem

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/suggest"
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

// Plainly replaces an error about a wrong type with an error that contains no names
// of Go types.
func Plainly(err error) error {
	if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong {
		return OfJSON(err)
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

// Unknown adds the valid field names to an error from encoding/json about an unknown
// field. Unknown omits objects that have a field with the unknown name, because the
// error occurred in another object.
func Unknown(err error, into any) error {
	if err == nil {
		return nil
	}
	name, is := strings.CutPrefix(err.Error(), "json: unknown field ")
	if !is {
		return err
	}
	name = strings.Trim(name, `"`)
	var known []string
	for _, names := range objectsOf(reflect.TypeOf(into)) {
		if !slices.Contains(names, name) {
			known = append(known, names...)
		}
	}
	slices.Sort(known)
	return fmt.Errorf("%s: %s", name, suggest.Unknown("field", name, slices.Compact(known)))
}

// objectsOf returns the field names of a struct and of all nested structs.
func objectsOf(t reflect.Type) (all [][]string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return objectsOf(t.Elem())
	case reflect.Struct:
		var names []string
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				names = append(names, name)
				all = append(all, objectsOf(f.Type)...)
			}
		}
		return append(all, names)
	}
	return nil
}
