// Package schema converts Go types with struct tags to schemas of package contract, and
// converts these schemas to JSON Schema. The control routes use both to validate bodies
// and to generate their OpenAPI document and manual.
package schema

import (
	"cmp"
	"encoding"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/contract"
)

// Types contains type information that reflection does not provide.
type Types struct {
	Name    func(reflect.Type) string // "" for a type without a name in the documents; nil if no type has a name
	Enums   map[reflect.Type][]string
	Own     map[reflect.Type]contract.Schema // schemas of types with their own encoding
	Extra   map[reflect.Type]map[string]any
	Request bool // the types are request bodies
}

// Of returns the schema of the JSON that encoding/json writes for a type.
func (o Types) Of(t reflect.Type) *contract.Schema {
	if values := o.Enums[t]; values != nil {
		return &contract.Schema{Kind: contract.String, Enum: values}
	}
	if own, ok := o.Own[t]; ok {
		return &own
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &contract.Schema{Kind: contract.String, Time: true}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return &contract.Schema{Kind: contract.String}
	case t.Implements(reflect.TypeFor[json.Marshaler]()):
		return &contract.Schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return o.Of(t.Elem())
	case reflect.Struct:
		s := &contract.Schema{Kind: contract.Object, Properties: o.fieldsOf(t), Extra: o.Extra[t], Closed: o.Request}
		if o.Name != nil {
			s.Name = o.Name(t)
		}
		return s
	case reflect.Slice:
		return &contract.Schema{Kind: contract.Array, Items: o.Of(t.Elem())}
	case reflect.String:
		return &contract.Schema{Kind: contract.String}
	case reflect.Bool:
		return &contract.Schema{Kind: contract.Boolean}
	case reflect.Float32, reflect.Float64:
		return &contract.Schema{Kind: contract.Number}
	case reflect.Map, reflect.Interface:
		return &contract.Schema{}
	case reflect.Uint64:
		return &contract.Schema{Kind: contract.Integer, Unsigned: true}
	}
	return &contract.Schema{Kind: contract.Integer, Min: math.MinInt64, Max: math.MaxInt64}
}

// fieldsOf returns the fields of a struct as properties. A field with omitempty or omitzero
// is optional. If a field is an array, its tag "item" contains the rules for the items. A
// field of type *struct{} is not a property. Its only purpose is to hide a field with the
// same name in an embedded struct.
func (o Types) fieldsOf(t reflect.Type) []contract.Property {
	out := []contract.Property{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "-" || f.Type == reflect.TypeFor[*struct{}]() {
			continue
		}
		s := o.Of(f.Type)
		if options == "string" {
			s = &contract.Schema{Kind: contract.String}
		}
		required := !strings.Contains(options, "omit")
		s.Nullable = required && f.Type.Kind() == reflect.Pointer
		limit(s, f.Tag)
		if s.Items != nil {
			limit(s.Items, reflect.StructTag(f.Tag.Get("item")))
		}
		out = append(out, contract.Property{Name: cmp.Or(name, f.Name), Required: required, Schema: s, Doc: f.Tag.Get("doc")})
	}
	return out
}

// limit applies the tags min, max, above, pattern and kind. The kind "id" is an id in the form
// of its field: an integer, or a string with a decimal integer.
func limit(s *contract.Schema, tag reflect.StructTag) {
	for name, to := range map[string]*int64{"min": &s.Min, "above": &s.Min, "max": &s.Max} {
		if text, ok := tag.Lookup(name); ok {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				panic("mockserver: struct tag: " + err.Error())
			}
			*to, s.Exclusive = n, s.Exclusive || name == "above"
		}
	}
	if name := tag.Get("pattern"); name != "" {
		SetPattern(s, name)
	}
	switch isID := tag.Get("kind") == "id"; {
	case isID && s.Kind == contract.Integer:
		s.Min, s.Max = 1, maxID
	case isID:
		SetPattern(s, "id")
	}
}

// Texts converts the values of an enumeration to strings.
func Texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = string(value)
	}
	return out
}

// OpenAPI converts a schema to the JSON Schema of OpenAPI 3.1. It adds named
// objects to the given map.
func OpenAPI(s *contract.Schema, named map[string]any) map[string]any {
	out := map[string]any{}
	set := func(name string, value any, given bool) {
		if given {
			out[name] = value
		}
	}
	var variants []map[string]any // some generators do not support a list of types
	for _, variant := range s.OneOf {
		variants = append(variants, OpenAPI(variant, named))
	}
	set("anyOf", variants, variants != nil)
	set("type", kinds[s.Kind], s.Kind != contract.Any)
	set("format", "date-time", s.Time)
	set("enum", s.Enum, s.Enum != nil)
	setLimits(s, set)
	if s.Pattern != nil {
		out["pattern"] = s.Pattern.String()
	}
	if s.Items != nil {
		out["items"] = OpenAPI(s.Items, named)
	}
	if s.Kind == contract.Object {
		out["properties"], out["required"] = propertiesOf(s, named)
		set("additionalProperties", false, s.Closed)
	}
	maps.Copy(out, s.Extra)
	if s.Name != "" {
		named[s.Name] = out
		out = map[string]any{"$ref": "#/components/schemas/" + s.Name}
	}
	if s.Nullable {
		return map[string]any{"anyOf": []map[string]any{out, {"type": "null"}}}
	}
	return out
}

func propertiesOf(s *contract.Schema, named map[string]any) (all map[string]any, required []string) {
	all, required = map[string]any{}, []string{}
	for _, f := range s.Properties {
		property := OpenAPI(f.Schema, named)
		if f.Doc != "" {
			property["description"] = f.Doc // OpenAPI 3.1 allows other keywords next to $ref
		}
		all[f.Name] = property
		if f.Required {
			required = append(required, f.Name)
		}
	}
	return all, required
}

var kinds = map[contract.Kind]string{
	contract.Object: "object", contract.Array: "array", contract.String: "string",
	contract.Integer: "integer", contract.Number: "number", contract.Boolean: "boolean",
}

func setLimits(s *contract.Schema, set func(name string, value any, given bool)) {
	least, most := "minimum", "maximum"
	switch {
	case s.Kind == contract.String:
		least, most = "minLength", "maxLength"
	case s.Kind == contract.Array:
		least, most = "minItems", "maxItems"
	case s.Unsigned:
		set(most, uint64(math.MaxUint64), true)
	}
	if s.Exclusive {
		least = "exclusiveMinimum"
	}
	number := s.Kind == contract.Integer && s.Min != math.MinInt64
	set(least, s.Min, s.Min > 0 || number || s.Exclusive)
	set(most, s.Max, s.Max > 0)
}
