// Package contract holds requests, answers and events against openapi.yaml.
// It knows the document and nobody who follows it.
package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"example.com/emailplatform/mockserver/internal/accept"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// Contract is openapi.yaml, ready to hold traffic against.
type Contract struct {
	Operations map[string]*Operation // by the pattern that net/http routes by: "GET /lists/{list_id}"
}

// Operation is one endpoint of the contract.
type Operation struct{ *accept.Operation }

// Load returns the contract. That takes no time: the document itself is read when
// something first has to be held against it.
var Load = sync.OnceValue(func() *Contract {
	c := &Contract{Operations: map[string]*Operation{}}
	for _, o := range accept.Operations() {
		c.Operations[o.Pattern()] = &Operation{o}
	}
	return c
})

// document returns the embedded document, read once for all servers of the
// process: it takes some milliseconds and megabytes, which a server that is asked
// for nothing that is wrong should not cost.
var document = sync.OnceValue(func() *openapi3.T {
	doc, err := api.GetSpec()
	if err != nil {
		panic(fmt.Sprintf("mockserver: the embedded document: %v", err))
	}
	// The document keeps to what 3.0 and 3.1 have in common. The validator
	// compiles a 3.1 schema again for every value, some 300 times slower.
	doc.OpenAPI = "3.0.3"
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.RegisteredBodyDecoder("text/plain"))
	return doc
})

// route is the operation as the validator takes it.
func (o *Operation) route() *routers.Route {
	item := document().Paths.Value(o.Path)
	return &routers.Route{
		Spec: document(), Path: o.Path, PathItem: item, Method: o.Method, Operation: item.GetOperation(o.Method),
	}
}

// input describes a request to the validator, without its body.
func (o *Operation) input(r *http.Request) *openapi3filter.RequestValidationInput {
	params := make(map[string]string, len(o.InPath))
	for _, p := range o.InPath {
		params[p.Name] = r.PathValue(p.Name)
	}
	return &openapi3filter.RequestValidationInput{
		Request:    r,
		PathParams: params,
		Route:      o.route(),
		Options: &openapi3filter.Options{
			AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
			ExcludeRequestBody:    true,
			IncludeResponseStatus: true,
			MultiError:            true,
			SkipSettingDefaults:   true,
		},
	}
}

// Findings are what is worth telling of a request beside its mistakes.
type Findings struct {
	// BadEntries holds the first mistake of each bad entry of an import, which is
	// accepted without them, by its index.
	BadEntries map[int]api.ProblemDetail
	// UnknownMembers and UnknownParameters are what the contract does not know:
	// places in the body such as contacts[].emial, and names in the query. Each is
	// there once, and there are 20 at the most.
	UnknownMembers, UnknownParameters []string
}

// ValidateRequest holds a request against the contract. What that does not know is
// a mistake only if it is to be refused.
func (o *Operation) ValidateRequest(r *http.Request, body []byte, refuseUnknown bool) (found Findings, err error) {
	if o.InPathIsGood(r.PathValue) && o.InQueryIsGood(r.URL.RawQuery) && o.BodyIsGood(body) {
		return found, nil
	}
	var details, more []api.ProblemDetail
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil { // what is left of it would be all
		details = append(details, problem.At("value_error", "malformed: "+err.Error(), "query"))
	}
	if err := openapi3filter.ValidateRequest(r.Context(), o.input(r)); err != nil {
		details = append(details, parameterDetails(err)...)
	}
	more, found.UnknownParameters = o.unknownParameters(r.URL.Query(), refuseUnknown)
	details = append(details, more...)
	more, found.UnknownMembers = o.bodyDetails(body, refuseUnknown)
	details = append(details, more...)
	if o.ID == "importContacts" {
		details, found.BadEntries = apartEntries(details)
	}
	if len(details) > 0 {
		return found, &problem.Error{Status: http.StatusUnprocessableEntity, Details: details}
	}
	return found, nil
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
			details = append(details, problem.At("value_error", err.Error(), "query"))
		}
	}
	return details
}

