package schema

import (
	"math"
	"regexp"
	"strconv"
	"sync"

	"example.com/emailplatform/mockserver/internal/contract"
)

// Contract converts a schema for the validation of requests. Values of several types
// and values of type [json.RawMessage] are not validated.
func (s *Schema) Contract() *contract.Schema {
	kinds := map[string]contract.Kind{
		"object": contract.Object, "array": contract.Array, "string": contract.String,
		"integer": contract.Integer, "number": contract.Number, "boolean": contract.Boolean,
	}
	out := &contract.Schema{Nullable: s.Null, Enum: s.Enum}
	if len(s.Kinds) == 1 {
		out.Kind = kinds[s.Kinds[0]]
	}
	if s.Rules.Max == maxUint64 { // an int64 cannot contain every valid value
		out.Kind = contract.Number
	}
	limit := func(text, unlimited string, otherwise int64) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || text == unlimited {
			return otherwise
		}
		return n
	}
	least := int64(0)
	if out.Kind == contract.Integer {
		least = math.MinInt64
	}
	out.Min, out.Max = limit(s.Rules.Min.String(), "", least), limit(s.Rules.Max.String(), maxInt64, 0)
	if s.Rules.Above != "" {
		out.Min, out.Exclusive = limit(s.Rules.Above.String(), "", 0), true
	}
	if p := patterns()[s.Rules.Pattern]; p.match != nil {
		out.Pattern, out.Expected = p.match, p.wanted
	}
	if s.Items != nil {
		out.Items = s.Items.Contract()
	}
	out.Properties = []contract.Property{}
	for _, f := range s.Fields {
		out.Properties = append(out.Properties, contract.Property{Name: f.Name, Required: f.Required, Schema: f.Schema.Contract()})
	}
	return out
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
