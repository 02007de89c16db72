package problem

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
)

// OfJSON returns the error of a body that encoding/json cannot decode: 400 for
// malformed JSON, 422 for a value of another type.
func OfJSON(body []byte, err error) *Error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return Invalid(typeError(wrong), append([]any{"body"}, placeAt(body, wrong.Offset)...)...)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return Invalid("no such field", "body", strings.Trim(name, `"`))
	}
	return New(http.StatusBadRequest, "json_invalid", err.Error(), "body")
}

// Plainly returns err in terms of JSON, if it is about a value of another type.
func Plainly(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return err
	case wrong.Field == "":
		return errors.New(typeError(wrong))
	}
	return fmt.Errorf("%s: %s", wrong.Field, typeError(wrong))
}

// typeError returns a message with the required and the actual type in terms of
// JSON, because the sender does not know Go types.
func typeError(err *json.UnmarshalTypeError) string {
	return "must be " + kindOf(err.Type) + ", got " + kindNamed(err.Value)
}

// TypeError says what a value must be and what it is, by the names of JSON's types.
func TypeError(want, got string) string {
	return "must be " + kindNamed(want) + ", got " + kindNamed(got)
}

// kindOf returns the name of the JSON type for a Go type.
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

// kindNamed returns encoding/json's name of a value with its article.
func kindNamed(name string) string {
	switch name {
	case "bool", "boolean":
		return "true or false"
	case "array", "object", "integer":
		return "an " + name
	case "number", "string":
		return "a " + name
	}
	return strings.TrimPrefix(name, "number ") // one that does not fit, by its digits
}
