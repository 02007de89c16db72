package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/apierror"
)

// TestTable compares the operations of the generated table with the operations of the oracle.
func TestTable(t *testing.T) {
	n := 0
	for path, item := range oracle().Paths.Map() {
		for method, op := range item.Operations() {
			n++
			o := Operations()[method+" "+path]
			if o == nil || o.ID != op.OperationID || o.Deprecated != op.Deprecated || (o.Body != nil) != (op.RequestBody != nil) ||
				o.Body != nil && o.BodyRequired != op.RequestBody.Value.Required {
				t.Errorf("%s %s: %+v", method, path, o)
			}
		}
	}
	assert.Len(t, OperationRefs(), n, "operations")
}

// TestExamples validates the examples of openapi.yaml. Here the oracle uses the rules of OpenAPI 3.1, because all
// other tests use the rules of 3.0.
func TestExamples(t *testing.T) {
	n := 0
	check := func(name string, media *openapi3.MediaType, validate func(body []byte) error) {
		examples := openapi3.Examples{"": {Value: &openapi3.Example{Value: media.Example}}}
		if media.Examples != nil {
			examples = media.Examples
		}
		for id, x := range examples {
			if x.Value.Value == nil {
				continue
			}
			n++
			assert.NoError(t, media.Schema.Value.VisitJSON(x.Value.Value, openapi3.EnableJSONSchema2020()), "%s %s: the oracle", name, id)
			body, err := json.Marshal(x.Value.Value)
			require.NoError(t, err, id)
			assert.NoError(t, validate(body), id)
		}
	}
	for name, item := range oracle().Webhooks {
		media := item.Post.RequestBody.Value.Content.Get("application/json")
		check(name, media, func(body []byte) error { return ValidateEvent(name, body) })
	}
	for _, o := range load().operations {
		op := oracle().Paths.Value(o.Path).GetOperation(o.Method)
		if op.RequestBody != nil {
			check(o.ID, op.RequestBody.Value.Content.Get("application/json"), o.Body.validate)
		}
		for status, r := range op.Responses.Map() {
			if media := r.Value.Content.Get("application/json"); media != nil {
				check(o.ID+" "+status, media, o.Responses[status].Schema.validate)
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d examples", n)
	}
}

// TestInvalidTraffic compares the errors of responses and events with the oracle.
func TestInvalidTraffic(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/lists/1", http.NoBody)
	r.SetPathValue("list_id", "1")
	get := Operations()["GET /lists/{list_id}"]
	for name, row := range map[string]struct {
		status      int
		media, body string
		want        string // empty if valid
	}{
		"valid":           {200, "application/json", `{"list_id":1,"name":"L"}`, ""},
		"more fields":     {200, "application/json; charset=utf-8", `{"list_id":1,"name":"L","later":true}`, ""},
		"missing field":   {200, "application/json", `{"list_id":1}`, "getList: response 200: [body name]: required"},
		"wrong type":      {200, "application/json", `{"list_id":"1","name":"L"}`, "[body list_id]: must be an integer, got a string"},
		"not JSON":        {200, "application/json", `<html>`, "body must be JSON"},
		"another media":   {200, "text/html", `{"list_id":1,"name":"L"}`, `content type must be "application/json", got "text/html"`},
		"unknown status":  {299, "application/json", `{}`, "unknown status"},
		"valid problem":   {404, "application/json", `{"detail":[{"loc":["path",1],"msg":"no list","type":"not_found"}]}`, ""},
		"problem in text": {404, "application/json", `{"detail":"no list"}`, "[body detail]: must be an array, got a string"},
		"no place":        {404, "application/json", `{"detail":[{"loc":[{}],"msg":"","type":""}]}`, "matches 0 of 2"},
		"5XX":             {503, "application/json", `{"detail":[]}`, ""},
	} {
		header := http.Header{"Content-Type": {row.media}}
		got := get.ValidateResponse(r, row.status, header, []byte(row.body))
		if (got == nil) != (row.want == "") || got != nil && !strings.Contains(got.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", name, got, row.want)
		}
		in := &openapi3filter.ResponseValidationInput{
			RequestValidationInput: oracleInput(get, r), Status: row.status, Header: header, Options: oracleInput(get, r).Options,
		}
		in.SetBodyBytes([]byte(row.body))
		if err := openapi3filter.ValidateResponse(t.Context(), in); (err == nil) != (got == nil) {
			t.Errorf("%s: got %v, kin-openapi returned %v", name, got, err)
		}
	}
	remove := Operations()["DELETE /lists/{list_id}/contacts/{contact_id}"]
	for body, valid := range map[string]bool{"": true, "{}": false} {
		if err := remove.ValidateResponse(r, http.StatusNoContent, http.Header{}, []byte(body)); (err == nil) != valid {
			t.Errorf("204 with the body %q: %v", body, err)
		}
	}
	var none *Operation
	if err := none.ValidateResponse(r, http.StatusNotFound, http.Header{"Content-Type": {"application/json"}}, []byte(`{}`)); err == nil {
		t.Error("a 404 response without an error body is valid")
	}
	assert.Error(t, ValidateEvent("Contact.Moved", []byte(`{}`)), "an unknown event is valid")
}

// Each value of a repeated field is validated, because the decoder reads all of them.
func TestRepeatedFields(t *testing.T) {
	o := Operations()["POST /lists"]
	for body, want := range map[string]string{
		`{"name":"a","name":"b"}`:      "",
		`{"name":1,"name":"b"}`:        "name: must be a string, got a number",
		`{"name":"a","n\u0061me":""}`:  "name: must not be empty",
		`{"later":1,"name":"a","l":2}`: "",
	} {
		_, err := o.ValidateRequest(httptest.NewRequest(http.MethodPost, "/lists", nil), []byte(body), false)
		assert.Equal(t, want, strings.TrimPrefix(fmt.Sprint(err), "<nil>"), body)
	}
}

// The number of errors is limited. An import reports at most one error per entry.
func TestMaxErrors(t *testing.T) {
	many := func(value string, n int) string { return strings.TrimSuffix(strings.Repeat(value+",", n), ",") }
	for _, tt := range []struct {
		pattern, body   string
		errors, entries int
	}{
		{pattern: "POST /lists/{list_id}/contacts/tag", body: `{"contact_ids":[` + many(`""`, 5000) + `],"tags":["a"]}`, errors: apierror.MaxDetails},
		{pattern: "POST /lists", body: `{"name":"a",` + many(`"x":1`, 5000) + `}`, errors: apierror.MaxDetails},
		{pattern: "POST /lists/{list_id}/contacts/import", body: `{"contacts":[` + many(`{"tags":["",""]}`, 1000) + `]}`, entries: 1000},
		{pattern: "POST /lists/{list_id}/contacts/import", body: `{"contacts":[` + many(`1`, 5000) + `]}`, errors: 1, entries: 1000},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
		r.SetPathValue("list_id", "1")
		found, err := Operations()[tt.pattern].ValidateRequest(r, []byte(tt.body), true)
		n := 0
		if err != nil {
			n = len(err.(*apierror.Error).Details)
		}
		assert.Equal(t, tt.errors, n, tt.pattern)
		assert.Len(t, found.BadEntries, tt.entries, tt.pattern)
	}
}

// A value that matches two schemas of oneOf is invalid. The test has its own schema, because in openapi.yaml, no
// value matches two.
func TestOneOfTwo(t *testing.T) {
	s := &Schema{OneOf: []*Schema{{Kind: String}, {Kind: String, Nullable: true}}}
	for body, valid := range map[string]bool{`"a"`: false, `null`: true, `1`: false} {
		if err := s.validate([]byte(body)); (err == nil) != valid {
			t.Errorf("%s: got %v", body, err)
		}
	}
}

// The platform would treat an optional id of 0 as omitted, so 0 is an error.
func TestZeroIDs(t *testing.T) {
	for operation, body := range map[string]string{
		"POST /v2/emails": `{"email":"a@example.org","sender":{"email":"s@example.org"},"list_id":0,"content":{"subject":"S","template_id":0}}`,
		"POST /emails":    `{"email":"a@example.org","sender":{"email":"s@example.org"},"content":{"template_id":0,"text":"T"}}`,
		"POST /campaigns": `{"name":"C","list_id":0,"content":{"template_id":0}}`,
		"POST /workflows": `{"name":"W","list_id":1,"trigger":"subscribed","sender":{"email":"s@example.org"},"content":{"template_id":0,"text":"T"}}`,
	} {
		_, err := Operations()[operation].ValidateRequest(nil, []byte(body), false)
		var invalid *apierror.Error
		require.ErrorAs(t, err, &invalid, operation)
		assert.Len(t, invalid.Details, strings.Count(body, ":0"), operation)
	}
}
