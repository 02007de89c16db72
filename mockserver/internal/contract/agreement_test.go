package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
)

var bodies = flag.Int("agreement.bodies", 10_000, "how many random requests, responses and deliveries are compared with the oracle")

// TestRequests compares the errors of random requests with the errors of the oracle.
func TestRequests(t *testing.T) {
	r := rand.New(rand.NewPCG(1, uint64(*bodies)))
	all := load().operations
	valid := 0
	for i := range *bodies {
		o := all[i%len(all)]
		body := draft{Rand: r}
		if o.Body != nil {
			body.value(oracleBody(o))
		}
		if compare(t, o, []byte(body.String()), randomQuery(r, o), oneOf(r, oddTexts)) == 0 {
			valid++
		}
	}
	t.Logf("%d of %d requests are valid", valid, *bodies)
	assert.GreaterOrEqual(t, valid, *bodies/10)
	assert.LessOrEqual(t, valid, *bodies*3/4)
}

// compare checks the errors of a request against the oracle, and returns their number.
func compare(t *testing.T, o *Operation, body []byte, query, segment string) int {
	t.Helper()
	r := httptest.NewRequest(o.Method, "/", http.NoBody)
	r.URL.RawQuery = query
	for _, p := range o.InPath {
		r.SetPathValue(p.Name, segment)
	}
	var got []string
	found, err := o.ValidateRequest(r, body, true)
	if err != nil {
		for _, d := range err.(*apierror.Error).Details {
			got = append(got, summary(d))
		}
	}
	want := oracleErrors(o, r, body)
	for i, d := range found.BadEntries {
		first := summary(d)
		entry := fmt.Sprintf("body contacts %d", i)
		assert.Contains(t, want, first, "entry %d of %s", i, body)
		want = slices.DeleteFunc(want, func(s string) bool { return strings.HasPrefix(s, entry+" ") || strings.HasPrefix(s, entry+":") })
	}
	assert.ElementsMatch(t, want, got, "%s, path %q, query %q: %s", o.ID, segment, query, body)
	return len(want) + len(found.BadEntries)
}

// summary returns "location: text" in the form of the oracle.
func summary(d api.ProblemDetail) string {
	text, _, wrongType := strings.Cut(d.Msg, ", got ")
	switch {
	case wrongType:
	case strings.HasPrefix(text, "unknown "):
		text = "unknown"
	case strings.HasPrefix(text, "must be "), text == "must not be empty":
		text = "must be"
	case d.Type == "too_many_contacts":
		text = "must contain at most 1000 items"
	}
	return strings.TrimSuffix(fmt.Sprintln(d.Loc...), "\n") + ": " + text
}

// TestResponses compares the validity of random responses and deliveries with the oracle.
func TestResponses(t *testing.T) {
	r := rand.New(rand.NewPCG(2, uint64(*bodies)))
	valid := 0
	check := func(what string, schema *openapi3.Schema, validate func(body []byte) error) {
		body := draft{Rand: r}
		body.value(schema)
		want := schema.VisitJSON(decoded([]byte(body.String())))
		if got := validate([]byte(body.String())); (got == nil) != (want == nil) {
			t.Errorf("%s: %s\ngot %v, want %v", what, body.String(), got, want)
		}
		if want == nil {
			valid++
		}
	}
	events := slices.Sorted(maps.Keys(load().events))
	var responses []*Operation
	for _, o := range load().operations {
		if o.success().Media == "application/json" {
			responses = append(responses, o)
		}
	}
	for i := range *bodies / 2 {
		event := events[i%len(events)]
		body := oracle().Webhooks[event].Post.RequestBody.Value
		check(event, body.Content.Get("application/json").Schema.Value, func(b []byte) error { return ValidateEvent(event, b) })
		o := responses[i%len(responses)]
		check(o.ID, oracleResponse(o), o.success().Schema.validate)
	}
	t.Logf("%d of %d are valid", valid, *bodies)
	assert.GreaterOrEqual(t, valid, *bodies/10)
	assert.LessOrEqual(t, valid, *bodies*3/4)
}

// success returns the response of a request without errors.
func (o *Operation) success() Response {
	for status, r := range o.Responses {
		if status[0] == '2' {
			return r
		}
	}
	return Response{}
}

func oracleResponse(o *Operation) *openapi3.Schema {
	for status, r := range oracle().Paths.Value(o.Path).GetOperation(o.Method).Responses.Map() {
		if status[0] == '2' {
			return r.Value.Content.Get("application/json").Schema.Value
		}
	}
	return nil
}

