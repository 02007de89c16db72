package contract

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is the JSON type of a value.
type Kind byte

// The JSON types. A schema of kind Any allows all types.
const (
	Any Kind = iota
	Object
	Array
	String
	Integer
	Boolean
	Null
)

// Schema is a schema in openapi.yaml.
type Schema struct {
	Kind       Kind
	Nullable   bool
	Properties []Property
	Values     *Schema  // schema of the values of an object without Properties, if set
	Items      *Schema  // schema of the items of an array
	Min, Max   int64    // limits of an integer, or of the length of an array or string; Max 0 means unlimited
	Enum       []string // valid values of a string
	Pattern    *regexp.Regexp
	Expected   string // description of the strings that Pattern matches
	Time       bool   // a string must be a time in the format of RFC 3339
	AllOf      []*Schema
	OneOf      []*Schema
}

// Property is a field of an object.
type Property struct {
	Name     string
	Required bool
	Schema   *Schema
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

func (s *Schema) names() (names []string) {
	for _, p := range s.Properties {
		names = append(names, p.Name)
	}
	return names
}

// kindOf returns the kind of a value that starts with the given byte.
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

// typeError returns the message for a value of the wrong type.
func (s *Schema) typeError() string {
	if s.Enum != nil {
		return s.enumError()
	}
	name := [...]string{Object: "an object", Array: "an array", String: "a string", Integer: "an integer", Boolean: "a boolean", Null: "null"}[s.Kind]
	if s.Nullable {
		_, word, _ := strings.Cut(name, " ")
		name = "one of " + word + ", null"
	}
	return "value must be " + name
}

func (s *Schema) enumError() string {
	allowed, _ := json.Marshal(s.Enum)
	return "value is not one of the allowed values " + string(allowed)
}

// anyString reports whether the schema allows every string, except possibly the
// empty string.
func (s *Schema) anyString() bool {
	return s.Min <= 1 && s.Max == 0 && s.Enum == nil && s.Pattern == nil && !s.Time
}

// stringError returns a message if a string violates a rule, and otherwise "".
func (s *Schema) stringError(value string) string {
	length := int64(utf8.RuneCountInString(value))
	switch {
	case s.Enum != nil && !slices.Contains(s.Enum, value):
		return s.enumError()
	case length < s.Min:
		return fmt.Sprintf("minimum string length is %d", s.Min)
	case s.Max > 0 && length > s.Max:
		return fmt.Sprintf("maximum string length is %d", s.Max)
	case s.Pattern != nil && !s.Pattern.MatchString(value):
		return "must be " + s.Expected
	case s.Time && !isTime(value):
		return "must be a time in the format of RFC 3339"
	}
	return ""
}

func isTime(value string) bool {
	_, err := time.Parse(time.RFC3339, value)
	return err == nil
}

// integerError returns a message if an integer violates a rule, and otherwise
// "".
func (s *Schema) integerError(digits string) string {
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil:
		return s.typeError()
	case n < s.Min:
		return fmt.Sprintf("number must be at least %d", s.Min)
	case s.Max > 0 && n > s.Max:
		return fmt.Sprintf("number must be at most %d", s.Max)
	}
	return ""
}
