package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// oracle is openapi.yaml, read by kin-openapi, an independent validator.
var oracle = sync.OnceValue(func() *openapi3.T {
	doc, err := openapi3.NewLoader().LoadFromFile("../../../openapi.yaml")
	if err != nil {
		panic(err)
	}
	// The document uses what 3.0 and 3.1 have in common. Schemas of 3.1 would be
	// compiled for each value, which is some 300 times slower.
	doc.OpenAPI = "3.0.3"
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.RegisteredBodyDecoder("text/plain"))
	return doc
})

func oracleInput(o *Operation, r *http.Request) *openapi3filter.RequestValidationInput {
	item := oracle().Paths.Value(o.Path)
	params := map[string]string{}
	for _, p := range o.InPath {
		params[p.Name] = r.PathValue(p.Name)
	}
	return &openapi3filter.RequestValidationInput{
		Request:    r,
		PathParams: params,
		Route:      &routers.Route{Spec: oracle(), Path: o.Path, PathItem: item, Method: o.Method, Operation: item.GetOperation(o.Method)},
		Options: &openapi3filter.Options{
			AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
			ExcludeRequestBody:    true,
			IncludeResponseStatus: true,
			MultiError:            true,
			SkipSettingDefaults:   true,
		},
	}
}

func oracleBody(o *Operation) *openapi3.Schema {
	body := oracle().Paths.Value(o.Path).GetOperation(o.Method).RequestBody
	if body == nil {
		return nil
	}
	return body.Value.Content.Get("application/json").Schema.Value
}

// oracleErrors returns the errors of a request as "location: text".
func oracleErrors(o *Operation, r *http.Request, body []byte) (out []string) {
	var all openapi3.MultiError
	errors.As(openapi3filter.ValidateRequest(r.Context(), oracleInput(o, r)), &all)
	for _, err := range all {
		var at *openapi3filter.RequestError
		if !errors.As(err, &at) {
			panic(err)
		}
		out = append(out, at.Parameter.In+" "+at.Parameter.Name+": "+parameterText(at.Err))
	}
	for name, given := range r.URL.Query() {
		known := slices.ContainsFunc(o.InQuery, func(p Parameter) bool { return p.Name == name })
		if !known {
			out = append(out, "query "+name+": unknown")
		} else if len(given) > 1 { // the oracle reads one of them, the generated server rejects both
			out = slices.DeleteFunc(out, func(s string) bool { return strings.HasPrefix(s, "query "+name+":") })
			out = append(out, "query "+name+": malformed value")
		}
	}
	if len(body) > 0 {
		value := decoded(body)
		out = append(out, unknownFields(oracleBody(o), value, "body")...)
		for _, e := range schemaErrors(oracleBody(o).VisitJSON(value, openapi3.VisitAsRequest(), openapi3.MultiErrors())) {
			out = append(out, strings.Join(append([]string{"body"}, e.JSONPointer()...), " ")+": "+errorText(e))
		}
	}
	slices.Sort(out)
	return out
}

func parameterText(err error) string {
	if all := schemaErrors(err); len(all) > 0 {
		return errorText(all[0])
	}
	return "malformed value"
}

// errorText returns the text of an error of the oracle. Null is a wrong type.
func errorText(e *openapi3.SchemaError) string {
	switch e.SchemaField {
	case "required":
		return "required"
	case "pattern":
		return "must be"
	case "nullable":
		kind := e.Schema.Type.Slice()[0]
		if strings.ContainsRune("aio", rune(kind[0])) {
			return "value must be an " + kind
		}
		return "value must be a " + kind
	}
	return e.Reason
}

func schemaErrors(err error) (out []*openapi3.SchemaError) {
	var several openapi3.MultiError
	var one *openapi3.SchemaError
	switch {
	case errors.As(err, &several):
		for _, e := range several {
			out = append(out, schemaErrors(e)...)
		}
	case errors.As(err, &one):
		out = append(out, one)
	}
	return out
}

// decoded decodes a body for the oracle, which accepts 1.0 as an integer. The generated server does not, so such a
// number becomes a fraction.
func decoded(body []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		panic(fmt.Sprintf("%v in %s", err, body))
	}
	return fractions(value)
}

func fractions(value any) any {
	switch value := value.(type) {
	case json.Number:
		if _, err := strconv.ParseInt(string(value), 10, 64); err != nil {
			return 1.5
		}
	case map[string]any:
		for name := range value {
			value[name] = fractions(value[name])
		}
	case []any:
		for i := range value {
			value[i] = fractions(value[i])
		}
	}
	return value
}

// unknownFields returns the locations of fields that a schema does not have.
func unknownFields(schema *openapi3.Schema, value any, at string) (out []string) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			if known := schema.Properties[name]; known != nil {
				out = append(out, unknownFields(known.Value, field, at+" "+name)...)
			} else if len(schema.Properties) > 0 {
				out = append(out, at+" "+name+": unknown")
			}
		}
	case []any:
		for i, item := range value {
			if schema.Items != nil {
				out = append(out, unknownFields(schema.Items.Value, item, fmt.Sprint(at, " ", i))...)
			}
		}
	}
	return out
}