// FuzzRequests compares the errors of requests with the errors of the oracle.
func FuzzRequests(f *testing.F) {
	all := load().operations
	r := rand.New(rand.NewPCG(1, 2))
	for i, o := range all {
		body := draft{Rand: r, tame: true}
		if o.Body != nil {
			body.value(oracleBody(o))
		}
		f.Add(byte(i), []byte(body.String()), "page=1&per_page=100&filter=email%3Aa", "1")
	}
	f.Fuzz(func(t *testing.T, which byte, body []byte, query, segment string) {
		o := all[int(which)%len(all)]
		if o.Body == nil || !json.Valid(body) || repeats(body) {
			body = nil
		}
		if _, err := url.ParseQuery(query); err != nil {
			query = "" // the oracle ignores a malformed query; TestScenarios of conformance tests the error
		}
		if segment == "" {
			segment = "1" // net/http matches no path with an empty segment
		}
		compare(t, o, body, query, segment)
	})
}

// repeats reports whether an object repeats a field. Such bodies are not compared, because the oracle reads only the
// last value.
func repeats(body []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(body))
	var value func() bool
	value = func() bool {
		token, _ := decoder.Token()
		if token != json.Delim('{') && token != json.Delim('[') {
			return false
		}
		seen := map[json.Token]bool{}
		for decoder.More() {
			if token == json.Delim('{') {
				name, _ := decoder.Token()
				if seen[name] {
					return true
				}
				seen[name] = true
			}
			if value() {
				return true
			}
		}
		_, _ = decoder.Token()
		return false
	}
	return value()
}

// oddTexts are valid and invalid parameters.
var oddTexts = []string{
	"1", "12", "0", "-1", "+1", "01", "1e2", "1.5", "100", "101", "999999999999999999", "9999999999999999999", " ", "true", "false",
	"TRUE", "t", "null", "email:a@example.org", "status:active", "email:asc", "id:up", "id:desc ", "é", "a,b", "a b", "%", "\x00",
}

func oneOf[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

func randomQuery(r *rand.Rand, o *Operation) string {
	var parts []string
	for _, p := range o.InQuery {
		for range r.IntN(20) / 9 { // none or one, rarely two
			value := oneOf(r, append(oddTexts, ""))
			value = strings.NewReplacer("@", "%40", ":", "%3A", " ", "+", "%", "%25", "\x00", "%00", "+", "%2B").Replace(value)
			parts = append(parts, p.Name+"="+value)
		}
	}
	if r.IntN(10) == 0 {
		parts = append(parts, oneOf(r, []string{"", "page", "Page=1", "later=1"}))
	}
	return strings.Join(parts, "&")
}

// draft writes random values of a schema. Unless the field tame is set, some of the values are invalid.
type draft struct {
	*rand.Rand
	strings.Builder
	tame bool
}

func (d *draft) odd(one int) bool { return !d.tame && d.IntN(one) == 0 }

var oddValues = []string{
	"null", `""`, `"x"`, `"\u0061"`, `"a\"b\\"`, `"é"`, `"éé"`, `"😀😀"`, `"marketing"`, `"activ\u0065"`, "0", "-0", "-1", "1.5", "1.0", "1e3", "7",
	"1E-2", "999999999999999999", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "12345678901234567890", "true", "false",
	"[]", `["a"]`, `[""]`, "[1]", "[[]]", `[[["]"]]]`, "{}", `{"x":1}`, `{"x":{"}":[]}}`, `{"name":"a","value":"b"}`, "\"\xff\"", `"\\"`, `"2026-01-02"`,
}

func (d *draft) space() {
	if d.odd(10) {
		d.WriteString(oneOf(d.Rand, []string{" ", "\n\t", "\r\n "}))
	}
}

func (d *draft) value(s *openapi3.Schema) {
	d.space()
	defer d.space()
	switch {
	case d.odd(25):
		d.WriteString(oneOf(d.Rand, oddValues))
	case s.OneOf != nil:
		d.value(oneOf(d.Rand, s.OneOf).Value)
	case s.AllOf != nil:
		d.object(merged(s.AllOf))
	case s.Type.Includes("null") && (d.IntN(4) == 0 || s.Type.Is("null")):
		d.WriteString("null")
	case s.Type.Includes("object"):
		d.object(s)
	case s.Type.Includes("array"):
		d.list(s)
	case s.Type.Includes("string"):
		d.text(s)
	case s.Type.Includes("integer"):
		fmt.Fprint(d, d.IntN(120)+1)
	default:
		fmt.Fprint(d, d.IntN(2) == 0)
	}
}

// merged returns one schema for allOf.
func merged(all openapi3.SchemaRefs) *openapi3.Schema {
	out := openapi3.NewObjectSchema()
	for _, part := range all {
		maps.Copy(out.Properties, part.Value.Properties)
		out.Required = append(out.Required, part.Value.Required...)
	}
	return out
}

func (d *draft) object(s *openapi3.Schema) {
	names := slices.Sorted(maps.Keys(s.Properties))
	if s.AdditionalProperties.Schema != nil {
		names = append(names, "first_name", `with \"quotes\"`)
	}
	if d.odd(20) {
		names = append(names, oneOf(d.Rand, []string{"later", "Email", "NAME", `nam\u0065x`, "\xff", "", "7"}))
	}
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(s.Required, name) && d.IntN(3) == 0 || d.odd(80) })
	d.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			d.WriteByte(',')
		}
		d.space()
		if d.odd(50) {
			fmt.Fprintf(d, `"%s"`, strings.ReplaceAll(name, "a", `\u0061`))
		} else {
			fmt.Fprintf(d, `"%s"`, name)
		}
		d.space()
		d.WriteByte(':')
		field := s.Properties[name]
		if field == nil {
			field = s.AdditionalProperties.Schema
		}
		if field == nil {
			field = openapi3.NewStringSchema().NewRef()
		}
		d.value(field.Value)
	}
	d.WriteByte('}')
}

