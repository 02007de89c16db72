package contract

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// oddTexts are texts of parameters, good and bad.
var oddTexts = []string{
	"1", "12", "0", "-1", "+1", "01", "1e2", "1.5", "100", "101", "999999999999999999", "9999999999999999999", " ", "true", "false",
	"TRUE", "t", "null", "email:a@example.org", "status:active", "email:asc", "id:up", "id:desc ", "é", "a,b", "a b", "%", "\x00",
}

func oneOf[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

func randomQuery(r *rand.Rand, o *Operation) string {
	var parts []string
	for _, p := range o.InQuery {
		for range r.IntN(20) / 9 { // once mostly, or not at all, or twice
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

// draft writes values as a schema describes them, and now and then others.
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

// merged returns one schema for all of some.
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
	default:
		d.WriteString(oneOf(d.Rand, []string{`"text"`, `"a@example.org"`, `"{{name}} \n \"x\" \u00e9"`, `"é日本"`, `"a\\"`, `"]},:"`}))
	}
}
