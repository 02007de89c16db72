package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/suggest"
)

// Findings contains problems in a request that ValidateRequest does not return as
// errors.
type Findings struct {
	// BadEntries maps the index of each invalid import entry to the first error in
	// the entry. The server imports only the valid entries.
	BadEntries map[int]api.ProblemDetail
	// UnknownFields contains the paths of unknown fields, such as
	// contacts[].emial, and unknown names of events. UnknownParameters contains the names of unknown query
	// parameters. Each list has at most 20 elements and no duplicates.
	UnknownFields, UnknownParameters []string
}

// ValidateRequest validates the body of a request, which must be JSON or empty. If r is not nil, it
// also validates the parameters of r. If rejectUnknown or o.RejectUnknown is set, unknown fields and
// parameters are errors.
func (o *Operation) ValidateRequest(r *http.Request, body []byte, rejectUnknown bool) (found Findings, err error) {
	v := validator{text: text{b: body}, request: true, rejectUnknown: rejectUnknown || o.RejectUnknown}
	if o.ID == "importContacts" {
		v.badEntries = map[int]api.ProblemDetail{}
	}
	if r != nil {
		found.UnknownParameters = v.parameters(o, r)
	}
	if len(body) > 0 {
		v.value(o.Body, nil)
	}
	found.UnknownFields, found.BadEntries = v.unknown, v.badEntries
	if len(v.errors) > 0 {
		return found, &apierror.Error{Status: http.StatusUnprocessableEntity, Details: v.errors}
	}
	return found, nil
}

func (v *validator) parameters(o *Operation, r *http.Request) (unknown []string) {
	for _, p := range o.InPath {
		v.parameter(p, "path", r.PathValue(p.Name))
	}
	if r.URL.RawQuery == "" {
		return nil
	}
	return v.query(o, r.URL.RawQuery)
}

func (v *validator) query(o *Operation, raw string) (unknown []string) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		v.add("value_error", "malformed: "+err.Error(), "query")
	}
	var known []string
	for _, p := range o.InQuery {
		known = append(known, p.Name)
		switch given := values[p.Name]; len(given) {
		case 0:
		case 1:
			v.parameter(p, "query", given[0])
		default:
			v.add("value_error", malformed, "query", p.Name)
		}
		delete(values, p.Name)
	}
	if len(values) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		unknown = note(unknown, name)
		if v.rejectUnknown && !v.full() {
			v.add("value_error", suggest.Unknown("parameter", name, known), "query", name)
		}
	}
	return unknown
}

const malformed = "malformed value"

func (v *validator) parameter(p Parameter, in, value string) {
	var msg string
	switch p.Schema.Kind {
	case String:
		msg = p.Schema.stringError(value)
	case Integer:
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			msg = malformed
		} else {
			msg = p.Schema.integerError(value)
		}
	case Boolean:
		if _, err := strconv.ParseBool(value); err != nil {
			msg = malformed
		}
	}
	if msg != "" {
		v.add("value_error", msg, in, p.Name)
	}
}

// importError records an error in an import request. For each entry, only the first
// error is stored.
func (v *validator) importError(d api.ProblemDetail) {
	switch {
	case len(d.Loc) >= 3 && d.Loc[1] == "contacts":
		index, _ := d.Loc[2].(int)
		if _, known := v.badEntries[index]; !known && len(v.badEntries) < api.MaxImport {
			v.badEntries[index] = d
		}
	case d.Type == tooManyItems:
		text := fmt.Sprintf("must contain at most %d contacts", api.MaxImport)
		v.errors = append(v.errors, apierror.At("too_many_contacts", text, d.Loc...))
	default:
		v.errors = append(v.errors, d)
	}
}

// knownEntry reports whether a value is in an import entry that already has an error.
func (v *validator) knownEntry(at *location) bool {
	for ; at != nil; at = at.outer {
		if _, known := v.badEntries[at.index]; known && at.name == nil && at.outer != nil && at.outer.outer == nil {
			return true
		}
	}
	return false
}

// ValidateResponse validates the response to a request. If the operation is nil, the path is unknown,
// so the response must be an error.
func (o *Operation) ValidateResponse(r *http.Request, status int, header http.Header, body []byte) error {
	name := r.Method + " " + r.URL.Path
	want, known := Response{"application/json", load().problem}, true
	if o != nil {
		name = o.ID
		if want, known = o.Responses[strconv.Itoa(status)]; !known {
			want, known = o.Responses[fmt.Sprintf("%dXX", status/100)]
		}
	}
	media, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	var err error
	switch {
	case !known:
		err = errors.New("unknown status")
	case media != want.Media:
		err = fmt.Errorf("content type must be %q, got %q", want.Media, media)
	case media == "application/json":
		err = want.Schema.validate(body)
	case media == "" && len(body) > 0:
		err = errors.New("body must be empty")
	}
	if err != nil {
		return fmt.Errorf("%s: response %d: %w", name, status, err)
	}
	return nil
}

// ValidateEvent validates the body of a delivery.
func ValidateEvent(name string, body []byte) error {
	schema := load().events[name]
	if schema == nil {
		return fmt.Errorf("event %s does not exist in openapi.yaml", name)
	}
	if err := schema.validate(body); err != nil {
		return fmt.Errorf("event %s: %w", name, err)
	}
	return nil
}

// RequestErrors returns the errors in the body of a request, which must be valid
// JSON. Unknown fields are errors.
func (s *Schema) RequestErrors(body []byte) []api.ProblemDetail {
	v := validator{text: text{b: body}, request: true, rejectUnknown: true}
	v.value(s, nil)
	return v.errors
}

func (s *Schema) validate(body []byte) error {
	if !json.Valid(body) {
		return errors.New("body must be JSON")
	}
	v := validator{text: text{b: body}}
	v.value(s, nil)
	if len(v.errors) > 0 {
		return errors.New(v.list())
	}
	return nil
}
