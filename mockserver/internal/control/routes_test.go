package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/engine"
)

// ask calls a route of an engine without parts, so the route must reject the request before it uses the engine.
func ask(t *testing.T, console http.Handler, method, target, accept, body string) *httptest.ResponseRecorder {
	t.Helper()
	routes := New(&engine.Engine{}, Options{Console: console, NeedsToken: func(*http.Request) bool { return false }})
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Accept", accept)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	routes.ServeHTTP(w, r)
	return w
}

// at returns the method and the URL of a route. The value of each path parameter is x.
func (rt route) at(q url.Values) (method, target string) {
	path := rt.path
	for _, name := range pathNames(path) {
		path = strings.NewReplacer("{"+name+"}", "x", "{"+name+"...}", "x").Replace(path)
	}
	return strings.Replace(rt.method, "*", "GET", 1), path + "?" + q.Encode()
}

// rejects checks that a route rejects a query with 422, and that the first error names the parameter.
func (rt route) rejects(t *testing.T, q url.Values, parameter string, want ...string) {
	t.Helper()
	method, target := rt.at(q)
	w := ask(t, nil, method, target, "", "")
	var got api.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Detail) == 0 || w.Code != 422 {
		t.Errorf("%s %s: got %d %s, want 422", method, target, w.Code, w.Body)
		return
	}
	if loc := fmt.Sprint(got.Detail[0].Loc); loc != "[query "+parameter+"]" {
		t.Errorf("%s %s: the error is at %s, want it at %s", method, target, loc, parameter)
	}
	for _, words := range want {
		if !strings.Contains(got.Detail[0].Msg, words) {
			t.Errorf("%s %s: got %q, want %q in it", method, target, got.Detail[0].Msg, words)
		}
	}
}

// wrong returns an invalid value of the parameter, and texts that the error must contain.
func (p param) wrong() (value string, said []string) {
	switch {
	case p.schema.Enum != nil:
		first := p.schema.Enum[0]
		return first[:len(first)-1] + "~", append([]string{"unknown value: did you mean " + first + "?"}, p.schema.Enum...)
	case p.schema.Kind == contract.Integer:
		return "9223372036854775808", []string{"must be an integer, got 9223372036854775808"}
	case p.schema.Pattern != nil:
		return "many", []string{"must be a status such as 404"}
	}
	return "", []string{"must not be empty"}
}

// good returns a valid value of the parameter.
func (p param) good() string {
	switch {
	case p.schema.Enum != nil:
		return p.schema.Enum[0]
	case p.schema.Kind == contract.Integer:
		return strconv.FormatInt(p.schema.Max, 10)
	case p.schema.Pattern != nil:
		return "404"
	}
	return "x"
}

// A parameter is rejected if its name is misspelled, if its value is invalid, or if it is repeated.
func TestParameters(t *testing.T) {
	for _, rt := range declared() {
		var names []string
		for _, p := range rt.query {
			names = append(names, p.name)
		}
		for _, p := range rt.query {
			t.Run(rt.name()+"?"+p.name, func(t *testing.T) {
				if !rt.handler.proxy {
					misspelled := p.name + "~"
					rt.rejects(t, url.Values{misspelled: {p.good()}}, misspelled, append(names, "did you mean "+p.name+"?")...)
				}
				value, said := p.wrong()
				rt.rejects(t, url.Values{p.name: {value}}, p.name, said...)
				rt.rejects(t, url.Values{p.name: {p.good(), p.good()}}, p.name, "more than once")
				rt.rejects(t, url.Values{p.name: {""}}, p.name, "must not be empty")
				if value, reason := p.parse(p.good()); value != p.good() || reason != "" {
					t.Errorf("%q is read as %q, %q", p.good(), value, reason)
				}
			})
		}
		if !rt.handler.proxy {
			rt.rejects(t, url.Values{"~": {"x"}}, "~", "unknown parameter: ")
		}
	}
}

// A malformed query is an error, because a server that ignored a part of it could select everything. A route without
// fields rejects a body with fields.
func TestRejectedRequests(t *testing.T) {
	for _, tt := range []struct{ method, path, body, location string }{
		{"GET", "outbox?account_id=2;limit=1", "", `["query"]`},
		{"GET", "outbox?account_id=%zz", "", `["query"]`},
		{"GET", "outbox?account_id=2&%=1", "", `["query"]`},
		{"GET", "outbox?limit=1001", "", `["query","limit"]`},
		{"DELETE", "state", `{"account_id":2}`, `["body","account_id"]`},
		{"POST", "outbox/x/open", `{"account_id":2}`, `["body","account_id"]`},
	} {
		w := ask(t, nil, tt.method, Prefix+tt.path, "", tt.body)
		assert.Equal(t, 422, w.Code, "%s %s", tt.method, tt.path)
		assert.Contains(t, w.Body.String(), tt.location, "%s %s", tt.method, tt.path)
	}
}

// The response lists at most 100 unknown parameters.
func TestManyUnknownParameters(t *testing.T) {
	query := ""
	for i := range 5000 {
		query += fmt.Sprintf("&x%d=1", i)
	}
	w := ask(t, nil, "GET", Prefix+"outbox?"+query, "", "")
	var got api.Problem
	err := json.Unmarshal(w.Body.Bytes(), &got)
	require.NoError(t, err)
	assert.Equal(t, 422, w.Code)
	assert.Len(t, got.Detail, apierror.MaxDetails)
}

// pages is a console with an index page and one file.
func pages(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Console", "yes")
	if r.URL.Path != Prefix && r.URL.Path != Prefix+"app.js" {
		http.NotFound(w, r)
		return
	}
	_, _ = fmt.Fprint(w, "the console")
}

