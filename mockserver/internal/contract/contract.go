// Package contract validates JSON. For requests, responses and events of the API, it
// uses a table of operations and schemas that internal/tools/codegen generates from
// openapi.yaml. The reason is that loading openapi.yaml with kin-openapi takes 90 ms.
// Tests compare the table's results with the results of kin-openapi. For the bodies of
// control routes, package contract uses schemas that package schema creates.
package contract

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"example.com/emailplatform/mockserver/internal/suggest"
)

// OperationRef contains the operationId, method and path of an operation in
// openapi.yaml.
type OperationRef struct {
	ID     string `json:"operation" doc:"the operationId of the operation"`
	Method string `json:"method" doc:"the HTTP method of the operation"`
	Path   string `json:"path" doc:"the path of the operation"`
}

// Operation is an operation in openapi.yaml.
type Operation struct {
	OperationRef

	Deprecated      bool
	RejectUnknown   bool // unknown fields and parameters are errors
	InPath, InQuery []Parameter
	Body            *Schema // nil if the operation has no body
	BodyRequired    bool
	Responses       map[string]Response // keyed by status, such as 200 or 5XX
}

// Parameter describes a path or query parameter.
type Parameter struct {
	Name   string
	Schema *Schema
}

// Response contains the media type and schema of a response body. The zero value
// describes a response without a body.
type Response struct {
	Media  string
	Schema *Schema
}

// Kind is the JSON type of a value.
type Kind byte

// The JSON types. A schema of kind Any allows all types.
const (
	Any Kind = iota
	Object
	Array
	String
	Integer
	Number
	Boolean
	Null
)

// Schema describes a JSON value.
type Schema struct {
	Kind       Kind
	Nullable   bool
	Properties []Property
	Values     *Schema  // schema of the values of an object without Properties, if set
	Items      *Schema  // schema of the items of an array
	Min, Max   int64    // limits of a number, or of the length of an array or string; Max 0 means unlimited
	Exclusive  bool     // a number must be greater than Min
	Unsigned   bool     // an integer can exceed the range of int64
	Enum       []string // valid values of a string
	Pattern    *regexp.Regexp
	Expected   string   // description of the strings that Pattern matches
	Time       bool     // a string must be a time in the format of RFC 3339
	Format     string   // email or uri, of a string
	Event      bool     // a string is the name of an event; unknown names are recorded
	Needs      []string // an object must contain at least one of these fields
	AllOf      []*Schema
	OneOf      []*Schema

	// These fields are only for documents of the control routes.
	Name   string         // name of the schema
	Closed bool           // the object has no other fields
	Extra  map[string]any // further JSON Schema keywords, which other code checks
}

// Property describes a field of an object.
type Property struct {
	Name     string
	Required bool
	Schema   *Schema
	Doc      string // description in the documents of the control routes
}

// document is the generated table of operations and schemas. Callers must not
// change the table.
type document struct {
	operations []*Operation       // in the order of openapi.yaml
	events     map[string]*Schema // schemas of event bodies, keyed by event name
	problem    *Schema            // schema of an error response
}

var load = sync.OnceValue(table)

// Operations returns all operations by their net/http patterns, such as "GET
// /lists/{list_id}". Callers must not change the operations.
var Operations = sync.OnceValue(func() map[string]*Operation {
	all := map[string]*Operation{}
	for _, o := range load().operations {
		all[o.Method+" "+o.Path] = o
	}
	return all
})

