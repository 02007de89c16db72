package mockserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"example.com/emailplatform/mockserver/internal/api"
)

// contract is openapi.yaml, ready to hold traffic against.
type contract struct {
	doc        *openapi3.T
	operations map[string]*operation // by the pattern that net/http routes by: "GET /lists/{list_id}"
}

// operation is one endpoint of the contract.
type operation struct {
	id         string
	route      routers.Route
	pathParams []string
}

// loadContract reads the embedded document once for all servers of the process:
// it takes some milliseconds, which a server that is never asked should not cost.
var loadContract = sync.OnceValue(func() *contract {
	doc, err := api.GetSpec()
	if err != nil {
		panic(fmt.Sprintf("mockserver: the embedded document: %v", err))
	}
	// The document keeps to what 3.0 and 3.1 have in common. The validator
	// compiles a 3.1 schema again for every value, some 300 times slower.
	doc.OpenAPI = "3.0.3"
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.RegisteredBodyDecoder("text/plain"))
	c := &contract{doc: doc, operations: map[string]*operation{}}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			c.operations[method+" "+path] = newOperation(doc, path, method, item, op)
		}
	}
	return c
})

func newOperation(doc *openapi3.T, path, method string, item *openapi3.PathItem, op *openapi3.Operation) *operation {
	o := &operation{
		id:    op.OperationID,
		route: routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op},
	}
	for segment := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			o.pathParams = append(o.pathParams, strings.TrimSuffix(name, "}"))
		}
	}
	return o
}

// input describes a request to the validator, without its body.
func (o *operation) input(r *http.Request) *openapi3filter.RequestValidationInput {
	params := make(map[string]string, len(o.pathParams))
	for _, name := range o.pathParams {
		params[name] = r.PathValue(name)
	}
	return &openapi3filter.RequestValidationInput{
		Request:    r,
		PathParams: params,
		Route:      &o.route,
		Options: &openapi3filter.Options{
			AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
			ExcludeRequestBody:    true,
			IncludeResponseStatus: true,
			MultiError:            true,
			SkipSettingDefaults:   true,
		},
	}
}

// validateRequest holds a request against the contract. An import is accepted
// without its bad entries: the first mistake of each is returned by its index
// and is none of the request.
func (o *operation) validateRequest(r *http.Request, body []byte) (entries map[int]api.ProblemDetail, err error) {
	var details []api.ProblemDetail
	if err := openapi3filter.ValidateRequest(r.Context(), o.input(r)); err != nil {
		details = parameterDetails(err)
	}
	details = append(details, o.bodyDetails(body)...)
	if o.id == "importContacts" {
		details, entries = apartEntries(details)
	}
	if len(details) > 0 {
		return nil, &problem{status: http.StatusUnprocessableEntity, details: details}
	}
	return entries, nil
}

// apartEntries takes what is about single entries of an import out of details.
func apartEntries(details []api.ProblemDetail) (rest []api.ProblemDetail, entries map[int]api.ProblemDetail) {
	entries = map[int]api.ProblemDetail{}
	for _, d := range details {
		if len(d.Loc) < 3 || d.Loc[1] != "contacts" {
			rest = append(rest, d)
			continue
		}
		index, _ := d.Loc[2].(int)
		if _, known := entries[index]; !known {
			entries[index] = d
		}
	}
	return rest, entries
}

// parameterDetails turns the validator's findings about parameters into the
// API's error format.
func parameterDetails(err error) []api.ProblemDetail {
	var found openapi3.MultiError
	if !errors.As(err, &found) {
		found = openapi3.MultiError{err}
	}
	var details []api.ProblemDetail
	for _, err := range found {
		var at *openapi3filter.RequestError
		if errors.As(err, &at) && at.Parameter != nil {
			details = append(details, parameterDetail(at))
		} else {
			details = append(details, detail("value_error", err.Error(), "query"))
		}
	}
	return details
}

func parameterDetail(at *openapi3filter.RequestError) api.ProblemDetail {
	kind, msg := "value_error", "malformed value"
	if found := schemaErrors(nil, at.Err); len(found) > 0 {
		msg = found[0].Reason
		if about := at.Parameter.Description; found[0].SchemaField == "pattern" && about != "" {
			msg = "want " + strings.TrimSuffix(strings.ReplaceAll(about, "`", ""), ".")
		}
	}
	if errors.Is(at.Err, openapi3filter.ErrInvalidRequired) {
		kind, msg = "missing", "required"
	}
	return detail(kind, msg, at.Parameter.In, at.Parameter.Name)
}

