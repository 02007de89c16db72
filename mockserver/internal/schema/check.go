package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/suggest"
)

// Check returns the errors in a value, at most [problem.MaxDetails]. The location of
// each error begins with the given location. Numbers in the value must be of type
// [json.Number]. Field names are case-sensitive.
func (s *Schema) Check(value any, loc ...any) []api.ProblemDetail {
	var c checker
	c.value(s, value, loc)
	return c.found
}

type checker struct{ found []api.ProblemDetail }

func (c *checker) full() bool { return len(c.found) >= problem.MaxDetails }

func (c *checker) fail(kind, msg string, loc []any) {
	if !c.full() {
		c.found = append(c.found, problem.At(kind, msg, slices.Clone(loc)...))
	}
}

func (c *checker) value(s *Schema, value any, loc []any) {
	if c.full() {
		return
	}
	if msg := s.typeError(value); msg != "" {
		c.fail("value_error", msg, loc)
		return
	}
	if msg := s.Rules.broken(value); msg != "" {
		c.fail("value_error", msg, loc)
	}
	switch value := value.(type) {
	case string:
		if s.Enum != nil && !slices.Contains(s.Enum, value) {
			c.fail("value_error", suggest.Unknown("value", value, s.Enum), loc)
		}
	case []any:
		for i, item := range value {
			if s.Items != nil {
				c.value(s.Items, item, append(loc, i))
			}
		}
	case map[string]any:
		if s.Is("object") {
			c.object(s, value, loc)
		}
	}
}

func (c *checker) object(s *Schema, value map[string]any, loc []any) {
	for _, name := range slices.Sorted(maps.Keys(value)) {
		switch f := s.Field(name); {
		case c.full():
			return
		case f != nil:
			c.value(f.Schema, value[name], append(loc, name))
		default:
			c.fail("value_error", suggest.Unknown("field", name, s.FieldNames()), append(loc, name))
		}
	}
	for _, f := range s.Fields {
		if _, given := value[f.Name]; f.Required && !given {
			c.fail("missing", "required", append(loc, f.Name))
		}
	}
}

// typeError returns "" if the type of the value is valid.
func (s *Schema) typeError(value any) string {
	got := kindOf(value)
	switch {
	case len(s.Kinds) == 0, value == nil && s.Null, slices.Contains(s.Kinds, got):
		return ""
	case got == "number" && s.Is("integer"):
		return problem.TypeError(s.Kinds[0], fmt.Sprint(value))
	case got == "integer" && slices.Contains(s.Kinds, "number"):
		return ""
	case got == "integer":
		got = "number"
	}
	return problem.TypeError(s.Kinds[0], got)
}

// kindOf returns "integer" only for numbers that fit into an int64 or a uint64.
func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if _, err := strconv.ParseUint(value.String(), 10, 64); err == nil {
			return "integer"
		}
		if _, err := strconv.ParseInt(value.String(), 10, 64); err == nil {
			return "integer"
		}
		return "number"
	}
	return "object"
}

// broken returns "" if the value complies with the rules.
func (r Rules) broken(value any) string {
	var n float64
	text := "must be %s"
	switch value := value.(type) {
	case json.Number:
		n, _ = value.Float64()
	case string:
		n, text = float64(utf8.RuneCountInString(value)), "must have a length of %s"
		if p := patterns()[r.Pattern]; p.match != nil && !p.match.MatchString(value) {
			return "must be " + p.wanted
		}
	case []any:
		n, text = float64(len(value)), "must have a length of %s"
	default:
		return ""
	}
	number := func(text json.Number) float64 { n, _ := text.Float64(); return n }
	if r.Min != "" && n < number(r.Min) || r.Max != "" && n > number(r.Max) || r.Above != "" && n <= number(r.Above) {
		return fmt.Sprintf(text, r.String())
	}
	return ""
}

// String returns a description of the range of valid numbers, or "" if all
// numbers are valid.
func (r Rules) String() string {
	if r.Max == maxInt64 || r.Max == maxUint64 {
		r.Max = ""
	}
	switch {
	case r.Above != "":
		return fmt.Sprintf("more than %s, up to %s", r.Above, r.Max)
	case r.Min != "" && r.Max != "":
		return fmt.Sprintf("%s to %s", r.Min, r.Max)
	case r.Min != "":
		return fmt.Sprintf("%s or more", r.Min)
	case r.Max != "":
		return fmt.Sprintf("at most %s", r.Max)
	}
	return ""
}

// pattern is a regular expression with a description. Go and ECMAScript interpret the
// expression in the same way. The expression contains no slash, because not all
// generators escape a slash.
type pattern struct {
	match  *regexp.Regexp
	wanted string
}

// patterns maps the values of the struct tag "pattern" to regular expressions. The API
// may reject an address or a URL that matches its pattern, for example if the address
// is too long.
var patterns = sync.OnceValue(func() map[string]pattern {
	const (
		special = `\x00-\x20"(),:;<>@\[\\\]\x7f.`
		atom    = `[^` + special + `]+`
		local   = atom + `(\.` + atom + `)*`
		named   = `([^*` + special + `]|\*[^` + special + `])[^` + special + `]*(\.` + atom + `)*|\*(\.` + atom + `)+` // local, except *
		letter  = `[^\x00-\x2f:-@\[-\x60{-\x7f]+`
		label   = letter + `(-+` + letter + `)*`
		domain  = label + `(\.` + label + `)+`
	)
	return map[string]pattern{
		"email": {regexp.MustCompile(`^` + local + `@` + domain + `$`), "an email address"},
		"suppressed": {
			regexp.MustCompile(`^(` + local + `@` + domain + `|\*@` + domain + `|(` + named + `)@\*)$`),
			"an address, *@domain or local@*",
		},
		"url": {
			regexp.MustCompile(`^[Hh][Tt][Tt][Pp][Ss]?:\x2f\x2f[0-9A-Za-z\[][^\x00-\x20%\x7f]*$`),
			"an absolute http or https URL",
		},
		"status": {regexp.MustCompile(`^([1-5]([0-9]{2}|[xX]{2})|0)$`), "a status such as 404, a class such as 4xx, or 0"},
		"path":   {regexp.MustCompile(`^\x2f`), "a slash first"},
		"line":   {regexp.MustCompile(`^[^\r\n\x00]*$`), "one line"},
		"token":  {regexp.MustCompile(`^[!-~]+$`), "visible ASCII characters, as a header field has them"},
		"id":     {regexp.MustCompile(`^([1-9][0-9]{0,14}|10{15})$`), "an id of 1 to 1000000000000000"},
		"text":   {regexp.MustCompile(`^\S(.*\S)?$`), "a text without white space around it"},
	}
})