// OperationRefs returns the id, method and path of each operation, sorted by path and
// method.
func OperationRefs() []OperationRef {
	var out []OperationRef
	for _, o := range load().operations {
		out = append(out, o.OperationRef)
	}
	slices.SortFunc(out, func(a, b OperationRef) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	return out
}

// OperationIDs returns the operationIds, sorted.
func OperationIDs() []string { return sorted(func(o *Operation) string { return o.ID }) }

func sorted(name func(*Operation) string) (names []string) {
	for _, o := range load().operations {
		names = append(names, name(o))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// HTTPMethods returns the methods of all operations, sorted. The result includes HEAD,
// because the server treats HEAD like GET.
func HTTPMethods() []string {
	methods := append(sorted(func(o *Operation) string { return o.Method }), "HEAD")
	slices.Sort(methods)
	return methods
}

// Closest returns the operation with the most similar path, or nil if no path is
// similar.
func Closest(method, path string) *OperationRef {
	all := OperationRefs()
	var patterns []string
	for _, o := range all {
		patterns = append(patterns, o.Method+" "+o.Path)
	}
	i := suggest.ClosestPath(method+" "+path, patterns)
	if i < 0 {
		return nil
	}
	return &all[i]
}

// Property returns the property with the given name, or nil if there is none.
func (s *Schema) Property(name string) *Property {
	if i := s.property([]byte(name)); i >= 0 {
		return &s.Properties[i]
	}
	return nil
}

// property returns the index of the property with the given name, or -1 if
// there is none.
func (s *Schema) property(name []byte) int {
	for i := range s.Properties {
		if s.Properties[i].Name == string(name) {
			return i
		}
	}
	return -1
}

func kindOf(first byte) Kind {
	switch first {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Boolean
	case 'n':
		return Null
	}
	return Integer
}

func (s *Schema) typeError(got string) string {
	if s.Enum != nil {
		return suggest.Unknown("value", "", s.Enum)
	}
	want := s.Kind.String()
	if s.Nullable {
		want += " or null"
	}
	return "must be " + want + ", got " + got
}

// String returns the name of the type with an article.
func (k Kind) String() string {
	return [...]string{
		Any: "any value", Object: "an object", Array: "an array", String: "a string", Integer: "an integer", Number: "a number",
		Boolean: "true or false", Null: "null",
	}[k]
}

// anyString reports whether the schema allows every string, except possibly the
// empty string.
func (s *Schema) anyString() bool {
	return s.Min <= 1 && s.Max == 0 && s.Enum == nil && s.Pattern == nil && !s.Time && s.Format == ""
}

// stringError returns "" if the string is valid.
func (s *Schema) stringError(value string) string {
	length := int64(utf8.RuneCountInString(value))
	switch {
	case s.Enum != nil && !slices.Contains(s.Enum, value):
		return suggest.Unknown("value", value, s.Enum)
	case length < s.Min && s.Min == 1:
		return "must not be empty"
	case length < s.Min:
		return fmt.Sprintf("must be at least %d characters long", s.Min)
	case s.Max > 0 && length > s.Max:
		return fmt.Sprintf("must be at most %d characters long", s.Max)
	case s.Pattern != nil && !s.Pattern.MatchString(value):
		return "must be " + s.Expected
	case s.Time && !isTime(value):
		return "must be a time in the format of RFC 3339"
	}
	return formatError(s.Format, value)
}

func isTime(value string) bool {
	_, err := time.Parse(time.RFC3339, value)
	return err == nil
}

// integerError returns "" if the integer is valid.
func (s *Schema) integerError(digits string) string {
	n, err := strconv.ParseInt(digits, 10, 64)
	if s.Unsigned && errors.Is(err, strconv.ErrRange) && digits[0] != '-' {
		_, err = strconv.ParseUint(digits, 10, 64)
	}
	switch {
	case err != nil:
		return s.typeError(digits)
	case n < s.Min || s.Max > 0 && n > s.Max:
		return s.rangeError()
	}
	return ""
}

// numberError returns "" if the number is valid.
func (s *Schema) numberError(digits string) string {
	n, _ := strconv.ParseFloat(digits, 64)
	if n < float64(s.Min) || s.Exclusive && n == float64(s.Min) || s.Max > 0 && n > float64(s.Max) {
		return s.rangeError()
	}
	return ""
}

func (s *Schema) rangeError() string {
	switch {
	case s.Exclusive:
		return fmt.Sprintf("must be more than %d and at most %d", s.Min, s.Max)
	case s.Max == 0 || s.Max == math.MaxInt64:
		return fmt.Sprintf("must be at least %d", s.Min)
	}
	return fmt.Sprintf("must be between %d and %d", s.Min, s.Max)
}

// TextError validates a string, or an integer in decimal form. It returns "" if the value
// is valid.
func (s *Schema) TextError(value string) string {
	if s.Kind == Integer {
		return s.integerError(value)
	}
	return s.stringError(value)
}