// bodyDetails holds a body, which must be JSON, against the contract. What is
// misspelt comes first, as it explains why something else is missing.
func (o *operation) bodyDetails(body []byte) []api.ProblemDetail {
	if len(body) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	_ = decoder.Decode(&value) // whoever read the body saw to it that it is JSON
	schema := o.route.Operation.RequestBody.Value.Content.Get("application/json").Schema.Value
	details := misspelt(schema, value, "body")
	for _, found := range schemaErrors(nil, schema.VisitJSON(value, openapi3.VisitAsRequest(), openapi3.MultiErrors())) {
		details = append(details, o.bodyDetail(found))
	}
	return details
}

// bodyDetail turns a finding about the body into the API's error format.
func (o *operation) bodyDetail(found *openapi3.SchemaError) api.ProblemDetail {
	loc := bodyLoc(found.JSONPointer()...)
	switch {
	case o.id == "importContacts" && found.SchemaField == "maxItems":
		return detail("too_many_contacts", "at most "+strconv.Itoa(maxImport)+" contacts in one import", loc...)
	case found.SchemaField == "required":
		return detail("missing", "required", loc...)
	}
	return detail("value_error", found.Reason, loc...)
}

func schemaErrors(into []*openapi3.SchemaError, err error) []*openapi3.SchemaError {
	var several openapi3.MultiError
	var one *openapi3.SchemaError
	switch {
	case errors.As(err, &several):
		for _, e := range several {
			into = schemaErrors(into, e)
		}
	case errors.As(err, &one):
		into = append(into, one)
	}
	return into
}

// bodyLoc is a place in the body; digits are places in arrays.
func bodyLoc(path ...string) []any {
	loc := []any{"body"}
	for _, name := range path {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 {
			loc = append(loc, i)
		} else if name != "" {
			loc = append(loc, name)
		}
	}
	return loc
}

// validateAnswer holds an answer against the contract. Where no operation
// answered, it has to be an error as the contract describes errors.
func (c *contract) validateAnswer(op *operation, r *http.Request, status int, header http.Header, body []byte) error {
	if op != nil {
		return op.validateResponse(r, status, header, body)
	}
	if err := fits(c.doc.Components.Schemas["Problem"], body); err != nil {
		return fmt.Errorf("%s %s: response %d: %w", r.Method, r.URL.Path, status, err)
	}
	return nil
}

// validateResponse holds an operation's answer against the contract.
func (o *operation) validateResponse(r *http.Request, status int, header http.Header, body []byte) error {
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: o.input(r),
		Status:                 status,
		Header:                 header,
		Options:                o.input(r).Options,
		Body:                   io.NopCloser(bytes.NewReader(body)),
	}
	if err := openapi3filter.ValidateResponse(context.WithoutCancel(r.Context()), in); err != nil {
		return fmt.Errorf("%s: response %d: %w", o.id, status, err)
	}
	return nil
}

// validateEvent holds the body of a delivery against the schema of its event.
func (c *contract) validateEvent(name string, body []byte) error {
	item := c.doc.Webhooks[name]
	if item == nil || item.Post == nil || item.Post.RequestBody == nil {
		return fmt.Errorf("event %s: the document does not describe it", name)
	}
	if err := fits(item.Post.RequestBody.Value.Content.Get("application/json").Schema, body); err != nil {
		return fmt.Errorf("event %s: %w", name, err)
	}
	return nil
}

// fits holds a JSON text against a schema.
func fits(schema *openapi3.SchemaRef, text []byte) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	return schema.Value.VisitJSON(value, openapi3.MultiErrors())
}

// allowed lists the methods that a path takes, for the header Allow; fallback
// is the pattern of what nothing takes.
func allowed(routes *http.ServeMux, fallback string, r *http.Request) []string {
	var methods []string
	for _, method := range []string{
		http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut,
	} {
		probe := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := routes.Handler(probe); pattern != "" && pattern != fallback {
			methods = append(methods, method)
		}
	}
	slices.Sort(methods)
	return methods
}

// takes reports whether an operation takes a method, in whatever case. What can
// be read is also answered to HEAD.
func (c *contract) takes(method string) bool {
	if strings.EqualFold(method, http.MethodHead) {
		return true
	}
	for _, op := range c.operations {
		if strings.EqualFold(method, op.route.Method) {
			return true
		}
	}
	return false
}

// Operations returns the operationIds of the API's document, sorted.
func Operations() []string {
	var ids []string
	for _, op := range loadContract().operations {
		ids = append(ids, op.id)
	}
	slices.Sort(ids)
	return ids
}