func parameterDetail(at *openapi3filter.RequestError) api.ProblemDetail {
	kind, msg := "value_error", "malformed value"
	if found := schemaErrors(nil, at.Err); len(found) > 0 {
		msg = found[0].Reason
		if about := at.Parameter.Description; found[0].SchemaField == "pattern" && about != "" {
			msg = "want " + wanted(about)
		}
	}
	if errors.Is(at.Err, openapi3filter.ErrInvalidRequired) {
		kind, msg = "missing", "required"
	}
	return problem.At(kind, msg, at.Parameter.In, at.Parameter.Name)
}

// wanted is the description of a parameter as an error says it: what is so by
// default is no help to who gave a value.
func wanted(about string) string {
	want, _, _ := strings.Cut(strings.NewReplacer("`", "", "By default", "by default").Replace(about), "by default")
	return strings.TrimRight(want, " ;.")
}

// bodyDetails holds a body, which must be JSON, against the contract, and returns
// the places of members that this does not know. What is misspelt comes first, as
// it explains why something else is missing.
func (o *Operation) bodyDetails(body []byte, refuseUnknown bool) (details []api.ProblemDetail, unknown []string) {
	if len(body) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	_ = decoder.Decode(&value) // whoever read the body saw to it that it is JSON
	schema := o.route().Operation.RequestBody.Value.Content.Get("application/json").Schema.Value
	details, unknown = judge(strangers(schema, value, "body"), refuseUnknown)
	for _, found := range schemaErrors(nil, schema.VisitJSON(value, openapi3.VisitAsRequest(), openapi3.MultiErrors())) {
		details = append(details, o.bodyDetail(found))
	}
	return details, unknown
}

// bodyDetail turns a finding about the body into the API's error format.
func (o *Operation) bodyDetail(found *openapi3.SchemaError) api.ProblemDetail {
	loc := problem.BodyLoc(found.JSONPointer()...)
	switch {
	case o.ID == "importContacts" && found.SchemaField == "maxItems":
		return problem.At("too_many_contacts", fmt.Sprintf("at most %d contacts in one import", api.MaxImport), loc...)
	case found.SchemaField == "required":
		return problem.At("missing", "required", loc...)
	}
	return problem.At("value_error", found.Reason, loc...)
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

// ValidateAnswer holds an answer against the contract. Where no operation
// answered, it has to be an error as the contract describes errors.
func (*Contract) ValidateAnswer(op *Operation, r *http.Request, status int, header http.Header, body []byte) error {
	if op != nil {
		return op.validateResponse(r, status, header, body)
	}
	if err := fits(document().Components.Schemas["Problem"], body); err != nil {
		return fmt.Errorf("%s %s: response %d: %w", r.Method, r.URL.Path, status, err)
	}
	return nil
}

// validateResponse holds an operation's answer against the contract.
func (o *Operation) validateResponse(r *http.Request, status int, header http.Header, body []byte) error {
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: o.input(r),
		Status:                 status,
		Header:                 header,
		Options:                o.input(r).Options,
		Body:                   io.NopCloser(bytes.NewReader(body)),
	}
	if err := openapi3filter.ValidateResponse(context.WithoutCancel(r.Context()), in); err != nil {
		return fmt.Errorf("%s: response %d: %w", o.ID, status, err)
	}
	return nil
}

// ValidateEvent holds the body of a delivery against the schema of its event.
func (*Contract) ValidateEvent(name string, body []byte) error {
	item := document().Webhooks[name]
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

// Takes reports whether an operation takes a method, in whatever case. What can
// be read is also answered to HEAD.
func (c *Contract) Takes(method string) bool {
	if strings.EqualFold(method, http.MethodHead) {
		return true
	}
	for _, op := range c.Operations {
		if strings.EqualFold(method, op.Method) {
			return true
		}
	}
	return false
}

// IDs returns the operationIds of the document, sorted.
func IDs() []string {
	var ids []string
	for _, op := range accept.Operations() {
		ids = append(ids, op.ID)
	}
	slices.Sort(ids)
	return ids
}