func (d *draft) list(s *openapi3.Schema) {
	n := d.IntN(3) + int(s.MinItems)
	if s.MaxItems != nil && d.odd(2000) {
		n = int(*s.MaxItems) + d.IntN(2)
	}
	d.WriteByte('[')
	for i := range n {
		if i > 0 {
			d.WriteByte(',')
		}
		d.value(s.Items.Value)
	}
	d.space()
	d.WriteByte(']')
}

func (d *draft) text(s *openapi3.Schema) {
	switch {
	case len(s.Enum) > 0:
		fmt.Fprintf(d, "%q", oneOf(d.Rand, s.Enum))
	case s.Format == "date-time":
		d.WriteString(oneOf(d.Rand, []string{`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.25+01:00"`, `"2026-01-02\u005403:04:05Z"`}))
	case s.Extensions["x-event-name"] == true && !d.odd(10):
		d.WriteString(oneOf(d.Rand, []string{`"Email.Opened"`, `"Email\u002eBounced"`}))
	case s.Format == "email" && !d.odd(10):
		d.WriteString(`"ada@example.org"`)
	case s.Format == "uri" && !d.odd(10):
		d.WriteString(`"https://example.org/hook"`)
	default:
		d.WriteString(oneOf(d.Rand, []string{`"text"`, `"a@example.org"`, `"{{name}} \n \"x\" \u00e9"`, `"é日本"`, `"a\\"`, `"]},:"`}))
	}
}

// oracle is openapi.yaml, read by kin-openapi, an independent validator.
var oracle = sync.OnceValue(func() *openapi3.T {
	doc, err := openapi3.NewLoader().LoadFromFile("../../../openapi.yaml")
	if err != nil {
		panic(err)
	}
	// openapi.yaml uses the common subset of 3.0 and 3.1. The tests declare 3.0, because kin-openapi compiles 3.1 schemas
	// for each value, which is some 300 times slower.
	doc.OpenAPI = "3.0.3"
	for _, format := range []string{"email", "uri"} { // the oracle knows no rule; format_test.go tests the rules
		openapi3.DefineStringFormatValidator(format, openapi3.NewCallbackValidator(func(s string) error {
			if text := formatError(format, s); text != "" {
				return errors.New(text)
			}
			return nil
		}))
	}
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
		} else if len(given) > 1 { // the oracle reads one value, the generated server rejects the repetition
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

// errorText returns the text of an error of the oracle. If the value is null, this is the text for a value of the
// wrong type.
func errorText(e *openapi3.SchemaError) string {
	switch e.SchemaField {
	case "required":
		return "required"
	case "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems":
		return "must be"
	case "maxItems":
		return fmt.Sprintf("must contain at most %d items", *e.Schema.MaxItems)
	case "format":
		if e.Schema.Format == "email" {
			return "not an email address"
		}
		return "must be"
	case "enum":
		return "unknown"
	case "nullable", "type":
		return "must be " + strings.NewReplacer("object", "an object", "array", "an array", "string", "a string", "integer", "an integer",
			"boolean", "true or false").Replace(strings.Join(e.Schema.Type.Slice(), " or "))
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

// decoded decodes a body for the oracle. The oracle accepts 1.0 as an integer, but the server does not, so decoded
// changes it to a fraction.
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

// unknownFields returns the locations of fields that a schema does not have, of unknown events, and of objects without
// any of the fields in x-needs. It is necessary because the oracle does not check any of these.
func unknownFields(schema *openapi3.Schema, value any, at string) (out []string) {
	switch value := value.(type) {
	case map[string]any:
		needs, _ := schema.Extensions["x-needs"].([]any)
		if needs != nil && !slices.ContainsFunc(needs, func(name any) bool { _, ok := value[name.(string)]; return ok }) {
			out = append(out, fmt.Sprintf("%s: must contain %v, %v or %v", at, needs[0], needs[1], needs[2]))
		}
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
	case string:
		if schema.Extensions["x-event-name"] == true && value != "" && load().events[value] == nil {
			out = append(out, at+": unknown")
		}
	}
	return out
}
