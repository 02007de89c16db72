// Package params reads parameters and bodies of requests for the generated routes. It
// replaces github.com/oapi-codegen/runtime and has the same names, because the templates of
// oapi-codegen call these names. The project does not use the original package, because its
// go.mod requires web frameworks. That go.mod would raise the versions of these frameworks
// in applications whose tests import the mock server.
package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// ParamLocationPath is the location of path parameters.
const ParamLocationPath = "path"

// BindStyledParameterOptions describes a path parameter. set needs only its Go type, so the
// fields are unused.
type BindStyledParameterOptions struct {
	ParamLocation, Type, Format         string
	Explode, Required, ValueIsUnescaped bool
}

// BindQueryParameterOptions describes a query parameter. set needs only its Go type, so the
// fields are unused.
type BindQueryParameterOptions struct{ Type, Format string }

// RequiredParameterError is the error for a required parameter that the query omits.
type RequiredParameterError struct{ error }

// BindStyledParameterWithOptions sets a path parameter, which must not be empty.
func BindStyledParameterWithOptions(_, _, value string, param any, _ BindStyledParameterOptions) error {
	if value == "" {
		return errors.New("must not be empty")
	}
	return set(param, value)
}

// BindQueryParameterWithOptions sets a query parameter, unless the query omits it.
func BindQueryParameterWithOptions(_ string, _, required bool, name string, query url.Values, param any, _ BindQueryParameterOptions) error {
	values := query[name]
	switch {
	case len(values) == 1:
		return set(param, values[0])
	case len(values) > 1:
		return fmt.Errorf("must appear once, got %d values", len(values))
	case required:
		return &RequiredParameterError{errors.New("is missing")}
	}
	return nil
}

// set parses a value. It panics if param has a type that no parameter in openapi.yaml has.
func set(param any, value string) (err error) {
	switch param := param.(type) {
	case *string:
		*param = value
	case *int64:
		*param, err = strconv.ParseInt(value, 10, 64)
	case *bool:
		*param, err = strconv.ParseBool(value)
	case **bool:
		*param = new(bool)
		return set(*param, value)
	default:
		panic(fmt.Sprintf("params: unsupported type %T", param))
	}
	return err
}

// BindJSONBody decodes the body of a request.
func BindJSONBody(r *http.Request, body any) error { return json.NewDecoder(r.Body).Decode(body) }