func TestUnrouted(t *testing.T) {
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, tt := range []struct {
		name, method, path, accept string
		status                     int
		header, want               string // of the response
	}{
		{name: "posts only", method: "GET", path: "outbox/x/bounce", status: 405, header: "Allow: POST"},
		{name: "posts only, with a list", method: "GET", path: "wait", accept: "application/json", status: 405, header: "Allow: POST"},
		{name: "reads only", method: "POST", path: "outbox", status: 405, header: "Allow: GET, HEAD", want: "POST is not allowed"},
		{name: "unknown", method: "GET", path: "outbx", status: 404, want: "did you mean /_mock/outbox?"},
		{name: "unknown below an id", method: "POST", path: "outbox/7/bonce", status: 404, want: "did you mean /_mock/outbox/7/bounce?"},
		{name: "without the id", method: "GET", path: "outbox/", status: 404, want: "did you mean /_mock/outbox?"},
		{name: "like a route with an id", method: "PUT", path: "clock/freeze", status: 404, want: "did you mean /_mock/clock/advance?"},
		{name: "like nothing", method: "GET", path: "a", status: 404, want: "unknown route: see /_mock/openapi.json"},
		{name: "a file", method: "GET", path: "app.js", accept: "*/*", status: 200, header: "X-Console: yes", want: "the console"},
		{name: "the page", method: "GET", path: "", status: 200, want: "the console"},
		{name: "the page, by a browser", method: "GET", path: "", accept: browser, status: 200, want: "the console"},
		{name: "unknown, by a browser", method: "GET", path: "outbx", accept: browser, status: 303, header: "Location: ./"},
		{name: "posts only, by a browser", method: "GET", path: "wait", accept: browser, status: 303, header: "Location: ./"},
		{name: "unknown below an id, by a browser", method: "GET", path: "outbox/7/bonce", accept: browser, status: 303, header: "Location: ./../../"},
		{name: "a form of a browser", method: "POST", path: "outbx", accept: browser, status: 404, want: "not_found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := ask(t, http.HandlerFunc(pages), tt.method, Prefix+tt.path, tt.accept, "")
			assert.Equal(t, tt.status, w.Code)
			assert.Contains(t, w.Body.String(), tt.want)
			if name, value, ok := strings.Cut(tt.header, ": "); ok && w.Header().Get(name) != value {
				t.Errorf("%s is %q, want %q", name, w.Header().Get(name), value)
			}
			if kind := w.Header().Get("Content-Type"); tt.status >= 400 && kind != "application/json" || tt.status != 200 &&
				w.Header().Get("X-Console") != "" {
				t.Errorf("an error is %s, with the header %v", kind, w.Header())
			}
		})
	}
	assert.Equal(t, 404, ask(t, nil, "GET", Prefix, browser, "").Code, "without a console")
}

// The OpenAPI 3.1 document describes every route with every parameter.
func TestOpenAPI(t *testing.T) {
	w := ask(t, nil, "GET", Prefix+"openapi.json", "", "")
	doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	require.NoError(t, err)
	if err := doc.Validate(t.Context()); err != nil || doc.OpenAPI != "3.1.0" {
		t.Errorf("OpenAPI %s: %v", doc.OpenAPI, err)
	}
	ids := map[string]bool{}
	for _, rt := range declared() {
		item := doc.Paths.Value(rt.path)
		if rt.handler.proxy {
			if item != nil {
				t.Errorf("the document has %s, whose path no client can fill in", rt.path)
			}
			continue
		}
		if item == nil || item.GetOperation(rt.method) == nil {
			t.Errorf("the document lacks %s", rt.name())
			continue
		}
		op := item.GetOperation(rt.method)
		if ids[op.OperationID] {
			t.Errorf("two operations are called %s", op.OperationID)
		}
		ids[op.OperationID] = true
		rt.isDescribed(t, op)
	}
	if len(ids) < 30 {
		t.Errorf("the document has %d operations", len(ids))
	}
}

func (rt route) isDescribed(t *testing.T, op *openapi3.Operation) {
	t.Helper()
	for _, p := range rt.query {
		got := op.Parameters.GetByInAndName("query", p.name)
		if got == nil {
			t.Errorf("%s lacks the parameter %s", op.OperationID, p.name)
		} else if len(got.Schema.Value.Enum) != len(p.schema.Enum) {
			t.Errorf("%s: %s has the values %v, want %q", op.OperationID, p.name, got.Schema.Value.Enum, p.schema.Enum)
		}
	}
	if body := rt.body(); body != nil && len(body.Properties) > 0 {
		if op.RequestBody == nil {
			t.Errorf("%s lacks its body", op.OperationID)
			return
		}
		got := op.RequestBody.Value.Content.Get("application/json").Schema.Value
		for _, m := range body.Properties {
			require.NotNil(t, got.Properties[m.Name], "%s: %s", op.OperationID, m.Name)
			assert.Equal(t, m.Required, slices.Contains(got.Required, m.Name), "%s: %s", op.OperationID, m.Name)
		}
	}
}

// platform.yaml has the routes of an account as its second server, relative to the URL of platform.yaml.
func TestPlatformDocument(t *testing.T) {
	w := ask(t, nil, "GET", Prefix+"platform.yaml", "", "")
	doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	require.NoError(t, err)
	require.NotNil(t, doc.Paths.Value("/v2/emails"))
	assert.NotNil(t, doc.Webhooks["Email.Bounced"])
	require.Len(t, doc.Servers, 2)
	assert.Equal(t, "accounts/{account_id}/api", doc.Servers[1].URL)
	assert.Equal(t, "1", doc.Servers[1].Variables["account_id"].Default)
	if kind := w.Header().Get("Content-Type"); !strings.HasPrefix(kind, "application/yaml") {
		t.Errorf("got %s", kind)
	}
}
